"""The command `maxmargin`: one file a command. What a command needs is imported when it runs."""

from .command import main

__all__ = ["main"]

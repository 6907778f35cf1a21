"""`python -m maxmargin` is the command `maxmargin`."""

from .cli import main

if __name__ == "__main__":
    raise SystemExit(main())

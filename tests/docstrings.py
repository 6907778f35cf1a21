"""What docstrings in the numpydoc style say."""

import inspect


def named_in(text, section):
    """The names that a section of a docstring describes, one an entry."""
    lines = inspect.cleandoc(text).split(f"{section}\n{'-' * len(section)}\n")[1].split("\n\n")[0].splitlines()
    heads = [line.partition(" : ")[0] for line in lines if line and not line.startswith(" ")]
    return [head.strip().lstrip("*") for head in heads]

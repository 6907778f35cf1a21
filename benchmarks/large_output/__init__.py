"""Thousands of labels: see :mod:`.__main__`."""

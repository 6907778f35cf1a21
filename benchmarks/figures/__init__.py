"""All solvers under one objective and clock; see main.py."""

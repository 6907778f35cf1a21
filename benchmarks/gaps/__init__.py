"""The experiments on the block family, repeated; see main.py."""

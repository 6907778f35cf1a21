"""Parts that solvers are made of: which block comes next, how it changes, what is remembered, what is averaged."""

"""Threads, data larger than memory, and clusters."""

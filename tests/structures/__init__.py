"""Tests of the structures, and tiny problems with their enumeration for all tests."""

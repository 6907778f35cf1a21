"""Tests of the faces of networks."""

"""Chains on CUDA devices: kernels in CUDA C++, compiled at first use. `dispatch.py` alone asks for them.

Where they begin is `trust.py`: it compiles, compares them with plain operations, and says whether they may be used.
"""

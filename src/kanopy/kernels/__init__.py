"""The compiled inner loops, each with a plain NumPy twin that a test compares it with.

This is the only package that imports the compiler. Set `KANOPY_KERNELS=plain` to run everything on the twins;
they are also what runs when Numba is not installed.
"""

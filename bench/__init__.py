"""gpustats against SciPy, JAX, PyTorch and CuPy, on the same data in the same run."""

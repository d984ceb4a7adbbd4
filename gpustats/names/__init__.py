"""Names of the densities in SciPy, PyMC, Stan and R, and hints for those who look for one."""

"""Names of the densities in SciPy, PyMC and R, and hints for those who look for one."""

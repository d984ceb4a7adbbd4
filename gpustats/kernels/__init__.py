"""Kernels: a device function and a shape become the source of a kernel."""

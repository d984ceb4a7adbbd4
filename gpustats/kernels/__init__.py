"""Kernels: source code from a device function and a shape."""

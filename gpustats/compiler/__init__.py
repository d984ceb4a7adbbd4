"""Compiler of PyTensor graphs: Ops of our kernels, and the sums of unmodified models as sums over rows."""

"""PyTensor's side: Ops, rewrites of graphs, Numba."""

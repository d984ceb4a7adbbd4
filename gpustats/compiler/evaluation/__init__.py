"""Evaluators of the Ops of PyTensor, which do without PyTensor."""

"""Evaluation: from the arguments of one call to the launch of a kernel and its result."""

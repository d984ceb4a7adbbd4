"""Marginal likelihoods of models of rows, in which effects are integrated out by Laplace's method."""

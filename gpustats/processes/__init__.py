"""Gaussian processes: covariance functions, and exact, Vecchia's and local approximations behind them."""

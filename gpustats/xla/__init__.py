"""Calls of XLA, the compiler of JAX: kernels of ours in programs of its own."""

from .functions import as_jax as as_jax

"""Lattices of points over which smooth functions are averaged."""

from __future__ import annotations

import functools
import math

import numpy as np

DECAY = 0.9  # by what factor each further dimension is less important


def prime_factors(n: int) -> list[int]:
    """Prime factors of a whole number n > 1, each once, in order."""
    for p in range(2, math.isqrt(n) + 1):
        if n % p == 0:
            while n % p == 0:
                n //= p
            return [p, *(prime_factors(n) if n > 1 else [])]
    return [n]


def prime_below(n: int) -> int:
    """The largest prime number that is not larger than n > 1."""
    return next(p for p in range(n, 1, -1) if prime_factors(p) == [p])


@functools.lru_cache(64)
def rank_1_lattice(n: int, dim: int) -> np.ndarray:
    """Whole numbers z, (dim,), for which the points k z / n mod 1, k = 0, ..., n - 1, fill the unit cube evenly. n is prime.

    The numbers are searched for one after another. Each makes the worst error least of the functions that have square
    integrable second mixed derivatives, and for which opposite faces of the cube meet.

    Source: Nuyens & Cools (2006), Fast algorithms for component-by-component construction of rank-1 lattice rules in
    shift-invariant reproducing kernel Hilbert spaces.
    """
    order, factors = n - 1, prime_factors(n - 1) if n > 2 else []
    generator = next(g for g in range(1, n) if all(pow(g, order // f, n) != 1 for f in factors))
    powers = np.ones(1, int)
    while len(powers) < order:
        powers = np.concatenate([powers, powers * pow(generator, len(powers), n) % n])
    powers = powers[:order]
    x = powers / n
    kernel = x * x - x + 1 / 6
    # Points are in the order of the inverses of the powers, in which the errors of all z are one convolution.
    spectrum, product, found = np.fft.rfft(kernel), np.ones(order), [0]
    for k in range(1, dim):
        product *= 1 + DECAY ** (k - 1) * kernel[(found[-1] - np.arange(order)) % order]
        errors = np.fft.irfft(spectrum * np.fft.rfft(product), order)
        found.append(int(np.argmin(errors)))
    return powers[found].astype(float)

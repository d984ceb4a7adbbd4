"""Clusters of blocks that search for local designs, with all numbers of the candidates in registers and shared memory."""

from __future__ import annotations

from dataclasses import dataclass

from ...kernels.template import Template
from ...runtime.base import Device
from .layout import RESERVED_BYTES, wide_rows

CLUSTERED = Template.beside(__file__, "clustered")


@dataclass(frozen=True)
class ClusterLayout:
    """Constants of the search for designs by clusters of blocks: a cluster has a location, its threads a candidate each."""

    # threads a block, and blocks of a cluster
    threads: int
    parts: int
    # numbers of a candidate's row of the Cholesky factor that are kept in registers, in float64, where the others are
    # float32; 0: all are float64 and lie in shared memory
    wide: int
    # numbers that a thread reads at once, and how many times so many there are of a candidate in shared memory
    chunk: int
    chunks: int
    # numbers that a block tells of a candidate before the candidate's row of the factor, and in all
    before: int
    told: int
    shared: int  # numbers of shared memory


#: Registers of a multiprocessor, and the most of a thread, of all devices with clusters.
_REGISTERS, _MOST_REGISTERS = 1 << 16, 255


def cluster_layout(
    device: Device, dim: int, n_candidates: int, end: int, narrow: bool = False, parts: int = 0
) -> ClusterLayout | None:
    """Layout of the search for designs of `end` points by clusters; None where no cluster has room for all numbers.

    Measured on an NVIDIA H200: blocks as few as can be are the fastest, or nearly. Of other numbers of them than these, fewer
    clusters find room at a time.

    Parameters
    ----------
    narrow : bool
        Whether most of the factor is kept in float32.
    parts : int
        Another choice of the blocks of a cluster than the usual one.
    """
    if device.cluster == 1:
        return None
    wide, chunk = (wide_rows(dim), 4) if narrow else (0, 2)
    chunks = max(-(-(end - 1 - wide) // chunk), 1)
    before = 4 + dim + dim % 2
    told = before + wide + chunks * chunk
    registers = 44 + dim * (3 if narrow else 4) // 2 + 2 * wide  # of a thread, about: floats are there twice, some of them
    for blocks in (parts,) if parts else (1, 2, 4, 8):
        threads = -(-n_candidates // (32 * blocks)) * 32
        shared = 2 * blocks * told + 2 * threads * chunks  # chunks of 16 bytes
        fits = registers <= _MOST_REGISTERS and threads * registers <= _REGISTERS
        if fits and threads <= device.max_threads and 8 * shared + RESERVED_BYTES <= device.shared_memory:
            return ClusterLayout(threads, blocks, wide, chunk, chunks, before, told, shared)
    return None

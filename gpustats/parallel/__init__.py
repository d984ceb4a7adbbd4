"""Rows in pieces: on several devices, in a stream that no device could hold, on the workers of a cluster.

`gpustats.Likelihood`, `gpustats.GLM` and `gpustats.Rows` divide their observations where they are asked to by

``devices``
    ``"all"`` (every GPU of CUDA, else of OpenCL, else the CPU), or a list of devices. Each keeps a share of the rows, by its
    speed.
``chunk``, ``memory``
    The number of rows of a piece, and the most bytes of data on a device at a time. Data that take more are read anew at each
    call, a piece while a kernel works on the one before it: NumPy arrays, memory-mapped files, Zarr and Dask arrays, HDF5 data
    sets, whatever has a shape, a dtype and slices. NumPy arrays, memory-mapped files and Zarr arrays in local files are read by
    several threads at once, all others by one. By default `memory` is what the device has free, less a margin.
``client``
    A `distributed.Client`. Each worker keeps a share of the rows on its device (or on ``devices=``, with ``memory=`` and
    ``chunk=`` of its own). Files are read by the workers, which must see them under the same path. A share whose worker dies
    is made again by another worker.

Rows that are sequences stay whole: devices get shares of the steps, and pieces are bounded by their bytes.

Data that are read anew must not change while the model is in use. A memory-mapped file, or one of HDF5 that is open for
reading only, is asked after each reading: where its size or the time of its last change is another one, or another file has
its path, the call raises RuntimeError. That holds for what is written to the file, also by the user himself; what is written
through a writable map (modes ``r+`` and ``w+``) before the model is made belongs to the data, and what is written through it
later raises the error only where the system tells of it at once. Changes of arrays in memory and of Zarr arrays go unnoticed.
Data that turn out not to have the shape and the dtype that they declare, such as Dask chunks that are shorter, raise
ValueError.

The model's methods take and return NumPy arrays then, and whatever is divided the results are the same to rounding: sums are
added up in the order of the pieces, in float64, so that the same pieces give the same bits at each call.

Such models can be pickled and copied as others can. The data travel with them, but for Zarr arrays and such files, which are
opened elsewhere under the same path, and must not have changed by then; HDF5 data sets that are open for writing cannot be
pickled.

`DeviceMap` and `ClusterMap` call any function of a range of items on all devices, or workers.
"""

from .maps import ClusterMap, DeviceMap

__all__ = ["ClusterMap", "DeviceMap"]

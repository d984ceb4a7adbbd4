# gpustats and PyMC on NVIDIA GPUs. The host needs NVIDIA's driver, of CUDA 13 or later, and its container toolkit.
#
#   docker build --tag gpustats .
#   docker run --rm --gpus all gpustats                            # gpustats doctor: what is there, and whether it works
#   docker run --rm --gpus all -v "$PWD:/work" gpustats python model.py
#   docker run --rm --gpus '"device=0"' …                          # one GPU of several
#
# Compiled kernels are kept in /root/.cache/gpustats: with `-v gpustats-kernels:/root/.cache/gpustats` also for the next container.
# For a driver of CUDA 12: --build-arg CUDA=12.8.1 --build-arg EXTRAS=cuda12,pymc

ARG CUDA=13.0.1

# PyCUDA is compiled, with the toolkit's headers and its stub of the driver's library.
FROM nvidia/cuda:${CUDA}-devel-ubuntu24.04 AS build
ARG EXTRAS=cuda13,pymc
RUN apt-get update && apt-get install --yes --no-install-recommends g++ python3-dev python3-venv
RUN python3 -m venv /opt/gpustats
ENV PATH=/opt/gpustats/bin:$PATH
COPY . /source
RUN pip install --no-cache-dir "/source[${EXTRAS}]"
# What PyCUDA is linked with, wherever the wheels of this version of CUDA have it.
RUN ln -s "$(dirname /opt/gpustats/lib/python3*/site-packages/nvidia/*/lib/libcurand.so.10)" /opt/gpustats/lib/curand

# NVRTC, cuBLAS, cuSOLVER and cuRAND come as wheels; the driver's libraries come from the host.
FROM nvidia/cuda:${CUDA}-base-ubuntu24.04
RUN apt-get update && apt-get install --yes --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/gpustats /opt/gpustats
ENV PATH=/opt/gpustats/bin:$PATH LD_LIBRARY_PATH=/opt/gpustats/lib/curand
WORKDIR /work
CMD ["gpustats", "doctor", "--device", "cuda"]

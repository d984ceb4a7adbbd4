# gpustats and PyMC on NVIDIA GPUs. The host needs NVIDIA's driver, of CUDA 13 or later, and its container toolkit.
#
#   docker build --tag gpustats .
#   docker run --rm --gpus all gpustats                            # gpustats doctor: what is there, and whether it works
#   docker run --rm --gpus all -v "$PWD:/work" gpustats python model.py
#   docker run --rm --gpus '"device=0"' …                          # one GPU of several
#
# Compiled kernels are kept in /root/.cache/gpustats: with `-v gpustats-kernels:/root/.cache/gpustats` also for the next container.
# For a driver of CUDA 12: --build-arg EXTRAS=cuda12,pymc

# All of CUDA but the driver comes as wheels; the driver's libraries come from the host.
FROM python:3.12-slim
ARG EXTRAS=cuda13,pymc
COPY . /source
RUN pip install --no-cache-dir "/source[${EXTRAS}]" && rm -r /source
# The libraries that the host hands to the container: those of computing, and nvidia-smi.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
WORKDIR /work
CMD ["gpustats", "doctor", "--device", "cuda"]

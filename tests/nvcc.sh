#!/usr/bin/env bash
# Compiles every generated CUDA kernel, where there is an nvcc.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v nvcc >/dev/null || { echo "nvcc: not installed, skipped"; exit 0; }
find generated -name '*.cu' -print0 | xargs -0 -P "$(nproc)" -I{} nvcc -ptx -diag-suppress 177 -o /dev/null {}
echo "nvcc: $(find generated -name '*.cu' | wc -l) files compile"

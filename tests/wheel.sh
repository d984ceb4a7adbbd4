#!/usr/bin/env bash
# Builds the source distribution and from it the wheel, installs that into a clean environment, uses it in another folder.
set -euo pipefail
python=$(realpath -s "${1:-python3}")
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1
unset PYTHONPATH
"$python" -m build --outdir "$work/dist" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$python" -m venv --without-pip "$work/venv"
"$python" -m pip --python "$work/venv/bin/python" install --no-compile "$(echo "$work"/dist/*.whl)[cpu]"
cp tests/wheel_check.py "$work"
cd "$work"
venv/bin/gpustats devices
venv/bin/gpustats list >/dev/null
venv/bin/gpustats source normal --shape table --dialect cuda >/dev/null
venv/bin/python wheel_check.py "$root"

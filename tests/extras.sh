#!/usr/bin/env bash
# Installs the wheel with each extra in an empty environment of each Python, and uses it there: a line for each, with its seconds.
#   tests/extras.sh                               # python3, and the extras cpu, cpu,pymc, cpu,dask and cpu,formula
#   PYTHONS="python3.11 python3.13" EXTRAS="cpu cuda13" tests/extras.sh
# A wheel or a source distribution that is there already is taken from DIST, a folder.
set -uo pipefail
read -ra pythons <<<"${PYTHONS:-python3}"
read -ra extras <<<"${EXTRAS:-cpu cpu,pymc cpu,dask cpu,formula}"
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1
unset PYTHONPATH

dist=${DIST:-$work/dist}
if [ -z "${DIST:-}" ]; then
  "${pythons[0]}" -m venv "$work/build" && "$work/build/bin/pip" install build
  "$work/build/bin/python" -m build --outdir "$dist" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
fi
archive=$(find "$(realpath "$dist")" -name 'gpustats-*.whl' -o -name 'gpustats-*.tar.gz' | sort -r | head -1)  # a wheel if there is one

check() {  # PYTHON EXTRA: in a folder of its own, so that nothing is imported from here
  mkdir "$work/cell" && cp "$root"/tests/wheel_check.py "$root"/tests/extras_check.py "$work/cell" && cd "$work/cell" || return
  "$1" -m venv venv || return
  venv/bin/pip install --no-compile "$archive[$2]" || return  # most modules are never imported
  if [[ $2 == cuda* ]] && ! ldconfig -p | grep -q libcuda.so.1; then
    venv/bin/python extras_check.py "$2"  # without a driver nothing can be computed
  else
    venv/bin/gpustats doctor && venv/bin/python wheel_check.py "$root" && venv/bin/python extras_check.py "$2"
  fi
}

failed=0
printf '%-14s %-12s %8s  %s\n' Python extra seconds result
for python in "${pythons[@]}"; do
  for extra in "${extras[@]}"; do
    start=$SECONDS
    if (check "$python" "$extra") >"$work/log" 2>&1; then result=ok; else result="failed: $(tail -n 1 "$work/log")"; failed=1; fi
    printf '%-14s %-12s %8d  %s\n' "$("$python" -c 'import platform; print(platform.python_version())')" "$extra" \
      $((SECONDS - start)) "$result"
    [ "$result" = ok ] || sed 's/^/    /' "$work/log" | tail -n 40
    rm -rf "$work/cell"
  done
done
exit $failed

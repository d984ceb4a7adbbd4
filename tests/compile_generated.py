"""Compiles the generated CUDA kernels of a folder, where there is an nvcc.

nvcc takes longer to start than to compile most kernels, so it gets many files in one, each in a namespace of its own; and it
need not make them fast, which takes it 25 seconds for a long one.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOGETHER = 25  # files
UNUSED = "177,550"  # what nvcc says of variables that a kernel does not use


def in_namespace(file):
    """The text of a kernel's file, of which no name is left to the next one."""
    text = file.read_text().replace('extern "C" ', "")
    macros = dict.fromkeys(re.findall(r"^#define (\w+)", text, re.MULTILINE))
    undefined = "".join(f"#undef {macro}\n" for macro in macros)
    return f'namespace {file.stem} {{\n#line 1 "{file}"\n{text}\n}}\n{undefined}'


def compiles(files, options):
    """Whether nvcc compiles these files; it says itself what is wrong, and where."""
    with tempfile.TemporaryDirectory() as folder:
        together = Path(folder) / "kernels.cu"
        together.write_text("".join(map(in_namespace, files)))
        return not subprocess.run(["nvcc", "-ptx", *options, "-o", os.devnull, together]).returncode


def main(folder):
    files = sorted(Path(folder).glob("*.cu"))
    if not shutil.which("nvcc"):
        print("nvcc: not installed, skipped")
        return
    options = ["-diag-suppress", UNUSED]
    if "--Ofast-compile" in subprocess.run(["nvcc", "--help"], capture_output=True, text=True).stdout:  # since CUDA 12.8
        options += ["--Ofast-compile", "max"]
    parts = [files[i : i + TOGETHER] for i in range(0, len(files), TOGETHER)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        if not all(list(pool.map(lambda part: compiles(part, options), parts))):
            sys.exit("nvcc: not all generated kernels compile")
    print(f"nvcc: {len(files)} files compile")


if __name__ == "__main__":
    main(sys.argv[1])

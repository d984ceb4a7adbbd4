"""Compiled kernels on disk, shared by all processes of a user.

The cache only ever saves time: whatever goes wrong with it (no disk, no permission, a damaged file) means a
compilation, never an error.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import sys
import tempfile
from pathlib import Path

LIMIT = 256 << 20  # bytes kept; beyond it the entries that were used longest ago go
_since_trimmed = math.inf  # bytes that this process has stored since it looked at the whole folder


def folder() -> Path:
    """Where compiled kernels are kept: `GPUSTATS_CACHE_DIR`, else the platform's folder for caches."""
    if chosen := os.environ.get("GPUSTATS_CACHE_DIR"):
        return Path(chosen)
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "gpustats" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "gpustats"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "gpustats"


def key(*parts: str) -> str:
    """The name of what depends on exactly these texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def load(key: str) -> bytes | None:
    """The entry, or None if there is none or it is damaged."""
    try:
        path = folder() / key
        content = path.read_bytes()
        digest, data = content[:32], content[32:]
        # Drivers may crash on a truncated binary rather than refuse it.
        if hashlib.sha256(data).digest() != digest:
            return None
        os.utime(path)  # the oldest go first, so a hit makes an entry young
        return data
    except (OSError, RuntimeError):  # RuntimeError: no home directory
        return None


def store(key: str, data: bytes) -> None:
    """Write an entry atomically: another process sees all of it or nothing."""
    with contextlib.suppress(OSError, RuntimeError):
        where = folder()
        where.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=where, prefix="writing-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(data).digest() + data)
            os.replace(name, where / key)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)
        _trim(where, len(data))


def _trim(where: Path, stored: int) -> None:
    """Now and then, because it takes the longer the more entries there are."""
    global _since_trimmed
    _since_trimmed += stored
    if _since_trimmed < LIMIT / 64:
        return
    _since_trimmed = 0
    files = []
    for entry in os.scandir(where):
        with contextlib.suppress(OSError):  # another process may be trimming too
            files.append((entry.stat().st_mtime, entry.stat().st_size, entry.path))
    excess = sum(size for _, size, _ in files) - LIMIT
    for _, size, path in sorted(files):
        if excess <= 0:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
        excess -= size

"""Compiled kernels on disk, shared by all processes of a user.

The cache only ever saves time: whatever goes wrong with it (no disk, no permission, a damaged file) means a
compilation, never an error. Its entries hold code that runs in this process. So they are read only from a folder and
from files that belong to the user and that nobody else can write; links are not followed.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import secrets
import stat
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MOST_BYTES = 256 << 20  # bytes kept; beyond it the entries that were used longest ago go
ABANDONED_AFTER = 3600  # seconds after which a file that is still being written belongs to a process that has died

_ENTRY = re.compile(r"[0-9a-f]{64}")
_WRITING = "writing-"
_CHECKED = hasattr(os, "geteuid")  # elsewhere (Windows) the system protects the user's profile, in which the folder lies
_READ = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_BINARY"))

_since_trimmed = math.inf  # bytes that this process has stored since it looked at the whole folder
_warned = False


def folder() -> Path:
    """Folder of compiled kernels: `GPUSTATS_CACHE_DIR`, else the platform's folder for caches."""
    if chosen := os.environ.get("GPUSTATS_CACHE_DIR"):
        return Path(chosen)
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "gpustats" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "gpustats"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "gpustats"


def key(*parts: str) -> str:
    """Name of an entry that depends on exactly these texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def load(key: str) -> bytes | None:
    """Entry, or None if there is none, or a damaged one, or one that others may have written."""
    try:
        with _opened() as place, open(os.open(place.name(key), _READ, dir_fd=place.descriptor), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES or _doubt(status):
                return None
            content = file.read()
            digest, data = content[:32], content[32:]
            # Drivers may crash on a truncated binary rather than refuse it.
            if hashlib.sha256(data).digest() != digest:
                return None
            with contextlib.suppress(OSError):  # the oldest go first, so a hit makes an entry young
                os.utime(file.fileno() if os.utime in os.supports_fd else place.name(key))
            return data
    except (OSError, RuntimeError):  # RuntimeError: no home directory
        return None


def store(key: str, data: bytes) -> None:
    """Write an entry atomically: another process sees all of it or nothing."""
    with contextlib.suppress(OSError, RuntimeError):
        folder().parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder().mkdir(mode=0o700)
        with _opened() as place:
            name, at = place.name(_WRITING + secrets.token_hex(8)), place.descriptor
            try:
                with open(os.open(name, _WRITE, 0o600, dir_fd=at), "wb") as file:
                    file.write(hashlib.sha256(data).digest())
                    file.write(data)
                os.replace(name, place.name(key), src_dir_fd=at, dst_dir_fd=at)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=at)
                raise
            _trim(place, len(data))


class _Place(NamedTuple):
    """Folder, opened: nothing that is put in its place from now on is taken for it."""

    path: Path
    descriptor: int | None  # None where the system opens no folders

    def name(self, name: str) -> str:
        """Name of a file of the folder as `os` takes it, with the descriptor as its ``dir_fd``."""
        return name if self.descriptor is not None else str(self.path / name)


@contextlib.contextmanager
def _opened() -> Iterator[_Place]:
    """Folder, once it has been seen to be the user's alone. OSError if there is none that may be used."""
    path = folder()
    if not _CHECKED:
        yield _Place(path, None)
        return
    if path.is_symlink():
        _refuse(path, "it is a link: give the folder that it leads to")
    descriptor = os.open(path, _READ | os.O_DIRECTORY)
    try:
        status = os.fstat(descriptor)
        if doubt := _doubt(status):
            _refuse(path, f"{doubt}: remove it, and it is made anew, or give another folder")
        if stat.S_IMODE(status.st_mode) & 0o077 and all(map(_is_ours, os.listdir(descriptor))):
            # Earlier versions let others read. A folder that holds other things as well is left as the user wants it.
            with contextlib.suppress(OSError):
                os.fchmod(descriptor, 0o700)
        yield _Place(path, descriptor)
    finally:
        os.close(descriptor)


def _doubt(status: os.stat_result) -> str:
    """Reason to doubt that a file or folder is the user's alone; empty if there is none."""
    if not _CHECKED:
        return ""
    if status.st_uid != os.geteuid():
        return f"it belongs to another user (uid {status.st_uid})"
    if status.st_mode & 0o022:
        return f"others can write to it (mode {stat.S_IMODE(status.st_mode):04o})"
    return ""


def _refuse(path: Path, why: str) -> None:
    """Warn once that the folder is not used, and raise an error."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"compiled kernels are not kept, nor read from {path}, because {why} in the environment variable "
            "GPUSTATS_CACHE_DIR. Without it every process compiles its kernels again",
            RuntimeWarning,
            stacklevel=2,
        )
    raise PermissionError(f"{path}: {why}")


def _is_ours(name: str) -> bool:
    """True if a file of this name is the cache's own: the user may keep others beside it."""
    return bool(_ENTRY.fullmatch(name)) or name.startswith(_WRITING)


def _trim(place: _Place, stored: int) -> None:
    """Remove the least recently used entries, now and then, because that takes the longer the more entries there are."""
    global _since_trimmed
    _since_trimmed += stored
    if _since_trimmed < MOST_BYTES / 64:
        return
    _since_trimmed = 0
    files, excess = [], -MOST_BYTES
    for entry in os.scandir(place.path if place.descriptor is None else place.descriptor):
        with contextlib.suppress(OSError):  # another process may be trimming too
            if _is_ours(entry.name) and entry.is_file(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                abandoned = entry.name.startswith(_WRITING) and status.st_mtime < time.time() - ABANDONED_AFTER
                files.append((0.0 if abandoned else status.st_mtime, status.st_size, entry.name))
                excess += status.st_size
    for last_use, size, name in sorted(files):
        if last_use and excess <= 0:
            break
        with contextlib.suppress(OSError):
            os.unlink(place.name(name), dir_fd=place.descriptor)
        excess -= size

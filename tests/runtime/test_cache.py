"""Whom the cache on disk trusts: a folder and files that nobody but the user can write."""

import math
import os
import stat
import subprocess
import sys
import warnings

import pytest

from gpustats.runtime import cache

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are those of POSIX")
KEY = cache.key("an entry")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUSTATS_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(cache, "_warned", False)
    monkeypatch.setattr(cache, "_since_trimmed", math.inf)
    return tmp_path / "kernels"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_an_entry_comes_back(folder):
    assert cache.load(KEY) is None
    cache.store(KEY, b"first")
    cache.store(KEY, b"second")
    assert cache.load(KEY) == b"second"
    assert [path.name for path in folder.iterdir()] == [KEY]


@posix
@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022, 0o077])
def test_folder_and_files_are_the_users_alone(folder, mask):
    before = os.umask(mask)
    try:
        cache.store(KEY, b"data")
    finally:
        os.umask(before)
    assert mode(folder) == 0o700 and mode(folder / KEY) == 0o600
    assert cache.load(KEY) == b"data"


@posix
@pytest.mark.parametrize("loose", [0o770, 0o777, 0o1777, 0o720, 0o702])
def test_a_folder_that_others_can_write_is_not_used(folder, loose):
    cache.store(KEY, b"data")
    folder.chmod(loose)
    with pytest.warns(RuntimeWarning, match=f"others can write to it .mode {loose:04o}.*GPUSTATS_CACHE_DIR") as caught:
        assert cache.load(KEY) is None
        cache.store(cache.key("another"), b"more")
        assert cache.load(KEY) is None
    assert len(caught) == 1  # once in a process
    assert mode(folder) == loose and len(list(folder.iterdir())) == 1


@posix
def test_a_folder_that_others_could_read_is_closed_to_them(folder):
    cache.store(KEY, b"data")
    for loose in (0o755, 0o711, 0o750):
        folder.chmod(loose)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert cache.load(KEY) == b"data"
        assert mode(folder) == 0o700


@posix
def test_a_folder_with_other_things_in_it_keeps_its_mode(folder, monkeypatch):
    monkeypatch.setattr(cache, "MOST_BYTES", 1000)
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "thesis.tex").write_text("x" * 5000)
    for n in range(10):
        cache.store(cache.key(str(n)), b"x" * 300)
    assert mode(folder) == 0o755 and cache.load(cache.key("9")) == b"x" * 300
    assert (folder / "thesis.tex").exists()  # however full the folder is


@posix
def test_a_folder_of_another_user_is_not_used(folder, monkeypatch):
    cache.store(KEY, b"data")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.warns(RuntimeWarning, match=f"belongs to another user .uid {os.getuid()}.*GPUSTATS_CACHE_DIR"):
        assert cache.load(KEY) is None


@posix
def test_links_are_not_followed(folder, tmp_path):
    cache.store(KEY, b"data")
    elsewhere = tmp_path / "elsewhere"
    (folder / KEY).rename(elsewhere)
    (folder / KEY).symlink_to(elsewhere)
    assert cache.load(KEY) is None
    cache.store(KEY, b"new")
    assert cache.load(KEY) == b"new" and not (folder / KEY).is_symlink()
    content = elsewhere.read_bytes()
    assert content.endswith(b"data")  # nothing was written through the link
    folder.rename(tmp_path / "real")
    folder.symlink_to(tmp_path / "real")
    with pytest.warns(RuntimeWarning, match="it is a link: give the folder"):
        assert cache.load(KEY) is None


@posix
def test_what_is_no_file_is_not_opened_for_long(folder):
    """Opening a pipe waits for a writer, unless it is told not to."""
    cache.store(KEY, b"data")
    for make in (os.mkfifo, os.mkdir):
        name = cache.key(make.__name__)
        make(folder / name)
        load = f"from gpustats.runtime import cache; print(cache.load({name!r})); cache.store({name!r}, b'1')"
        done = subprocess.run([sys.executable, "-c", load], capture_output=True, text=True, timeout=30)
        assert done.stdout == "None\n", done.stderr


@posix
@pytest.mark.parametrize("loose", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_compiled_again(folder, loose):
    cache.store(KEY, b"data")
    (folder / KEY).chmod(loose)
    assert cache.load(KEY) is None
    cache.store(KEY, b"data")
    assert cache.load(KEY) == b"data" and mode(folder / KEY) == 0o600


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_compiled_again(folder):
    cache.store(KEY, b"data")
    os.chown(folder / KEY, 12345, 12345)
    assert cache.load(KEY) is None
    os.chown(folder, 12345, 12345)
    with pytest.warns(RuntimeWarning, match="uid 12345"):
        cache.store(KEY, b"data")


def test_the_cache_drops_what_is_oldest(folder, monkeypatch):
    monkeypatch.setattr(cache, "MOST_BYTES", 1000)
    entries = [cache.key(str(n)) for n in range(10)]
    for n in range(10):
        cache.store(entries[n], b"x" * 300)
        os.utime(folder / entries[n], (n, n))
    cache.store(KEY, b"y" * 300)
    assert cache.load(KEY) == b"y" * 300
    assert cache.load(entries[9]) and cache.load(entries[0]) is None
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 1000


def test_what_dead_processes_left_goes_first(folder, monkeypatch):
    cache.store(KEY, b"data")
    old, new = folder / "writing-1", folder / "writing-2"
    for path in (old, new):
        path.write_bytes(b"half an en")
    os.utime(old, (1, 1))
    monkeypatch.setattr(cache, "_since_trimmed", cache.MOST_BYTES)
    cache.store(cache.key("another"), b"data")
    assert not old.exists() and new.exists() and cache.load(KEY) == b"data"


def test_where_the_system_has_no_owners(folder, monkeypatch):
    """As on Windows: by the names of files alone."""
    monkeypatch.setattr(cache, "_CHECKED", False)
    cache.store(KEY, b"data")
    assert cache.load(KEY) == b"data" and cache.load(cache.key("none")) is None

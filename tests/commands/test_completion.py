"""Completion of the command line by the shells themselves, where they are installed."""

import contextlib
import functools
import io
import os
import shutil
import subprocess
import time

import pytest

from gpustats.commands.cli import main
from gpustats.commands.completion import SHELLS

CASES = [  # what is typed, what completes it
    ("so", "source"), ("--ver", "--version"), ("source pare", "pareto"), ("source gamma --dia", "--dialect"),
    ("source gamma --dialect o", "opencl"), ("completion z", "zsh"), ("bench cho", "cholesky"),
    ("list asymm", "asymmetric_laplace"), ("doctor --js", "--json"), ("generate --al", "--all"),
]  # fmt: skip
FILES = [("source snapp", "snapped.cu"), ("demo --out snapp", "snapped.cu")]
NO_FILES = ["list snapp", "doctor snapp", "completion snapp"]
LINES = [line for line, _ in CASES + FILES] + NO_FILES


def of_bash(script, lines, folder):
    asked = ""
    for line in lines:
        typed = ["gpustats", *line.split()]
        asked += f"COMP_WORDS=({' '.join(typed)}) COMP_CWORD={len(typed) - 1}; _gpustats; echo \"${{COMPREPLY[*]}}\"\n"
    return [line.split() for line in answer(["bash", "-c", script + asked], folder)]


def of_fish(script, lines, folder):
    asked = "".join(f"echo (complete -C 'gpustats {line}' | string replace -r '\\t.*' '')\n" for line in lines)
    return [line.split() for line in answer(["fish", "--no-config", "-c", script + asked], folder)]


def answer(command, folder):
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env={**os.environ, "HOME": str(folder)})
    assert done.stderr == ""
    return done.stdout.splitlines()


def of_zsh(script, lines, folder):
    """Words at the end of lines that the line editor has completed, in a terminal; its own completion is not set up before."""
    import pty  # not on Windows

    (folder / "script").write_text(script, encoding="utf-8")
    (folder / "completed").touch()
    widget = "complete_it() { zle complete-word; print -r -- $BUFFER >>completed }; zle -N complete_it; bindkey ^X complete_it"
    ours, its = pty.openpty()
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), its)
    environment = {**os.environ, "TERM": "dumb", "HOME": str(folder)}
    zsh = subprocess.Popen(["zsh", "-f", "-i"], **streams, cwd=folder, env=environment, start_new_session=True)
    try:
        os.write(ours, f"source ./script; bindkey -e; {widget}; echo ready >completed\n".encode())
        found = wait_for(folder / "completed", 1, ours)
        for n, line in enumerate(lines, start=2):
            os.write(ours, f"\x15gpustats {line}\x18".encode())  # ^U, ^X
            found = wait_for(folder / "completed", n, ours)
    finally:
        zsh.kill()
        zsh.wait()
        os.close(ours)
        os.close(its)
    assert found[0] == "ready"
    return [[line.split()[-1].rstrip("=")] for line in found[1:]]


def wait_for(file, n, terminal, seconds=30):
    """The lines of a file, when there are n; what a terminal shows meanwhile is read away."""
    os.set_blocking(terminal, False)
    shown, end = b"", time.monotonic() + seconds
    while len(lines := file.read_text(encoding="utf-8").splitlines()) < n:
        try:
            shown += os.read(terminal, 1 << 16)
        except BlockingIOError:
            time.sleep(0.01)
        assert time.monotonic() < end, shown.decode(errors="replace")
    return lines


@functools.cache
def completed(shell, folder):
    """Words by which a shell completes each line, in a folder with a file."""
    (folder / "snapped.cu").touch()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(["completion", shell]) == 0
    complete = {"bash": of_bash, "zsh": of_zsh, "fish": of_fish}[shell]
    return dict(zip(LINES, complete(printed.getvalue(), LINES, folder), strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("shells")


@pytest.mark.parametrize("line, word", CASES)
@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes_commands_options_and_names(shell, line, word, folder):
    if not shutil.which(shell):
        pytest.skip(f"needs {shell}")
    found = completed(shell, folder)[line]
    assert word in found and all(other.startswith(line.split()[-1]) for other in found)


@pytest.mark.parametrize("line, word", FILES)
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_a_shell_completes_files(shell, line, word, folder):
    """Bash does so by itself where a function finds nothing."""
    if not shutil.which(shell):
        pytest.skip(f"needs {shell}")
    assert completed(shell, folder)[line] == [word]


@pytest.mark.parametrize("line", NO_FILES)
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_no_files_where_a_command_takes_none(shell, line, folder):
    if not shutil.which(shell):
        pytest.skip(f"needs {shell}")
    assert "snapped.cu" not in completed(shell, folder)[line]


def test_a_script_is_not_of_another_shell(capsys):
    with pytest.raises(SystemExit):
        main(["completion", "tcsh"])
    assert "bash" in capsys.readouterr().err

"""Completion of the command line by shells: a script for each, made of the parser and of the names that commands take."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

SHELLS = ("bash", "zsh", "fish")
#: Command that brings a shell the script in each session.
INSTALL = {
    "bash": 'echo \'eval "$(gpustats completion bash)"\' >> ~/.bashrc',
    "zsh": 'echo \'eval "$(gpustats completion zsh)"\' >> ~/.zshrc',
    "fish": "mkdir -p ~/.config/fish/completions && gpustats completion fish > ~/.config/fish/completions/gpustats.fish",
}

_BASH = """_gpustats() {{
    local words
    if [ "$COMP_CWORD" -eq 1 ]; then words={commands}; else
        case "${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD-1]}}" in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _gpustats gpustats"""


class _Line(NamedTuple):
    """Words of a command line."""

    options: Mapping[str, str]  #: of the program itself: option -> what it is
    commands: Mapping[str, argparse.ArgumentParser]
    taken: Mapping[str, Sequence[str]]  #: command -> what it takes beside its options
    files: Collection[str]  #: commands that take files, too


def script(
    shell: str, parser: argparse.ArgumentParser, names: Mapping[str, Sequence[str]], files: Collection[str]
) -> str:  # fmt: skip
    """Script for a shell. `names`: command -> what it takes beside its options; `files`: commands that take files, too."""
    (subcommands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    commands: dict[str, argparse.ArgumentParser] = dict(subcommands.choices)
    taken = {c: [*names.get(c, ()), *_words(a for a in p._actions if not a.option_strings)] for c, p in commands.items()}
    options = {option: action.help or "" for action in parser._actions for option in _long(action)}
    lines = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](_Line(options, commands, taken, files))
    return "\n".join([*lines, ""])


def _bash(line: _Line) -> Iterator[str]:
    cases = []
    for command, sub in line.commands.items():
        options = {option: action for action in sub._actions for option in _long(action)}
        cases += [(f"'{command} {option}'", _words([action])) for option, action in options.items() if action.choices]
        cases.append((f"'{command} '*", [*options, *line.taken[command]]))
    lines = "\n".join(f"            {case}) words={shlex.quote(' '.join(words))};;" for case, words in cases)
    yield _BASH.format(commands=shlex.quote(" ".join([*line.commands, *line.options])), cases=lines)


def _zsh(line: _Line) -> Iterator[str]:
    yield "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }"
    yield from ("_gpustats() {", "    local -a commands=(")
    yield from (f"        {shlex.quote(f'{command}:{sub.description}')}" for command, sub in line.commands.items())
    yield from (f"        {shlex.quote(f'{option}:{told}')}" for option, told in line.options.items())
    yield from ("    )", "    if (( CURRENT == 2 )); then _describe command commands; return; fi")
    yield from ("    shift words; (( CURRENT-- ))", "    case $words[1] in")
    for command, sub in line.commands.items():
        options = [f"{option}{_of_zsh(action)}" for action in sub._actions for option in _long(action)]
        names, files = line.taken[command], command in line.files
        kinds = [f'"names:name:({" ".join(names)})"'] * bool(names) + ['"files:file:_files"'] * files
        place = "*" if any(action.nargs == argparse.REMAINDER for action in sub._actions) else "1"
        arguments = [f"{place}: :_alternative {' '.join(kinds)}"] * bool(kinds)
        yield f"        {command}) _arguments {shlex.join([*options, *arguments])};;"
    yield from ("    esac", "}", "compdef _gpustats gpustats")


def _of_zsh(action: argparse.Action) -> str:
    """Description of an option, and of its value."""
    told = f"[{action.help}]"
    if action.nargs == 0:
        return told
    words = _words([action])
    value = f"({' '.join(words)})" if words else "_files" if action.type is Path else " "
    return f"={told}:value:{value}"


def _fish(line: _Line) -> Iterator[str]:
    yield "complete -c gpustats -f"
    at_first = "complete -c gpustats -n __fish_use_subcommand"
    yield from (f"{at_first} -l {option.removeprefix('--')} -d {shlex.quote(told)}" for option, told in line.options.items())
    for command, sub in line.commands.items():
        yield f"{at_first} -a {command} -d {shlex.quote(sub.description or '')}"
        start = f"complete -c gpustats -n '__fish_seen_subcommand_from {command}'"
        for action in sub._actions:
            value = "" if action.nargs == 0 else " -r -F" if action.type is Path else " -x"
            value += f" -a {shlex.quote(' '.join(_words([action])))}" if action.choices else ""
            yield from (f"{start} -l {o.removeprefix('--')}{value} -d {shlex.quote(action.help or '')}" for o in _long(action))
        if line.taken[command]:
            yield f"{start} -a {shlex.quote(' '.join(line.taken[command]))}"
        if command in line.files:
            yield f"{start} -F"


def _words(actions: Iterable[argparse.Action]) -> list[str]:
    """Values that arguments may have."""
    return [str(choice) for action in actions for choice in action.choices or ()]


def _long(action: argparse.Action) -> list[str]:
    """Option in full: none of an argument that is known by its place."""
    return [option for option in action.option_strings if option.startswith("--")]

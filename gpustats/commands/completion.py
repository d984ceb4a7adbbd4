"""Completion of the command line by shells: a script for each, made of the parser and of the names that commands take."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

SHELLS = ("bash", "zsh", "fish")
#: Command that brings a shell the script in each session.
INSTALL = {
    "bash": 'echo \'eval "$(gpustats completion bash)"\' >> ~/.bashrc',
    "zsh": 'echo \'eval "$(gpustats completion zsh)"\' >> ~/.zshrc',
    "fish": "gpustats completion fish > ~/.config/fish/completions/gpustats.fish",
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
complete -o default -F _gpustats gpustats
"""


def script(shell: str, parser: argparse.ArgumentParser, names: Mapping[str, Sequence[str]]) -> str:
    """Script for a shell. `names`: command -> what it takes beside its options."""
    (subcommands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    commands: dict[str, argparse.ArgumentParser] = dict(subcommands.choices)
    taken = {c: [*names.get(c, ()), *_words(a for a in p._actions if not a.option_strings)] for c, p in commands.items()}
    if shell == "fish":
        return "\n".join([*_fish(commands, taken), ""])
    cases = []
    for command, sub in commands.items():
        options = {option: action for action in sub._actions for option in _long(action)}
        cases += [(f"'{command} {option}'", _words([action])) for option, action in options.items() if action.choices]
        cases.append((f"'{command} '*", [*options, *taken[command]]))
    lines = "\n".join(f"            {case}) words={shlex.quote(' '.join(words))};;" for case, words in cases)
    text = _BASH.format(commands=shlex.quote(" ".join([*commands, "--help", "--version"])), cases=lines)
    return "autoload -U +X bashcompinit && bashcompinit\n" + text if shell == "zsh" else text


def _fish(commands: Mapping[str, argparse.ArgumentParser], taken: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for command, sub in commands.items():
        yield f"complete -c gpustats -n __fish_use_subcommand -f -a {command} -d {shlex.quote(sub.description or '')}"
        start = f"complete -c gpustats -n '__fish_seen_subcommand_from {command}'"
        for action in sub._actions:
            values = f" -x -a {shlex.quote(' '.join(_words([action])))}" if action.choices else ""
            yield from (f"{start} -l {o.removeprefix('--')}{values} -d {shlex.quote(action.help or '')}" for o in _long(action))
        if taken[command]:
            yield f"{start} -a {shlex.quote(' '.join(taken[command]))}"


def _words(actions: Iterable[argparse.Action]) -> list[str]:
    """Values that arguments may have."""
    return [str(choice) for action in actions for choice in action.choices or ()]


def _long(action: argparse.Action) -> list[str]:
    """Option in full: none of an argument that is known by its place."""
    return [option for option in action.option_strings if option.startswith("--")]

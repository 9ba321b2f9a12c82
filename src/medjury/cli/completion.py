"""`medjury completion bash | zsh | fish`: commands and options completed by the shell, made from the parsers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from medjury.cli._main import COMMANDS, UNDER, add_commands
from medjury.cli._options import add_json, print_json
from medjury.cli._screen import Paragraphs
from medjury.cli._shells import SHELLS, Offered

_ABOUT = """
bash: medjury completion bash > ~/.local/share/bash-completion/completions/medjury

zsh: medjury completion zsh > ~/.medjury.zsh, and `source ~/.medjury.zsh` in ~/.zshrc, after compinit.

fish: medjury completion fish > ~/.config/fish/completions/medjury.fish
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = Paragraphs
    parser.epilog = _ABOUT
    parser.add_argument("shell", choices=SHELLS, help="the shell that is to complete")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    offered: Offered = {(): ["--help", "--version", *(name for name in COMMANDS if " " not in name)]}
    for name in COMMANDS:
        command = add_commands(argparse.ArgumentParser(prog="medjury"), name)
        offered |= dict(_below(tuple(name.split()), command))
    for first, lines in UNDER.items():
        offered[(first,)] = list(dict.fromkeys([*lines, *offered[(first,)]]))
    script = SHELLS[options.shell](offered)
    if options.json:
        after = {" ".join(path): words for path, words in offered.items()}
        print_json({"shell": options.shell, "script": script, "after": after})
    else:
        print(script)
    return 0


def _below(
    path: tuple[str, ...], parser: argparse.ArgumentParser
) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """After which words (`calibrate fit`) which may follow: further commands, else options and fixed choices."""
    follows: list[str] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            follows += action.choices
            for name, command in action.choices.items():
                yield from _below((*path, name), command)
        elif action.help is not argparse.SUPPRESS:
            follows += [word for word in action.option_strings if word.startswith("--")]
            follows += map(str, action.choices or ())
    yield path, list(dict.fromkeys(follows))

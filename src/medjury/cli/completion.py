"""`medjury completion bash | zsh | fish`: commands and options completed by the shell, made from the parsers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

_ABOUT = """
bash: put this line into ~/.bashrc: eval "$(medjury completion bash)".
zsh: the same with zsh into ~/.zshrc, after compinit.
fish: medjury completion fish > ~/.config/fish/completions/medjury.fish
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _ABOUT
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell that is to complete")


def run(options: argparse.Namespace) -> int:
    offered = dict(_offered())
    print(_fish(offered) if options.shell == "fish" else _bash(offered, zsh=options.shell == "zsh"))
    return 0


def _offered() -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """After which words (`calibrate fit`) which may follow: further commands, else options and fixed choices."""
    from medjury.cli._main import COMMANDS, parser_of

    yield (), ["--help", "--version", *COMMANDS]
    for name in COMMANDS:
        yield from _below((name,), _command(parser_of(name), name))


def _command(parser: argparse.ArgumentParser, name: str) -> argparse.ArgumentParser:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found = action.choices[name]
            assert isinstance(found, argparse.ArgumentParser)
            return found
    raise AssertionError(f"there is no command {name}")


def _below(
    path: tuple[str, ...], parser: argparse.ArgumentParser
) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    follows: list[str] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            follows += action.choices
            for name, command in action.choices.items():
                yield from _below((*path, name), command)
        elif action.help is not argparse.SUPPRESS:
            follows += [word for word in action.option_strings if word.startswith("--")]
            follows += map(str, action.choices or ())
    yield path, follows


def _bash(offered: dict[tuple[str, ...], list[str]], *, zsh: bool) -> str:
    cases = "\n".join(
        f'    "{" ".join(path)}") words="{" ".join(words)}" ;;' for path, words in offered.items()
    )
    deeper = " | ".join(f'"{" ".join(path)}"' for path in offered if path)
    return f"""{"autoload -U +X bashcompinit && bashcompinit" if zsh else "# completion of medjury"}
_medjury_complete() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" path="" next="" words="" place
  for ((place = 1; place < COMP_CWORD; place++)); do
    next="${{path:+$path }}${{COMP_WORDS[place]}}"
    case "$next" in
    {deeper}) path="$next" ;;
    esac
  done
  case "$path" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _medjury_complete medjury"""


def _fish(offered: dict[tuple[str, ...], list[str]]) -> str:
    lines = [
        "function __medjury_after",
        "    set -l words (commandline -opc)[2..-1]",
        "    set -l path",
        "    for word in $words",
        "        contains -- (string join ' ' $path $word) $__medjury_paths; and set path $path $word",
        "    end",
        '    test (string join " " $path) = "$argv"',
        "end",
        "set -g __medjury_paths " + " ".join(f"'{' '.join(path)}'" for path in offered if path),
    ]
    for path, words in offered.items():
        lines.append(f"complete -c medjury -n \"__medjury_after '{' '.join(path)}'\" -a '{' '.join(words)}'")
    return "\n".join(lines)

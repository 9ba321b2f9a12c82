"""The script by which a shell completes words, for each shell."""

from __future__ import annotations

from collections.abc import Callable, Mapping

# After these words, those that may follow.
Offered = dict[tuple[str, ...], list[str]]


def bash(offered: Offered) -> str:
    return "# completion of medjury\n" + _by_words(offered)


def zsh(offered: Offered) -> str:
    return "autoload -U +X bashcompinit && bashcompinit\n" + _by_words(offered)


def fish(offered: Offered) -> str:
    lines = [
        "set -g __medjury_paths " + " ".join(f"'{' '.join(path)}'" for path in offered if path),
        "function __medjury_after",
        "    set -l path",
        "    for word in (commandline -opc)[2..-1]",
        "        contains -- (string join -- ' ' $path $word) $__medjury_paths; and set path $path $word",
        "    end",
        '    test "$path" = "$argv"',
        "end",
    ]
    for path, words in offered.items():
        lines.append(f"complete -c medjury -n \"__medjury_after '{' '.join(path)}'\" -a '{' '.join(words)}'")
    return "\n".join(lines)


SHELLS: Mapping[str, Callable[[Offered], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def _by_words(offered: Offered) -> str:
    """For bash, and for zsh, which understands bash's own words."""
    cases = "\n".join(
        f'    "{" ".join(path)}") words="{" ".join(words)}" ;;' for path, words in offered.items()
    )
    deeper = " | ".join(f'"{" ".join(path)}"' for path in offered if path)
    return f"""_medjury_complete() {{
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

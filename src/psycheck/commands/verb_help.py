"""The help of a verb: its options in panels, the rare ones only with --help-all, and examples that run."""

from collections.abc import Iterable, Mapping
from typing import Any

import typer
from typer.core import TyperCommand

from psycheck.commands.colours import heading

COMMON = "Common options"
COLUMNS = "Columns"
EXPERT = "Expert"
_SHORT_HELP = (COMMON, COLUMNS)
_ORDER = (COMMON, COLUMNS, "Model", "LLM", EXPERT)
# What options were called before, with their names of today, by verb.
OLD_OPTIONS: dict[str, dict[str, str]] = {}
_SHOWS_ALL = "psycheck.help_all"  # in the `meta` of a context


class VerbCommand(TyperCommand):
    """A verb whose options stand in panels; a verb without panels has one list of options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Accept what options were called before, with a line that names them as they are called today."""
        renamed = OLD_OPTIONS.get(_verb_path(ctx), {})
        return super().parse_args(ctx, [_renamed(word, renamed) for word in args])

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then each panel; the short help ends with where the rest is."""
        arguments = [parameter for parameter in self.get_params(ctx) if _is_argument(parameter)]
        panels = self._panels(ctx)
        hidden = 0
        _write_section("Arguments", arguments, ctx, formatter)
        for title, options in panels.items():
            is_rare = title in _ORDER and title not in _SHORT_HELP
            if is_rare and not ctx.meta.get(_SHOWS_ALL):
                hidden += len(options)
                continue
            _write_section(title, options, ctx, formatter)

        if hidden:
            formatter.write_paragraph()
            formatter.write(f"{hidden} more options: --help-all\n")

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples as they are typed: a line that is wrapped cannot be copied."""
        if self.epilog:
            lines = [line.strip() for line in self.epilog.splitlines() if line]
            with formatter.section(heading(lines[0].removesuffix(":"))):
                for line in lines[1:]:
                    formatter.write(f"  {line}\n")

    def _panels(self, ctx: Any) -> Mapping[str, list[Any]]:
        """The options by panel, the panels in their order."""
        titles = {_panel_of(parameter) for parameter in self.params if not _is_argument(parameter)}
        has_panels = COMMON in titles
        panels: dict[str, list[Any]] = {title: [] for title in _ORDER} if has_panels else {}
        for parameter in self.get_params(ctx):
            if not _is_argument(parameter):
                # `--help` is not of our making and has no panel.
                title = (_panel_of(parameter) or COMMON) if has_panels else "Options"
                panels.setdefault(title, []).append(parameter)
        return panels


def _verb_path(ctx: Any) -> str:
    """A verb with the groups that it is in, as typed, without the name of the program."""
    names: list[str] = []
    while ctx.parent is not None:
        names.insert(0, ctx.info_name)
        ctx = ctx.parent
    return " ".join(names)


def _renamed(word: str, renamed: Mapping[str, str]) -> str:
    """A word of a command line, with the name of today for an old option."""
    flag, equals, value = word.partition("=")
    if flag not in renamed:
        return word
    typer.echo(f"note: {flag} is called {renamed[flag]} now", err=True)
    return f"{renamed[flag]}{equals}{value}"


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _panel_of(parameter: Any) -> str | None:
    panel: str | None = parameter.rich_help_panel
    return panel


def _write_section(title: str, parameters: Iterable[Any], ctx: Any, formatter: Any) -> None:
    records = [parameter.get_help_record(ctx) for parameter in parameters]
    rows = [record for record in records if record is not None]
    if rows:
        with formatter.section(heading(title)):
            formatter.write_dl(rows)


def print_all_help(ctx: typer.Context, requested: bool) -> None:
    """Print the help with the panels that the short help leaves out, and end."""
    if requested and not ctx.resilient_parsing:
        ctx.meta[_SHOWS_ALL] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


def examples_as_epilog(examples: Iterable[str]) -> str | None:
    """Examples as the end of a help, which the reference shows as Markdown: indented lines are code."""
    lines = [f"    {example}" for example in examples]
    return "\n".join(["Examples:", "", *lines]) if lines else None

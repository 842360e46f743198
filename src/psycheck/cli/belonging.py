"""Options that belong to one way of a verb: refused where they would be ignored."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer

NOT_GIVEN = ("DEFAULT", "DEFAULT_MAP")


def given(ctx: "typer.Context", name: str) -> bool:
    """Whether the user gave an option, be it with its default value."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name not in NOT_GIVEN


def refuse(ctx: "typer.Context", names: Iterable[str], what: str, belongs: str) -> None:
    """Refuse the first of these options that was given: `what` takes none, it `belongs` elsewhere."""
    from psycheck.errors import BadInput

    for name in names:
        if given(ctx, name):
            option = spelled(ctx, name)
            raise BadInput(f"{what} takes no {option}", allowed=f"{option} {belongs}")


def spelled(ctx: "typer.Context", name: str) -> str:
    """An option as it is written: --texts, or --no-retrain where that was chosen."""
    option: Any = next(one for one in ctx.command.params if one.name == name)
    off = option.secondary_opts if ctx.params[name] is False else ()
    return str([*off, *option.opts][0])

"""Cautions on corpora: what a verdict says of them, and what to do about them."""

from collections.abc import Sequence

from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.core.run import Run
from psycheck.report.sections import unique


def commands(cautions: Sequence[Finding]) -> list[str]:
    """The commands that show or fix what the cautions are about, each once."""
    return unique(caution.where["command"] for caution in cautions if caution.where["command"])


def caution_headlines(run: Run) -> list[Headline]:
    """Why figures on the corpora may mean little."""
    return []

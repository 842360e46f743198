"""What to do about the cautions on a corpus."""

from collections.abc import Sequence

from psycheck.core.finding import Finding
from psycheck.report.sections import unique


def commands(cautions: Sequence[Finding]) -> list[str]:
    """The commands that show or fix what the cautions are about, each once."""
    return unique(caution.where["command"] for caution in cautions if caution.where["command"])

"""Cautions on corpora: what a verdict says of them before anything else, and what to do about them."""

from collections.abc import Sequence
from dataclasses import replace

from psycheck.core.errors import counted
from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.core.run import Run
from psycheck.report.display_names import words_of
from psycheck.report.headlines import headline
from psycheck.report.sections import by, grouped, unique

CAUTION = "caution"
COPIES = "duplicates_across_splits"
NEAR_COPIES = "near_duplicates_across_splits"


def commands(cautions: Sequence[Finding]) -> list[str]:
    """The commands that show or fix what the cautions are about, each once."""
    return unique(caution.where["command"] for caution in cautions if caution.where["command"])


def caution_headlines(run: Run) -> list[Headline]:
    """Why figures on the corpora may mean little, the worst corpus and label of each kind of caution.

    Only cautions with an entry in headlines.toml stand in a verdict; the page shows the others, too.
    """
    cautions = _without_repetition(run.findings.where(measure=CAUTION))
    of_kind = grouped(cautions, by(CAUTION))
    corpora = {finding.where["corpus"] for finding in run.findings if "corpus" in finding.where}

    headlines = []
    # In the order of headlines.toml: leaks, then what tells a label without reading.
    for name in words_of("headlines")[CAUTION]:
        behind = sorted(of_kind.get((name,), ()), key=lambda caution: -caution.value)
        if not behind:
            continue

        worst = behind[0]
        more_cautions = counted(len(behind) - 1, "more caution")
        made = headline(
            f"{CAUTION}.{name}",
            behind,
            where=f"{worst.where['corpus']}: " if len(corpora) > 1 else "",
            sentence=worst.where["sentence"],
            more=f" ({more_cautions} of this kind below.)" if len(behind) > 1 else "",
        )
        # The command depends on the corpus: it cannot stand in headlines.toml.
        headlines.append(replace(made, remedy=worst.where["command"] or made.remedy))
    return headlines


def _without_repetition(cautions: Sequence[Finding]) -> list[Finding]:
    """The cautions without those on near-duplicates that are about nothing but copies."""
    copies = {}
    for caution in cautions:
        if caution.where.get(CAUTION) == COPIES:
            copies[caution.where["corpus"]] = caution.value

    distinct_cautions = []
    for caution in cautions:
        is_near = caution.where.get(CAUTION) == NEAR_COPIES
        copies_on_corpus = copies.get(caution.where["corpus"], -1.0)
        if not is_near or caution.value > copies_on_corpus:
            distinct_cautions.append(caution)
    return distinct_cautions

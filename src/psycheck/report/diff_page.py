"""The page of `diff`: agreement, differences, who is right where models part, lengths, cues and cases."""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from markupsafe import Markup

from psycheck.core.headline import Headline
from psycheck.core.run import Page, Run, Shown
from psycheck.report.cases import marked
from psycheck.report.diff_sentences import difference_headlines
from psycheck.report.diff_tables import parts
from psycheck.report.display_names import file_text, listed, name_of, natural
from psycheck.report.page import draw
from psycheck.report.sections import grouped, unique
from psycheck.report.tables import Table

MOST_CASES = 3_000  # on the page
MOST_CASES_OF_GROUP = 400
OutcomeRow = Mapping[str, Any]  # of outcomes.parquet: a text and the models that are right, wrong or silent


@dataclass(frozen=True, slots=True)
class PartedCase:
    """One text on which a model is wrong or silent: its annotation, who is not right, its cues, its text."""

    id: str
    gold: int
    wrong: str
    cues: tuple[str, ...]
    named: str
    text: Markup | None


@dataclass(frozen=True, slots=True)
class PartedGroup:
    """The cases of one label and corpus on which the same models are right; `more` are not on the page."""

    who: str
    corpus: str
    label: str
    cases: tuple[PartedCase, ...]
    more: int


def pages(run: Run) -> dict[str, str]:
    """The file of a comparison of models."""
    return {"report.html": render_difference(run)}


def verdict(run: Run) -> list[Headline]:
    """The headlines of a comparison of models."""
    return difference_headlines(run.findings)


PAGE = Page(draw=pages, verdict=verdict)


def render_difference(run: Run) -> str:
    """The page of a comparison of models as one HTML file."""
    script = file_text("report.js")
    groups = list(case_groups(run))
    cues: list[str] = []
    for group in groups:
        for case in group.cases:
            cues += case.cues

    return draw(
        "difference",
        run,
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        models=[str(model["name"]) for model in run.plan["models"]],
        corpora=[str(corpus["name"]) for corpus in run.plan["corpora"]],
        headlines=[headline.sentence for headline in run.headlines],
        places=parts(run.findings),
        groups=groups,
        choices={
            "who": unique(group.who for group in groups),
            "label": unique(group.label for group in groups),
            "corpus": unique(group.corpus for group in groups),
        },
        cues=unique(cues),
        with_texts=any(case.text is not None for case in run.shown),
        with_lengths=bool(run.findings.where(measure="outcome_length")),
        plan=json.dumps(
            dict(run.plan),
            indent=1,
            ensure_ascii=False,
            default=str,
        ),
    )


def console_tables(run: Run) -> Iterator[Table]:
    """The tables that the command line prints: the differences, and who is right where models part."""
    for part in parts(run.findings):
        yield part.differences()
        for _, _, table in part.apart():
            yield table


def case_groups(run: Run) -> Iterator[PartedGroup]:
    """The texts that some model does not get right, by who does; first where models part."""
    outcomes = run.tables["outcomes"].iter_rows(named=True)
    not_all_right = [row for row in outcomes if row["wrong"] or row["unanswered"]]
    groups = grouped(not_all_right, lambda row: (row["corpus"], row["label"], tuple(row["right"])))
    texts_shown = {(case.corpus, case.check, case.id): case for case in run.shown if case.text is not None}

    def order(key: tuple[str, str, tuple[str, ...]]) -> tuple[str, str, bool, int]:
        """By corpus and label; groups that no model gets right come last, large groups first."""
        corpus, label, right_models = key
        return corpus, label, not right_models, -len(groups[key])

    # The page must open quickly; outcomes.parquet lists all texts.
    room = MOST_CASES
    for corpus, label, right_models in sorted(groups, key=order):
        rows = groups[corpus, label, right_models]
        rows = sorted(rows, key=lambda row: (-row["gold"], natural(row["id"])))
        rows_on_page = rows[: min(MOST_CASES_OF_GROUP, room)]
        room -= len(rows_on_page)
        yield PartedGroup(
            who=listed(list(right_models)) or "none",
            corpus=corpus,
            label=label,
            cases=tuple(_case(row, texts_shown.get((corpus, label, row["id"]))) for row in rows_on_page),
            more=len(rows) - len(rows_on_page),
        )


def _case(row: OutcomeRow, texts_shown: Shown | None) -> PartedCase:
    not_right = []
    if row["wrong"]:
        not_right.append(listed(list(row["wrong"])))
    if row["unanswered"]:
        not_right.append(f"{listed(list(row['unanswered']))} (no answer)")

    cues = tuple(row["cues"] or ())
    return PartedCase(
        id=str(row["id"]),
        gold=int(row["gold"]),
        wrong=", ".join(not_right),
        cues=cues,
        named=", ".join(name_of("cues", cue) for cue in cues),
        text=None if texts_shown is None else marked(texts_shown.text or "", texts_shown.spans),
    )

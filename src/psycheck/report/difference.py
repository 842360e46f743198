"""The page of `diff`: agreement, differences, who is right where models part, lengths, cues and cases."""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from markupsafe import Markup

from psycheck.report.cases import marked
from psycheck.report.difference_sentences import difference_headlines
from psycheck.report.difference_tables import parts
from psycheck.report.page import draw
from psycheck.report.shelf import grouped, unique
from psycheck.report.tables import Table
from psycheck.report.words import file_text, listed, name_of, natural
from psycheck.run import Run, Shown

MOST_CASES, IN_GROUP = 3_000, 400


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


def render_difference(run: Run) -> str:
    """The page of a comparison of models as one HTML file."""
    script = file_text("report.js")
    groups = list(case_groups(run))
    return draw(
        "difference",
        run,
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        models=[str(model["name"]) for model in run.plan["models"]],
        corpora=[str(corpus["name"]) for corpus in run.plan["corpora"]],
        headlines=[one.words for one in difference_headlines(run.findings)],
        places=parts(run.findings),
        groups=groups,
        choices={
            "who": unique(group.who for group in groups),
            "label": unique(group.label for group in groups),
            "corpus": unique(group.corpus for group in groups),
        },
        cues=unique(cue for group in groups for case in group.cases for cue in case.cues),
        with_texts=any(case.text is not None for case in run.shown),
        with_lengths=bool(run.findings.where(measure="outcome_length")),
        plan=json.dumps(dict(run.plan), indent=1, ensure_ascii=False, default=str),
    )


def console_tables(run: Run) -> Iterator[Table]:
    """The tables that the command line prints: the differences, and who is right where models part."""
    for part in parts(run.findings):
        yield from (part.differences(), *(table for _, _, table in part.apart()))


def case_groups(run: Run) -> Iterator[PartedGroup]:
    """The texts that some model does not get right, by who does; first where models part."""
    table = run.tables["outcomes"]
    texts = {(case.corpus, case.check, case.id): case for case in run.shown if case.text is not None}
    rows = [row for row in table.iter_rows(named=True) if row["wrong"] or row["unanswered"]]
    groups = grouped(rows, lambda row: (row["corpus"], row["label"], tuple(row["right"])))
    order = sorted(groups, key=lambda key: (key[0], key[1], not key[2], -len(groups[key])))
    left = MOST_CASES
    for corpus, label, right in order:
        found = sorted(groups[corpus, label, right], key=lambda row: (-row["gold"], natural(row["id"])))
        some = found[: min(IN_GROUP, left)]
        left -= len(some)
        cases = tuple(_case(row, texts.get((corpus, label, row["id"]))) for row in some)
        yield PartedGroup(
            f"{listed(list(right))}" if right else "none", corpus, label, cases, len(found) - len(some)
        )


def _case(row: Mapping[str, Any], shown: Shown | None) -> PartedCase:
    wrong = listed(list(row["wrong"]))
    silent = f"{listed(list(row['unanswered']))} (no answer)" if row["unanswered"] else ""
    cues = tuple(row["cues"] or ())
    text = None if shown is None else marked(shown.text or "", shown.spans)
    return PartedCase(
        str(row["id"]),
        int(row["gold"]),
        ", ".join(filter(None, (wrong, silent))),
        cues,
        ", ".join(name_of("cues", cue) for cue in cues),
        text,
    )

"""The tables of the gender study, ours next to the published ones, and one sentence per learner."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from psycheck.core.finding import Finding, Findings
from psycheck.core.headline import Headline
from psycheck.core.run import Page, Run
from psycheck.report.display_names import words_of
from psycheck.report.headlines import headline
from psycheck.report.numbers import ends, percent
from psycheck.report.page import draw
from psycheck.report.sections import by, unique
from psycheck.report.studies.bias_transfer import transfer_table
from psycheck.report.studies.gender_cells import (
    DECIMAL,
    PERCENT,
    SIGNED,
    SIGNED_POINTS,
    by_draw,
    cell,
    flips_in_words,
)
from psycheck.report.studies.gender_writers_tables import is_of_writers, writer_answers, writer_pages
from psycheck.report.studies.published_figures import (
    contradicted,
    document,
    intro_of,
    marked,
    p_values,
    published,
)
from psycheck.report.tables import Table, table_of

ORIGINAL, SWAPPED, NEUTRAL, AUGMENTED = "original", "swapped", "neutralised", "augmented"
EXPERIMENTS = (ORIGINAL, SWAPPED, NEUTRAL, AUGMENTED)
PUBLISHED = {
    "SVM": "gender-table-1",
    "random forest": "gender-table-2",
    "MLP": "gender-table-3",
}
SHOWN = 20  # ids of flipped pairs in a row of their table
# Pixels of the plot: its width, where tracks begin, the height of a line, the length of a track.
_WIDTH, _LEFT, _LINE = 720, 250, 20
_TRACK = _WIDTH - _LEFT - 70
_AXIS_ENDS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
Row = tuple[str, ...]


def pages(run: Run) -> dict[str, str]:
    """The files of the study: of pairs, or of writers."""
    if is_of_writers(run):
        return writer_pages(run)
    return {"report.html": render_gender(run), "study.md": gender_tables(run)}


def verdict(run: Run) -> list[Headline]:
    """The headlines of the study."""
    return writer_answers(run.findings) if is_of_writers(run) else answers(run.findings)


PAGE = Page(draw=pages, verdict=verdict)


def render_gender(run: Run) -> str:
    """The page of a gender study as one HTML file without scripts."""
    return draw(
        "gender",
        run,
        corpus=str(run.plan["corpora"][0]["name"]),
        vectors=str(run.plan["encoder"]),
        sentences=[answer.sentence for answer in run.headlines],
        plot=flips_plot(run.findings.where(measure="flip_rate")),
        tables=tables_of(run.findings),
    )


def flips_plot(flips: Sequence[Finding]) -> dict[str, object]:
    """The share of flipped pairs with its interval, one line per learner, experiment and seed."""
    # Few pairs flip: on an axis to 100 % all dots would stand at its beginning.
    highest = max((ends(finding)[1] for finding in flips), default=0.0)
    axis_end = next((end for end in _AXIS_ENDS if highest <= end), 1.0)
    several_seeds = any(finding.where["seed"] != "0" for finding in flips)

    def on_track(value: float) -> float:
        return _LEFT + value / axis_end * _TRACK

    # Room for the ticks above the first line.
    y = 20
    learners: list[tuple[int, str]] = []
    rows = []
    classifiers = unique((finding.where["model"], finding.where["encoder"]) for finding in flips)
    for finding in flips:
        learner = _title(
            finding.where["model"],
            finding.where["encoder"],
            classifiers,
        )
        # The name of a learner stands above its lines once.
        if not learners or learner != learners[-1][1]:
            learners.append((y + 14, learner))
            y += _LINE
        seed = f", seed {finding.where['seed']}" if several_seeds else ""
        places = [on_track(value) for value in (*ends(finding), finding.value)]
        flipped = f"{finding.counts['flipped']} of {finding.n}"
        rows.append(
            (
                y + _LINE // 2,
                finding.where["experiment"],
                seed,
                places,
                flipped,
            )
        )
        y += _LINE

    digits = 0 if axis_end >= 0.1 else 1
    ticks = [(_LEFT + share * _TRACK, percent(share * axis_end, digits)) for share in (0.0, 0.5, 1.0)]
    return {
        "ticks": ticks,
        "learners": learners,
        "rows": rows,
        "width": _WIDTH,
        "height": y + 6,
        "end": _LEFT + _TRACK + 10,
    }


def gender_tables(run: Run) -> str:
    """All tables in Markdown: the sentences first, then the paper's tables, the pairs and the changes."""
    tables = tables_of(run.findings)
    # The note on several draws is the same below every table: the introduction gives it once.
    note_on_draws = tables[0].note
    tables = [replace(table, note="") if table.note == note_on_draws else table for table in tables]
    answer_lines = "".join(f"- {answer.sentence}\n" for answer in run.headlines)
    ours = note_on_draws or words_of("studies")["gender"]["ours"]
    return document(intro_of("gender", answers=answer_lines, ours=ours), tables, run.notes)


def tables_of(findings: Findings) -> list[Table]:
    """The paper's tables, one per learner, then the pairs, the changes and the ids of flipped pairs."""
    tables = [main_table(findings, learner) for learner in _learners(findings)]
    tables += [pairs_table(findings), change_table(findings)]
    transfer = transfer_table(findings)
    if transfer.rows:
        tables.append(transfer)

    draws = _draws(findings)
    if draws > 1:
        note = f"Ours: mean of {draws} draws of the training texts; in brackets the least and the most."
        tables = [replace(table, note=note) for table in tables]
    ids = flipped_table(findings)
    return [*tables, ids] if ids.rows else tables


def answers(findings: Findings) -> list[Headline]:
    """For each learner one sentence: what it learned from the original texts, and what augmenting changed."""
    headlines = []
    classifiers = _classifiers(findings)
    for learner, encoder in classifiers:
        of_classifier = findings.where(model=learner, encoder=encoder)
        original = of_classifier.where(experiment=ORIGINAL)
        augmented = of_classifier.where(experiment=AUGMENTED)
        before = original.where(measure="flip_rate")
        after = augmented.where(measure="flip_rate")
        # A learner without one of the two experiments has nothing to compare.
        if before and after:
            ratio_before = cell(original.where(measure="fnr_ratio"))
            ratio_after = cell(augmented.where(measure="fnr_ratio"))
            headlines.append(
                headline(
                    "study.gender",
                    [*before, *after],
                    learner=_title(learner, encoder, classifiers),
                    ratios=f"{ratio_before} and {ratio_after}",
                    cost=cell(augmented.where(measure="macro_f1_change"), SIGNED_POINTS),
                    before=flips_in_words(before),
                    after=flips_in_words(after, again=True),
                )
            )
    return headlines


def main_table(findings: Findings, learner: str) -> Table:
    """FNRR and macro-F1 of the four experiments, as the paper lays them out."""
    head = ["whose", "vectors", "DB (95 %)" if _draws(findings) > 1 else "DB"]
    for experiment in EXPERIMENTS:
        head += [f"{experiment} FNRR", f"{experiment} F1"]

    # Learners of ours are in the same tables, without published rows.
    paper = published(PUBLISHED[learner]) if learner in PUBLISHED else ()
    rows = _published_rows(paper)
    of_learner = findings.where(model=learner)
    for vectors in unique(flips.where["encoder"] for flips in of_learner.where(measure="flip_rate")):
        figures = []
        of_classifier = of_learner.where(encoder=vectors)
        for experiment in EXPERIMENTS:
            of_experiment = of_classifier.where(experiment=experiment)
            figures.append(cell(of_experiment.where(measure="fnr_ratio")))
            figures.append(cell(of_experiment.where(measure="macro_f1")))
        rows.append(
            (
                "ours",
                vectors,
                _direct_bias(findings, vectors),
                *figures,
            )
        )

    caption = f"{learner} (not in the paper)"
    if paper:
        caption = f"Table {PUBLISHED[learner][-1]}: {learner}"
    return Table(
        caption=caption,
        head=tuple(head),
        rows=tuple(rows),
        words=2,
    )


def _published_rows(paper: Sequence[Mapping[str, str]]) -> list[Row]:
    """What the paper prints of a learner, one row per model of vectors."""
    rows: list[Row] = []
    for model in unique(row["model"] for row in paper):
        by_experiment = {row["experiment"]: row for row in paper if row["model"] == model}
        original = by_experiment[ORIGINAL]
        cells = ["published", model, f"{original['direct_bias']} {original['towards']}"]
        for experiment in EXPERIMENTS:
            row = by_experiment[experiment]
            ratio = f"{row['fnrr']} {row['favoured']}".strip()
            cells += [marked({**row, "fnrr": ratio}, "fnrr"), row["macro_f1"]]
        rows.append(tuple(cells))
    return rows


def pairs_table(findings: Findings) -> Table:
    """What becomes of the pairs: flips and their direction, misses by gender, both differences (F less M)."""
    rows: list[Row] = []
    for (learner, encoder), experiment in product(_classifiers(findings), EXPERIMENTS):
        experiment_findings = findings.where(model=learner, encoder=encoder, experiment=experiment)
        flips = experiment_findings.where(measure="flip_rate")
        rows.append(
            (
                learner,
                flips[0].where["encoder"],
                experiment,
                by_draw(finding.n for finding in flips),
                by_draw(finding.counts["flipped"] for finding in flips),
                cell(flips, PERCENT),
                by_draw(finding.counts["only_female_positive"] for finding in flips),
                by_draw(finding.counts["only_male_positive"] for finding in flips),
                p_values(experiment_findings.where(measure="mcnemar_p")),
                p_values(experiment_findings.where(measure="mcnemar_p_holm")),
                cell(experiment_findings.where(measure="fnr", group="female")),
                cell(experiment_findings.where(measure="fnr", group="male")),
                cell(experiment_findings.where(measure="equal_opportunity_difference"), SIGNED),
                cell(experiment_findings.where(measure="demographic_parity_difference"), SIGNED),
            )
        )

    draws = _draws(findings)
    if draws > 1:
        shares = f"%, mean of {draws} draws (least to most)"
        return table_of(
            "gender_pairs",
            rows,
            flipped="flipped, draw by draw",
            percent=shares,
        )
    return table_of(
        "gender_pairs",
        rows,
        flipped="flipped",
        percent="% (95 %)",
    )


def change_table(findings: Findings) -> Table:
    """How far each experiment is from the original, on the same pairs."""
    rows: list[Row] = []
    for (learner, encoder), experiment in product(_classifiers(findings), EXPERIMENTS[1:]):
        experiment_findings = findings.where(model=learner, encoder=encoder, experiment=experiment)
        changes = experiment_findings.where(measure="flip_rate_change")
        rows.append(
            (
                learner,
                changes[0].where["encoder"],
                experiment,
                cell(changes, SIGNED_POINTS),
                p_values(experiment_findings.where(measure="flip_rate_change_p_holm")),
                cell(experiment_findings.where(measure="macro_f1_change"), SIGNED_POINTS),
            )
        )
    return table_of("gender_changes", rows)


def flipped_table(findings: Findings) -> Table:
    """The ids of flipped pairs: the first of them, and how many more there are."""
    place = by(
        "model",
        "encoder",
        "experiment",
        "seed",
    )
    rows = []
    for finding in findings.where(measure="flip_rate"):
        # An experiment without flips needs no row.
        if finding.examples:
            ids = ", ".join(finding.examples[:SHOWN])
            more = len(finding.examples) - SHOWN
            if more > 0:
                ids += f" and {more} more"
            rows.append((*place(finding), str(len(finding.examples)), ids))
    return table_of("gender_flipped", rows)


def paper_notes() -> list[str]:
    """What the paper leaves open or contradicts."""
    notes = list(words_of("studies")["gender"]["notes"])
    for _, table, row in contradicted("gender-*"):
        notes.append(f"{table}: {row['model']}, {row['experiment']}: {row['fnrr']}; {row['mark']}")
    return notes


def _classifiers(findings: Findings) -> list[tuple[str, str]]:
    """Every learner with the vectors that it learned from."""
    flips = findings.where(measure="flip_rate")
    return unique((finding.where["model"], finding.where["encoder"]) for finding in flips)


def _title(learner: str, encoder: str, classifiers: Sequence[tuple[str, str]]) -> str:
    """The learner, and its vectors where there are several."""
    # With one set of vectors its name would be on every line.
    of_learner = [vectors for name, vectors in classifiers if name == learner]
    return f"{learner} on {encoder}" if len(of_learner) > 1 else learner


def _learners(findings: Findings) -> list[str]:
    return unique(finding.where["model"] for finding in findings.where(measure="flip_rate"))


def _draws(findings: Findings) -> int:
    return len({finding.where["seed"] for finding in findings.where(measure="flip_rate")})


def _direct_bias(findings: Findings, vectors: str) -> str:
    """Direct Bias of the vectors with its direction and interval, where it was measured."""
    for finding in findings.where(measure="direct_bias", encoder=vectors):
        if finding.interval:
            low, high = map(DECIMAL, finding.interval)
            return f"{DECIMAL(finding.value)} {finding.where['direction']} ({low} to {high})"
    return ""

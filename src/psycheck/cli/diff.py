"""`psycheck diff`: two or more models on the same texts, and who is right where they part."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from psycheck.cli import options as opt
from psycheck.cli.output import print_run

if TYPE_CHECKING:
    from psycheck.run import Run


@opt.verb("diff")
def diff_cli(
    runs: list[Path],
    labels: list[str] | None = None,
    corpora: list[str] | None = None,
    show_texts: bool = False,
    out: Path = Path("runs/diff"),
    json_: bool = False,
) -> None:
    """Compare the models of finished audits on the texts they share: agreement, differences, errors."""
    from psycheck.report.difference_sentences import difference_headlines
    from psycheck.verbs.diff import diff

    run = diff(runs, labels=labels or (), corpora=corpora or (), show_texts=show_texts, out=out)
    verdict = " ".join(one.words for one in difference_headlines(run.findings))
    print_run(run, out, _lines(run), as_json=json_, verdict=verdict)


def _lines(run: "Run") -> Iterator[str]:
    from psycheck.report.difference import console_tables
    from psycheck.report.difference_sentences import difference_headlines

    for table in console_tables(run):
        yield table.to_console() + "\n"
    yield from (one.words for one in difference_headlines(run.findings))

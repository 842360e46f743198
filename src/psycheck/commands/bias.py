"""`psycheck bias`: whether words of depression lie nearer to one gender in an encoder's vectors.

What measures is imported in the functions that use it: `psycheck bias --help` needs none of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from psycheck.commands import options as opt
from psycheck.commands.console import print_run
from psycheck.core.errors import BadInput
from psycheck.core.finding import Findings
from psycheck.core.model import Encoder
from psycheck.core.run import Run
from psycheck.runs.folder import writes_run

if TYPE_CHECKING:
    from psycheck.audits.direct_bias.findings import Biasing
    from psycheck.audits.direct_bias.word_lists import Drawn, WordList
    from psycheck.report.tables import Table

VERB = "bias"


@opt.verb("bias")
def bias_cli(
    ctx: typer.Context,
    encoders: list[str],
    lists: list[str] | None = None,
    words: list[Path] | None = None,
    sentence: str | None = None,
    out: Path = Path("runs/bias"),
    json_: bool = False,
) -> None:
    """Measure Direct Bias: is depression closer to one gender in the vectors that you build on?"""
    from psycheck.audits.direct_bias.findings import Biasing
    from psycheck.io.settings import read_settings

    if len(encoders) > 1:
        opt.refuse(
            ctx, ("json_",), "bias with several encoders", "with one encoder: their findings are in files"
        )
    how = read_settings(Biasing, opt.values_for(ctx, Biasing))
    runs = []
    for encoder, folder in _folders(encoders, out):
        run = encoder_bias(
            encoder,
            lists=lists,
            words=words or (),
            sentence=sentence,
            out=folder,
            how=how,
        )
        runs.append(run)
        print_run(run, folder, _console_lines(run), as_json=json_)
    if len(runs) > 1:
        typer.echo(_table_of_encoders(runs).to_console())


def _folders(encoders: Sequence[str], out: Path) -> "list[tuple[str | Encoder, Path]]":
    """Each encoder with the folder of its run: a folder each below `out` if there are several."""
    if len(encoders) == 1:
        # It is opened once the folder is known to be free.
        return [(encoders[0], out)]

    from psycheck.models.opening import open_encoder

    opened = [open_encoder(encoder) for encoder in encoders]
    names = [encoder.name for encoder in opened]
    if len(set(names)) < len(names):
        raise BadInput(
            "two of the encoders have the same name",
            code="bias.same-encoder-name",
            allowed="each encoder once",
            do="give one of them a name: vectors:FILE?name=NAME",
        )
    return [(encoder, out / encoder.name.replace("/", "-")) for encoder in opened]


def _table_of_encoders(runs: Sequence[Run]) -> "Table":
    """The rows of all encoders in one table."""
    from psycheck.report.bias_page import bias_table

    tables = [(str(run.plan["encoder"]), bias_table(run.findings)) for run in runs]
    _, first = tables[0]
    rows = tuple((name, *row) for name, table in tables for row in table.rows)
    return replace(first, head=("encoder", *first.head), rows=rows, words=first.words + 1)


def _console_lines(run: Run) -> Iterator[str]:
    from psycheck.report.bias_page import bias_table
    from psycheck.report.bias_sentences import bias_sentences

    yield bias_table(run.findings).to_console()
    for finding in run.findings:
        if finding.measure == "direct_bias":
            yield f"{finding.where['list']}: words with the largest bias: {', '.join(finding.examples)}"
    yield from bias_sentences(run.findings)
    yield run.verdict


@writes_run("encoder", "words")
def encoder_bias(
    encoder: str | Path | Encoder,
    *,
    lists: Sequence[str] | None = None,
    words: Sequence[str | Path] = (),
    sentence: str | None = None,
    out: str | Path | None = None,
    how: "Biasing | None" = None,
) -> Run:
    """Measure whether words of depression and anxiety are closer to one gender in an encoder's vectors.

    `encoder` is "minilm", "hf:FOLDER", "vectors:FILE" or an Encoder; `lists` are names of shipped lists
    (default: all, or none if there are `words`), `words` are files of your own; `sentence`, with {word} in
    it, is the context in which a contextual encoder reads these. Vectors are stored like scores.
    """
    from psycheck.audits.direct_bias.embedded import Embedded
    from psycheck.audits.direct_bias.findings import Biasing
    from psycheck.audits.direct_bias.judging import judge
    from psycheck.audits.direct_bias.word_lists import ask, gender
    from psycheck.commands.bias_words import bias_notes, draw_random_words, select_lists
    from psycheck.models.opening import open_encoder
    from psycheck.models.vectors.static import WordVectors
    from psycheck.runs.environment import environment_of
    from psycheck.runs.pages import save
    from psycheck.scoring.vectors import encode_once

    how = how or Biasing()
    word_lists = select_lists(lists, words, sentence)
    opened = open_encoder(encoder)
    is_static = isinstance(opened, WordVectors)
    if is_static and sentence is not None:
        raise BadInput(
            "static word vectors do not use a sentence",
            code="bias.sentence-with-static-vectors",
            where=opened.name,
            allowed="a sentence with a contextual encoder: minilm or hf:FOLDER",
            do="remove the sentence",
        )

    # Ask for every word and sentence once, encode, and judge the vectors.
    random_words = {}
    for word_list in word_lists:
        random_words[word_list.name] = draw_random_words(opened, word_list, word_lists, how)
    request = ask(gender(), word_lists, random_words, contextual=not is_static)
    spoken = request.distinct()
    texts = [word.text for word in spoken]
    spans = [word.span for word in spoken]
    encoded = encode_once(opened, texts, spans)
    vectors = Embedded(spoken, encoded)
    judgement = judge(request, vectors, {"audit": VERB, "encoder": opened.name}, how)

    run = Run(
        plan={
            "verb": VERB,
            "encoder": opened.name,
            "kind": "static" if is_static else "contextual",
            "lists": _described(word_lists, random_words, contextual=not is_static),
            "pairs": [list(pair) for pair in gender().pairs],
            **asdict(how),
        },
        environment=environment_of([opened], ()),
        findings=Findings(judgement.findings),
        tables=judgement.tables,
        notes=tuple(bias_notes(opened, request, vectors)),
        folder=Path(out) if out is not None else None,
    )
    return save(run, run.folder)


def _described(
    word_lists: "Sequence[WordList]", random_words: "Mapping[str, Drawn]", *, contextual: bool
) -> list[dict[str, Any]]:
    """What the plan says about each list; static vectors read no sentence."""
    described = []
    for word_list in word_lists:
        entry: dict[str, Any] = {
            "name": word_list.name,
            "title": word_list.title,
            "words": len(word_list.targets),
            "source": word_list.source,
        }
        if contextual:
            entry["sentence"] = word_list.sentence
        entry["random_words"] = random_words[word_list.name].how
        described.append(entry)
    return described

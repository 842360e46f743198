"""Gender bias of an encoder as a run: open, ask, encode once, judge, save."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import compress
from pathlib import Path

import numpy as np

from psycheck.audits.direct_bias.judge import FEWEST_RANDOM, Biasing, Embedded, judge, known_pairs
from psycheck.audits.direct_bias.lists import (
    SHIPPED,
    Asked,
    Drawn,
    WordList,
    ask,
    common_words,
    gender,
    read_words,
    word_list,
)
from psycheck.errors import BadInput
from psycheck.finding import Findings
from psycheck.model import Encoder
from psycheck.models.open import open_encoder
from psycheck.models.vectors.static import WordVectors, matched_words
from psycheck.run import Run
from psycheck.runs.environment import environment_of
from psycheck.runs.folder import writes_run
from psycheck.runs.pages import save
from psycheck.scoring.answers import encode_once
from psycheck.text.gender.names import PAIRS

VERB = "bias"
MATCHED = "of words of like frequency (rank in the file)"
COMMON = "of common English words, whatever the frequency of the targets"


@writes_run("encoder", "words")
def encoder_bias(
    encoder: str | Path | Encoder,
    *,
    lists: Sequence[str] | None = None,
    words: Sequence[str | Path] = (),
    sentence: str | None = None,
    out: str | Path | None = None,
    how: Biasing | None = None,
) -> Run:
    """Measure whether words of depression and anxiety are closer to one gender in an encoder's vectors.

    `encoder` is "minilm", "hf:FOLDER", "vectors:FILE" or an Encoder; `lists` are names of shipped lists
    (default: all, or none if there are `words`), `words` are files of your own; `sentence`, with {word} in
    it, is the context in which a contextual encoder reads these. Vectors are stored like scores.
    """
    how = how or Biasing()
    selected = _lists(lists, words, sentence)
    opened = open_encoder(encoder)
    static = isinstance(opened, WordVectors)
    if static and sentence is not None:
        raise BadInput(
            "static word vectors do not use a sentence",
            where=opened.name,
            allowed="a sentence with a contextual encoder: minilm or hf:FOLDER",
            do="remove the sentence",
        )
    drawn = {one.name: _drawn(opened, one, selected, how) for one in selected}
    request = ask(gender(), selected, drawn, contextual=not static)
    spoken = request.distinct()
    encoded = encode_once(opened, [s.text for s in spoken], [s.span for s in spoken])
    vectors = Embedded(spoken, encoded)
    found = judge(request, vectors, {"audit": VERB, "encoder": opened.name}, how)
    run = Run(
        plan={
            "verb": VERB,
            "encoder": opened.name,
            "kind": "static" if static else "contextual",
            "lists": [
                {
                    "name": one.name,
                    "title": one.title,
                    "words": len(one.targets),
                    "source": one.source,
                    **({} if static else {"sentence": one.sentence}),
                    "random_words": drawn[one.name].how,
                }
                for one in selected
            ],
            "pairs": [list(pair) for pair in gender().pairs],
            **asdict(how),
        },
        environment=environment_of([opened], ()),
        findings=Findings(found.findings),
        tables=found.tables,
        notes=tuple(_notes(opened, request, vectors)),
        folder=Path(out) if out is not None else None,
    )
    return run if run.folder is None else save(run, run.folder)


def _lists(
    names: Sequence[str] | None, files: Sequence[str | Path], sentence: str | None
) -> tuple[WordList, ...]:
    if sentence is not None and not files:
        raise BadInput(
            "a sentence needs a word list of your own",
            allowed="`sentence` with `words=FILE`; the shipped lists have the paper's sentence",
        )
    wanted = list(names) if names is not None else [] if files else list(SHIPPED)
    selected = [word_list(name) for name in dict.fromkeys(wanted)]
    selected += [read_words(file, sentence=sentence) for file in files]
    for name in (one.name for one in selected):
        if sum(one.name == name for one in selected) > 1:
            raise BadInput(f"two word lists are called '{name}'", do="rename one of the files")
    if not selected:
        raise BadInput("no word list is named", allowed=f"`lists={' or '.join(SHIPPED)}`, or `words=FILE`")
    return tuple(selected)


def _drawn(encoder: Encoder, one: WordList, every: Sequence[WordList], how: Biasing) -> Drawn:
    """The pool of random lists: words as frequent as the targets where this is known, else common words."""
    targets = {target.word.casefold() for words in every for target in words.targets}
    parts = {part for word in targets for part in word.replace("-", " ").split()}
    names = {name.casefold() for pair in PAIRS for name in pair}  # their neighbours are names of one gender
    avoid = frozenset(targets | parts | names | gender().gendered)
    if isinstance(encoder, WordVectors) and encoder.by_frequency:
        entries = [
            (part,) for some in encoder.spelled([target.word for target in one.targets]) for part in some
        ]
        rows = matched_words(encoder, entries, how.pool, avoid, seed=how.seed)
        if rows and all(rows):
            return Drawn(_shuffled((word for row in rows for word in row), how), f"topics {MATCHED}")
    words = (word for word in common_words() if word not in avoid)
    return Drawn(_shuffled(words, how), f"topics {COMMON}")


def _shuffled(words: Iterable[str], how: Biasing) -> tuple[str, ...]:
    """Each word once, in random order."""
    distinct = list(dict.fromkeys(words))
    return tuple(distinct[i] for i in np.random.default_rng(how.seed).permutation(len(distinct)))


def _notes(encoder: Encoder, request: Asked, vectors: Embedded) -> Iterator[str]:
    """Which words were missing, repeated or composed, and how random words were drawn."""
    static = encoder if isinstance(encoder, WordVectors) else None
    known = known_pairs(request, vectors)
    lost = [pair for pair in request.pairs if pair not in known]
    unknown = [pair for pair in lost if np.isnan(vectors.of(pair)).any()]
    for why, pairs in (
        ("left out because a word is unknown", unknown),
        ("left out because a word has a zero vector", [pair for pair in lost if pair not in unknown]),
        (
            "whose words have the same vector and add nothing",
            [pair for pair in known if not np.ptp(vectors.of(pair), axis=0).any()],
        ),
    ):
        if pairs:
            yield f"gender pairs {why}: {', '.join(f'{a.word} and {b.word}' for a, b in pairs)}"
    for name, one in request.lists.items():
        words, rows = [s.word for s in one.own], vectors.of(one.own)
        parts = [len(entries) for entries in static.spelled(words)] if static else []
        for what, some in (
            (
                "words are listed for two symptoms and count for the first",
                (
                    f"{kept.word} ({kept.symptom or 'none'}, not {left.symptom or 'none'})"
                    for kept, left in one.listed.again
                ),
            ),
            ("unknown words are left out", compress(words, (np.isnan(row).any() for row in rows))),
            (
                "words with a zero vector, which has no direction, are left out",
                compress(words, (not row.any() for row in rows)),
            ),
            ("words get the mean vector of their parts", compress(words, (n > 1 for n in parts))),
        ):
            if named := list(some):
                yield f"{name}: {len(named)} {what}: {', '.join(named)}"
        if (found := int(vectors.known(one.random).sum())) < FEWEST_RANDOM:
            yield (
                f"{name}: the encoder knows only {found} random words, and p needs at least "
                f"{FEWEST_RANDOM}: it is not tested"
            )
    if static and static.vocabulary is not None and not static.by_frequency:
        yield "the file is not sorted by frequency: random lists are drawn from common English words"

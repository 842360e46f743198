"""Curate a corpus as a run: read the dumps once, write the corpus and its funnel."""

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from secrets import token_bytes
from tempfile import TemporaryDirectory

import polars as pl

from psycheck.corpora.curate.gather import Curated, curate, knows_languages
from psycheck.corpora.curate.settings import Curating
from psycheck.corpora.curate.spill import Progress, dumps_of
from psycheck.corpora.write import refuse_kind, write_into
from psycheck.errors import BadInput
from psycheck.files.write import private_folder, refuse_overwriting, writing
from psycheck.finding import Finding, Findings
from psycheck.run import Run
from psycheck.runs.environment import environment_of
from psycheck.runs.folder import run_files, save_run, writes_run
from psycheck.runs.pages import pages_of

CORPUS = "corpus.jsonl.zst"
SALT_BYTES = 32
_WORK = ".curating-"
_LIBRARIES = ("zstandard", "rensa", "empath", "py3langid")
RATIO = "posts_an_author_ratio"
_ALIKE = 1.25
__all__ = ["curate_dumps"]


@writes_run("dumps", "salt")
def curate_dumps(
    dumps: Sequence[str | Path],
    *,
    out: str | Path,
    corpus: str | Path | None = None,
    salt: str | Path | None = None,
    how: Curating | None = None,
    progress: Progress | None = None,
) -> Run:
    """Make a corpus from dumps, and write it with its funnel into the folder `out`, whole or not at all.

    `corpus` is the file of the corpus (default: corpus.jsonl.zst in `out`; the extension sets the format).
    Authors are hashed with a secret: the content of the file `salt`, which is created if it does not exist,
    or a random one that is thrown away, so that nobody can link the authors to names.
    """
    how = how or Curating()
    folder, salted = Path(out), salt is not None
    target = Path(corpus) if corpus is not None else folder / CORPUS
    refuse_kind(target)
    inputs = [Path(path) for path in (*dumps, salt, how.nrc) if path is not None]
    refuse_overwriting([target, *run_files(folder)], inputs)
    if target.resolve() in [path.resolve() for path in run_files(folder)]:
        what = "the run's own files would overwrite the corpus"
        raise BadInput(what, where=str(target), do="name another file, or one in another folder")
    secret = _salt(Path(salt)) if salt is not None else token_bytes(SALT_BYTES)
    name = target.name.partition(".")[0]
    settings = {**asdict(how), "split": dict(how.split), "nrc": None if how.nrc is None else how.nrc.name}
    for left in folder.glob(f"{_WORK}*"):  # by a killed process
        shutil.rmtree(left, ignore_errors=True)
    with writing(folder), TemporaryDirectory(prefix=_WORK, dir=folder, ignore_cleanup_errors=True) as work:
        made = curate(dumps, how, work=Path(work), salt=secret, name=name, progress=progress)
        names = [path.name for path in dumps_of(dumps)]
        run = Run(
            plan={"verb": "curate", "dumps": names, "corpus": target.name, "salted": salted, **settings},
            environment=environment_of((), [made.corpus], libraries=_LIBRARIES),
            findings=(findings := Findings(_findings(made, how))),
            notes=tuple(_notes(made, how, findings, salted=salted)),
            folder=folder,
        )
        corpus_file = {target: lambda part: write_into(part, made.corpus, target)}
        save_run(run, folder, pages_of(run), corpus_file)
    return run


def _findings(made: Curated, how: Curating) -> Iterator[Finding]:
    for step in made.steps:
        yield step.finding()
    for name in how.conditions:
        authors = made.by_condition.get(name, 0)
        yield Finding("authors_reporting", float(authors), authors, where={"label": name})
    table = made.corpus.table
    labels = [f"label:{name}" for name in how.conditions]
    control = pl.all_horizontal(pl.col(name).fill_null(-1.0) == 0 for name in labels)
    means = {}
    for side, here in (("disclosing", ~control), ("control", control)):
        own = table.filter(here)["author"]
        if len(own):
            means[side] = len(own) / own.n_unique()
            yield Finding("posts_an_author", means[side], own.n_unique(), where={"side": side})
    if len(means) == 2:
        yield Finding(RATIO, means["disclosing"] / means["control"], table["author"].n_unique())


def _notes(made: Curated, how: Curating, findings: Findings, *, salted: bool) -> Iterator[str]:
    for why, count in sorted(made.tally.left_out.items()):
        places = made.tally.places.get(why, [])
        at = f" ({', '.join(places[:5])}{' …' if count > 5 else ''})" if places else ""
        yield f"left out: {count:,} ({why}){at}"
    secret = "the secret in the salt file" if salted else "a secret that was thrown away"
    yield f"no file contains authors' names; their hashes were made with {secret}"
    yield "ids and texts lead back to public posts: protect the corpus as you would protect names"
    if "nrc" in how.rank:
        yield "ranked by the NRC lexicon, which is for research use only"
    if not how.controls:
        yield "without controls, no post is annotated 0: a classifier has no negative class"
    elif not knows_languages():
        yield 'control posts may be in any language: pip install "psycheck[clean]" to keep English ones only'
    for ratio in (finding.value for finding in findings if finding.measure == RATIO):
        if ratio is not None and not 1 / _ALIKE <= ratio <= _ALIKE:
            yield (
                f"disclosing authors have {ratio:.2f} times as many posts per author as controls: a model of"
                " whole histories can tell the sides apart by their length; take equally many per author"
            )


def _salt(path: Path) -> bytes:
    """The secret in a file; a new file is readable by its owner only."""
    try:
        if not path.exists():
            private_folder(path.parent)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(token_bytes(SALT_BYTES).hex())
        secret = bytes.fromhex(path.read_text("ascii").strip())
    except (OSError, ValueError) as error:
        raise BadInput(
            f"the secret cannot be read ({type(error).__name__})",
            where=str(path),
            allowed=f"a file of {2 * SALT_BYTES} hexadecimal digits, or one that does not exist yet",
        ) from error
    if not 16 <= len(secret) <= 64:
        raise BadInput(
            "the secret is too short or too long", where=str(path), allowed="16 to 64 bytes in hexadecimal"
        )
    return secret

"""`psycheck curate`: a corpus from dumps of posts and comments.

What curates is imported in the functions that use it: `psycheck curate --help` needs none of it.
"""

import os
import pickle
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from secrets import token_bytes
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import polars as pl
import typer

from psycheck.commands import options as opt
from psycheck.commands.console import ProgressLine, print_run
from psycheck.core.errors import BadInput
from psycheck.core.finding import Finding, Findings
from psycheck.core.run import Run
from psycheck.io.writing import private_folder, refuse_overwriting, writing
from psycheck.runs.folder import run_files, save_run, writes_run

if TYPE_CHECKING:
    from psycheck.corpora.curate.dumps import Tally
    from psycheck.corpora.curate.gather import Curated
    from psycheck.corpora.curate.settings import Curating
    from psycheck.corpora.curate.spill import DumpTask, Progress, Spread

CORPUS = "corpus.jsonl.zst"
SALT_BYTES = 32
RATIO = "posts_an_author_ratio"
_WORK = ".curating-"
_LIBRARIES = ("zstandard", "rensa", "empath", "py3langid")
_ALIKE = 1.25  # up to this ratio, both sides have about as many posts per author


@opt.verb("curate")
def curate_cli(
    ctx: typer.Context,
    dumps: list[Path],
    out: Path = Path("runs/curated"),
    corpus: Path | None = None,
    conditions: str | None = None,
    controls: bool = False,
    rank: list[str] | None = None,
    split: str | None = None,
    preset: str | None = None,
    salt: Path | None = None,
    hash_ids: bool = False,
    engine: str = "local",
    force: bool = False,
    json_: bool = False,
) -> None:
    """Make a corpus from dumps: authors who report a diagnosis, controls, no near-duplicates, splits."""
    from psycheck.corpora.curate.settings import Curating, preset_settings, split_of
    from psycheck.corpora.writing import refuse_kind
    from psycheck.io.settings import read_settings

    # Options go before what the preset says.
    of_preset = preset_settings(preset) if preset else {}
    if not (controls or of_preset.get("controls")):
        opt.refuse(ctx, ("control_authors", "control_posts"), "a corpus without controls", "with --controls")
    if "nrc" not in (rank or of_preset.get("rank", ())):
        opt.refuse(ctx, ("nrc",), "a ranking without nrc", "with --rank nrc")

    # Dumps take hours to read: what cannot be written is refused first.
    target = corpus or out / CORPUS
    refuse_kind(target)
    opt.refuse_existing(target, "--corpus" if corpus else "--out", force=force)

    values = of_preset | opt.values_for(ctx, Curating)
    if conditions:
        values["conditions"] = [name.strip() for name in conditions.split(",")]
    if split:
        values["split"] = split_of(split)
    how = read_settings(Curating, values)

    with ProgressLine() as line:
        run = curate_dumps(
            dumps,
            out=out,
            corpus=corpus,
            salt=salt,
            how=how,
            progress=line,
            engine=engine,
        )
    print_run(run, out, _console_lines(run, target), as_json=json_, corpus=str(target))


def _console_lines(run: Run, corpus: Path) -> Iterator[str]:
    from psycheck.report.curation_page import funnels

    for table in funnels(run.findings):
        yield table.caption
        for name, posts, authors, *_ in table.rows:
            yield f"  {name:<52} {posts:>13} posts {authors:>11} authors"
    yield run.verdict
    yield f"corpus: {corpus}"


@writes_run("dumps", "salt")
def curate_dumps(
    dumps: Sequence[str | Path],
    *,
    out: str | Path,
    corpus: str | Path | None = None,
    salt: str | Path | None = None,
    how: "Curating | None" = None,
    progress: "Progress | None" = None,
    engine: str = "local",
) -> Run:
    """Make a corpus from dumps, and write it with its funnel into the folder `out`, whole or not at all.

    `corpus` is the file of the corpus (default: corpus.jsonl.zst in `out`; the extension sets the format).
    Authors are hashed with a secret: the content of the file `salt`, which is created if it does not exist,
    or a random one that is thrown away, so that nobody can link the authors to names.
    `engine` names what reads the dumps: this process, one after the other, or the actors of a cluster.
    """
    from psycheck.corpora.curate.gather import curate
    from psycheck.corpora.curate.settings import Curating
    from psycheck.corpora.curate.spill import dumps_of
    from psycheck.corpora.writing import write_into
    from psycheck.runs.environment import environment_of
    from psycheck.runs.pages import pages_of, with_headlines

    how = how or Curating()
    folder = Path(out)
    target = Path(corpus) if corpus is not None else folder / CORPUS
    inputs = [Path(path) for path in (*dumps, salt, how.nrc) if path is not None]
    _refuse_target(target, folder, inputs)
    spread = _spread(engine)  # an unknown name is refused before a secret is made
    secret = _read_or_make_secret(Path(salt)) if salt is not None else token_bytes(SALT_BYTES)

    # Texts of a killed process must not stay on the disk.
    for leftover in folder.glob(f"{_WORK}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with writing(folder), TemporaryDirectory(prefix=_WORK, dir=folder, ignore_cleanup_errors=True) as work:
        curated = curate(
            dumps,
            how,
            work=Path(work),
            salt=secret,
            name=target.name.partition(".")[0],
            progress=progress,
            spread=spread,
        )
        findings = Findings(_findings(curated, how))
        run = Run(
            plan={
                "verb": "curate",
                "dumps": [path.name for path in dumps_of(dumps)],
                "corpus": target.name,
                "salted": salt is not None,
                **asdict(how),
                "split": dict(how.split),
                "nrc": None if how.nrc is None else how.nrc.name,
            },
            environment=environment_of((), [curated.corpus], libraries=_LIBRARIES),
            findings=findings,
            tables={"lexicon_scores": _lexicon_scores(curated, how)},
            notes=tuple(_notes(curated, how, findings, salted=salt is not None)),
            folder=folder,
        )
        # The corpus is written with the run: both or neither.
        corpus_file = {target: lambda part: write_into(part, curated.corpus, target)}
        run = with_headlines(run)
        save_run(run, folder, pages_of(run), corpus_file)
    return run


def _spread(engine: str) -> "Spread | None":
    """How dumps are read beside each other; None for the local engine, which reads one after the other."""
    from psycheck.scoring.engine import open_engine
    from psycheck.scoring.ray_engine import RayEngine

    opened = open_engine(engine)
    if not isinstance(opened, RayEngine):
        return None

    def spread(tasks: "Sequence[DumpTask]") -> "Iterator[tuple[int, Tally]]":
        rows = [{"place": place, "task": pickle.dumps(task)} for place, task in enumerate(tasks)]
        for row in opened.map_rows(rows, SpillDumps, (), blocks=len(rows)):
            yield int(row["place"]), pickle.loads(row["tally"])

    return spread


class SpillDumps:
    """Reads dumps on an actor, which sees the folder of the run as this process does."""

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The tally of the dump in a row of Ray Data, whose posts are put aside by now."""
        from psycheck.corpora.curate.spill import spill_dump

        task = pickle.loads(row["task"])
        # What a lost actor left of this dump is not whole.
        shutil.rmtree(task.folder, ignore_errors=True)
        return {"place": row["place"], "tally": pickle.dumps(spill_dump(task))}


def _refuse_target(target: Path, folder: Path, inputs: Sequence[Path]) -> None:
    """Refuse a corpus file of an unknown kind, an input, or a file of the run itself."""
    from psycheck.corpora.writing import refuse_kind

    refuse_kind(target)
    files_of_run = run_files(folder)
    refuse_overwriting([target, *files_of_run], inputs)
    if target.resolve() in [path.resolve() for path in files_of_run]:
        raise BadInput(
            "the run's own files would overwrite the corpus",
            code="curate.corpus-in-run-file",
            where=str(target),
            do="name another file, or one in another folder",
        )


def _read_or_make_secret(path: Path) -> bytes:
    """The secret in a file; a new file is readable by its owner only."""
    try:
        if not path.exists():
            private_folder(path.parent)
            # O_EXCL: of two processes that start together, one must not replace the secret of the other.
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(token_bytes(SALT_BYTES).hex())
        secret = bytes.fromhex(path.read_text("ascii").strip())
    except (OSError, ValueError) as error:
        raise BadInput(
            f"the secret cannot be read ({type(error).__name__})",
            code="curate.unreadable-secret",
            where=str(path),
            allowed=f"a file of {2 * SALT_BYTES} hexadecimal digits, or one that does not exist yet",
        ) from error

    # Shorter ones can be guessed; BLAKE2b takes a key of at most 64 bytes.
    if not 16 <= len(secret) <= 64:
        raise BadInput(
            "the secret is too short or too long",
            code="curate.secret-length",
            where=str(path),
            allowed="16 to 64 bytes in hexadecimal",
        )
    return secret


def _lexicon_scores(curated: "Curated", how: "Curating") -> pl.DataFrame:
    """Every post of the corpus by its id, with its scores by the lexicons that it was ranked by."""
    from psycheck.corpora.curate.lexicons import lexicon_scores

    scores = lexicon_scores(curated.corpus.texts, how.rank, how.nrc)
    return pl.DataFrame({"id": curated.corpus.ids, **scores})


def _findings(curated: "Curated", how: "Curating") -> Iterator[Finding]:
    """The steps of the funnel, the authors per condition, and the posts per author of both sides."""
    for step in curated.steps:
        yield step.finding()
    for name in how.conditions:
        authors = curated.by_condition.get(name, 0)
        yield Finding(
            measure="authors_reporting",
            value=float(authors),
            n=authors,
            where={"label": name},
        )

    table = curated.corpus.table
    labels = [f"label:{name}" for name in how.conditions]
    # A control has 0 for every condition; a missing label (null) is not a 0.
    is_control = pl.all_horizontal(pl.col(name).fill_null(-1.0) == 0 for name in labels)
    posts_per_author = {}
    sides = {"disclosing": ~is_control, "control": is_control}
    for side, is_here in sides.items():
        authors_of_posts = table.filter(is_here)["author"]
        if not len(authors_of_posts):
            continue

        distinct_authors = authors_of_posts.n_unique()
        posts_per_author[side] = len(authors_of_posts) / distinct_authors
        yield Finding(
            measure="posts_an_author",
            value=posts_per_author[side],
            n=distinct_authors,
            where={"side": side},
        )

    if len(posts_per_author) == 2:
        ratio = posts_per_author["disclosing"] / posts_per_author["control"]
        yield Finding(RATIO, ratio, table["author"].n_unique())


def _notes(curated: "Curated", how: "Curating", findings: Findings, *, salted: bool) -> Iterator[str]:
    """What was left out, and what users of the corpus must know."""
    for why, count in sorted(curated.tally.left_out.items()):
        places = curated.tally.places.get(why, [])
        yield f"left out: {count:,} ({why}){_places(places, count)}"

    secret = "the secret in the salt file" if salted else "a secret that was thrown away"
    yield f"no file contains authors' names; their hashes were made with {secret}"
    yield "ids and texts lead back to public posts: protect the corpus as you would protect names"
    if "nrc" in how.rank:
        yield "ranked by the NRC lexicon, which is for research use only"
    yield from _control_notes(how, findings)


def _places(places: Sequence[str], count: int) -> str:
    """The first places of what was left out, in brackets; nothing if they are not known."""
    if not places:
        return ""
    more = " …" if count > 5 else ""
    return f" ({', '.join(places[:5])}{more})"


def _control_notes(how: "Curating", findings: Findings) -> Iterator[str]:
    from psycheck.corpora.curate.gather import knows_languages

    if not how.controls:
        yield "without controls, no post is annotated 0: a classifier has no negative class"
    elif not knows_languages():
        yield 'control posts may be in any language: pip install "psycheck[clean]" to keep English ones only'

    for finding in findings:
        ratio = finding.value
        if finding.measure == RATIO and ratio is not None and not 1 / _ALIKE <= ratio <= _ALIKE:
            yield (
                f"disclosing authors have {ratio:.2f} times as many posts per author as controls: a model of"
                " whole histories can tell the sides apart by their length; take equally many per author"
            )

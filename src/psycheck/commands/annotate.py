"""`psycheck annotate`: projects, their items and people, and what comes out of them."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import typer

from psycheck.commands import options as opt
from psycheck.commands.console import ProgressLine, print_notes
from psycheck.core.errors import counted

if TYPE_CHECKING:
    from psycheck.annotate.database import Database
    from psycheck.corpora.columns import Columns

_NEXT_DEV: Final = 0.2  # of the answered texts, to choose how strongly the model of `next` is held back

app = typer.Typer(help="Annotate texts with several people.", no_args_is_help=True, rich_markup_mode=None)


def _open_database(place: str, key_file: Path | None, *, new: bool = False) -> "Database":
    from psycheck.annotate.database import database_url, open_database, read_key

    return open_database(database_url(place), read_key(key_file), new=new)


def _print_invitation(token: str, who: str) -> None:
    typer.echo(f"invitation for {who}, for one person within 7 days: /invitation/{token}")


def _utc(seconds: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


@app.command("new")
@opt.verb("annotate new")
def new_cli(place: str, project: Path | None = None, key_file: Path | None = None) -> None:
    """Create a project, and the database if there is none; without a project file, print an example."""
    from psycheck.annotate.accounts import invite
    from psycheck.annotate.database import make_key
    from psycheck.annotate.membership import create_project
    from psycheck.annotate.project import EXAMPLE, read_project

    if project is None:
        typer.echo(EXAMPLE.read_text("utf-8"), nl=False)
        print_notes(["This is an example. Save it to a file, change it, and name it: `project=FILE`."])
        return

    # The project file is checked first: a mistake in it must leave neither a key nor a database behind.
    settings, text, graph = read_project(project)
    if key_file is not None:
        make_key(key_file)
    db = _open_database(place, key_file, new=True)
    create_project(db, None, settings, text, graph)

    typer.echo(f"project '{settings.name}' created")
    typer.echo(f"import its items: psycheck annotate import {place} CORPUS")
    _print_invitation(invite(db, None, None, "owner"), "an owner of the server")
    typer.echo(f"start the server, and open the invitation there: psycheck annotate serve {place}")


@app.command("import")
@opt.verb("annotate import")
def import_cli(
    columns: "Columns",
    place: str,
    corpus: str,
    project: str | None = None,
    kind: str = "item",
    queue: str | None = None,
    split: str | None = None,
    format_: str | None = None,
    key_file: Path | None = None,
) -> None:
    """Add the texts of a corpus to a project: to annotate, for the screening test, or as hidden gold."""
    from psycheck.annotate.membership import project_named
    from psycheck.annotate.transfer import columns_for, import_corpus, reasons_in
    from psycheck.corpora.opening import corpus_plan, open_corpus

    db = _open_database(place, key_file)
    opened_project = project_named(db, project)
    plan = corpus_plan(corpus, columns, split, format_)
    reasons: dict[str, str] = {}
    path = Path(plan.path).expanduser()
    # A shipped corpus has columns of its own. In a file they are found by the labels of the project: a
    # column of zeros would not be guessed to be a label.
    if path.is_file():
        columns = columns_for(db, opened_project, kind, path, columns, format_)
        plan = corpus_plan(corpus, columns, split, format_)
        reasons = reasons_in(path, columns, format_)

    opened = open_corpus(plan)
    print_notes(opened.notes, opened.name)
    imported = import_corpus(db, None, opened_project, opened, kind=kind, queue=queue, reasons=reasons)
    not_added = f"{imported.known} known already, {imported.elsewhere} of other queues"
    typer.echo(f"{counted(imported.added, 'item')} added, {not_added}")


@app.command("invite")
@opt.verb("annotate invite")
def invite_cli(place: str, role: str, project: str | None = None, key_file: Path | None = None) -> None:
    """Print a one-time invitation to a project."""
    from psycheck.annotate.accounts import invite
    from psycheck.annotate.membership import project_named

    db = _open_database(place, key_file)
    token = invite(db, None, project_named(db, project), role)
    article = "an" if role[0] in "ao" else "a"
    _print_invitation(token, f"{article} {role}")


@app.command("invitations")
@opt.verb("annotate invitations")
def invitations_cli(
    place: str,
    withdraw: str | None = None,
    project: str | None = None,
    key_file: Path | None = None,
) -> None:
    """List the invitations that nobody has used, or withdraw one of them."""
    from psycheck.annotate.membership import project_named
    from psycheck.annotate.upkeep import invitation_named, invitations, withdraw_invitation

    db = _open_database(place, key_file)
    project_id = project_named(db, project)
    if withdraw is not None:
        withdraw_invitation(db, None, project_id, invitation_named(db, project_id, withdraw))
        typer.echo("invitation withdrawn")
        return
    for invitation in invitations(db, None, project_id):
        typer.echo(f"{invitation.name}  {invitation.role}, until {_utc(invitation.expires)}")


@app.command("member")
@opt.verb("annotate member")
def member_cli(
    place: str,
    name: str,
    change: Literal["pause", "resume", "remove", "password"],
    project: str | None = None,
    key_file: Path | None = None,
) -> None:
    """Pause a member, let them go on, remove them, or print a one-time link for a new password."""
    from psycheck.annotate.accounts import make_password_link
    from psycheck.annotate.membership import pause, project_named
    from psycheck.annotate.upkeep import member_named, remove_member

    db = _open_database(place, key_file)
    project_id = project_named(db, project)
    person_id = member_named(db, project_id, name)
    if change == "password":
        token = make_password_link(db, None, project_id, person_id)
        typer.echo(f"new password for {name}, once within 7 days: /password/{token}")
        return
    if change == "remove":
        remove_member(db, None, project_id, person_id)
    else:
        pause(db, None, project_id, person_id, paused=change == "pause")
    typer.echo(f"{name}: {change}")


@app.command("edit")
@opt.verb("annotate edit")
def edit_cli(place: str, file: Path, project: str | None = None, key_file: Path | None = None) -> None:
    """Give a project new settings from a file; earlier versions and their answers are kept."""
    from psycheck.annotate.membership import project_named
    from psycheck.annotate.project import read_project
    from psycheck.annotate.upkeep import edit_project

    _, text, _ = read_project(file)
    db = _open_database(place, key_file)
    number = edit_project(db, None, project_named(db, project), text)
    typer.echo(f"version {number}")


@app.command("end")
@opt.verb("annotate end")
def end_cli(
    place: str,
    reopen: bool = False,
    project: str | None = None,
    key_file: Path | None = None,
) -> None:
    """End a project: it takes no more answers, and can still be exported."""
    from psycheck.annotate.membership import project_named
    from psycheck.annotate.upkeep import end_project

    db = _open_database(place, key_file)
    end_project(db, None, project_named(db, project), ended=not reopen)
    typer.echo("project opened again" if reopen else "project ended")


@app.command("erase")
@opt.verb("annotate erase")
def erase_cli(
    place: str,
    text: str | None = None,
    author: str | None = None,
    project: str | None = None,
    key_file: Path | None = None,
) -> None:
    """Erase a text, or all texts of an author, with everything that was said of them."""
    from psycheck.annotate.erasure import erase_author, erase_text
    from psycheck.annotate.membership import project_named
    from psycheck.core.errors import BadInput

    if (text is None) == (author is None):
        raise BadInput(
            "nothing tells what to erase",
            code="erase.nothing-named",
            do="name either a `text` or an `author`",
        )
    db = _open_database(place, key_file)
    project_id = project_named(db, project)
    if text is not None:
        erased = erase_text(db, None, project_id, text)
    else:
        erased = erase_author(db, None, project_id, author or "")
    typer.echo(f"{counted(erased, 'item')} erased; backups that were made before still hold them")


@app.command("order")
@opt.verb("annotate order")
def order_cli(
    place: str,
    models: list[str],
    project: str | None = None,
    store: Path | None = None,
    allow_remote: bool = False,
    key_file: Path | None = None,
) -> None:
    """Put first what models are least sure of, or disagree about, as the project file asks."""
    from psycheck.annotate.export import items_of
    from psycheck.annotate.membership import project_named
    from psycheck.annotate.order import order_items
    from psycheck.commands.score import score_corpus
    from psycheck.models.opening import open_model
    from psycheck.scoring.limits import Limits

    db = _open_database(place, key_file)
    opened_project = project_named(db, project)
    items = items_of(db, None, opened_project)
    scores = {}
    with ProgressLine() as progress:
        for spec in models:
            model = open_model(spec)
            limits = Limits(allow_remote=allow_remote)
            table, _, notes = score_corpus(model, items, store=store, progress=progress, limits=limits)
            print_notes(notes, model.name)
            # A text without an answer has no uncertainty either: NaN, which the order puts last.
            values = table.select(model.labels).fill_null(float("nan")).to_numpy()
            scores[model.name] = model.labels, values

    moved = order_items(db, None, opened_project, items.ids, scores)
    typer.echo(f"{counted(moved, 'item')} moved")


@app.command("next")
@opt.verb("annotate next")
def next_cli(
    place: str,
    start: str = "tfidf+lr",
    project: str | None = None,
    seed: int = 0,
    key_file: Path | None = None,
) -> None:
    """Train a model on the answers so far, and put first what it is least sure of."""
    from tempfile import TemporaryDirectory

    from psycheck.annotate.export import items_of, merged
    from psycheck.annotate.membership import project_named
    from psycheck.annotate.order import order_items
    from psycheck.core.errors import BadInput
    from psycheck.models.opening import open_model
    from psycheck.scoring.answers import scores_of
    from psycheck.training.fit import train
    from psycheck.training.recipe import Recipe
    from psycheck.training.symptom_models import learnable

    db = _open_database(place, key_file)
    project_id = project_named(db, project)
    gold = merged(db, None, project_id, "majority")
    # This model only orders the queue, so that it may learn from texts that are a test for others.
    gold = replace(gold, table=gold.table.drop("split", strict=False))
    if not len(gold):
        raise BadInput("nobody has answered yet", code="next.no-answers", do="annotate some texts first")
    recipe = Recipe(start=start, dev_share=_NEXT_DEV, criterion="dev_loss", seed=seed)
    labels = [label for label in learnable(gold, recipe) if label != "uncertain"]
    if not labels:
        raise BadInput(
            f"{counted(len(gold), 'text')} with answers are too few to learn from",
            code="next.too-few",
            allowed="answers of both kinds to at least one label",
            do="annotate more texts first",
        )

    items = items_of(db, None, project_id)
    with TemporaryDirectory(prefix="psycheck-") as folder, ProgressLine() as progress:
        trained = train(gold, recipe.with_(labels=labels), Path(folder) / "model", progress=progress.training)
        model = open_model(trained.spec)
        scores = scores_of(model, items.texts)

    by_model = {f"next:{start}": (model.labels, scores)}
    moved = order_items(db, None, project_id, items.ids, by_model, how="unsure")
    learned = f"learned {', '.join(labels)} from {counted(len(gold), 'text')}"
    typer.echo(f"{learned}; {counted(moved, 'item')} moved")


@app.command("import-answers")
@opt.verb("annotate import-answers")
def import_answers_cli(
    place: str,
    file: Path,
    program: str = "label-studio",
    project: str | None = None,
    queue: str | None = None,
    key_file: Path | None = None,
) -> None:
    """Add texts with the answers that they were given in Label Studio or Argilla."""
    from psycheck.annotate.import_answers import import_answers, read_answered
    from psycheck.annotate.membership import project_named

    # The file is read before the database is opened: a damaged export changes nothing.
    answered = read_answered(file, program)
    db = _open_database(place, key_file)
    imported = import_answers(db, None, project_named(db, project), answered, queue=queue)
    added = f"{counted(imported.items, 'item')} and {counted(imported.answers, 'answer')} added"
    left_out = f"{counted(imported.left_out, 'answer')} left out"
    typer.echo(f"{added}, {left_out} (of texts that had enough, or known already)")


@app.command("export")
@opt.verb("annotate export")
def export_cli(
    place: str,
    what: str,
    out: Path,
    project: str | None = None,
    flagged: bool = False,
    split: str | None = None,
    seed: int = 0,
    force: bool = False,
    key_file: Path | None = None,
) -> None:
    """Write a corpus with merged labels, or the single answers, their evidence, or the full trail."""
    from psycheck.annotate.export import flagged_items
    from psycheck.annotate.export_files import Exporting, write_export
    from psycheck.annotate.membership import project_named

    opt.refuse_existing(out, "--out", force=force)
    db = _open_database(place, key_file)
    export = Exporting(
        db=db,
        who=None,
        project=project_named(db, project),
        what=what,
        flagged=flagged,
        split=split,
        seed=seed,
    )
    export_written = write_export(export, out)
    left_out = 0 if flagged else sum(1 for _ in flagged_items(db, None, export.project))

    typer.echo(f"{counted(export_written.rows, 'row')}: {out}")
    if export_written.splits:
        typer.echo(f"splits: {export_written.splits}")
    for file in export_written.files_beside:
        typer.echo(f"beside it: {file}")
    if left_out:
        print_notes([f"{counted(left_out, 'text')} flagged for identifying details left out (`flagged`)"])


@app.command("backup")
@opt.verb("annotate backup")
def backup_cli(place: str, file: Path, force: bool = False, key_file: Path | None = None) -> None:
    """Write the whole database, all projects, to one file; the server may go on running."""
    from psycheck.annotate.backup import backup

    opt.refuse_existing(file, "FILE", force=force)
    rows = backup(_open_database(place, key_file), file)
    typer.echo(f"{counted(rows, 'row')}: {file}")


@app.command("restore")
@opt.verb("annotate restore")
def restore_cli(place: str, file: Path, key_file: Path | None = None) -> None:
    """Fill a new folder or an empty database from a backup, also of the other kind of database."""
    from psycheck.annotate.backup import restore

    rows = restore(_open_database(place, key_file, new=True), file)
    typer.echo(f"{counted(rows, 'row')} restored into {place}")


@app.command("serve")
@opt.verb("annotate serve")
def serve_cli(
    place: str,
    host: str = "127.0.0.1",
    port: int = 8420,
    certificate: Path | None = None,
    key: Path | None = None,
    names: list[str] | None = None,
    behind_proxy: bool = False,
    insecure: bool = False,
    key_file: Path | None = None,
) -> None:
    """Serve all projects of a database to browsers until Ctrl-C."""
    from psycheck.annotate.web.serve import Serving, serve

    serving = Serving(
        host=host,
        port=port,
        certificate=certificate,
        key=key,
        behind_proxy=behind_proxy,
        insecure=insecure,
        names=tuple(names or ()),
    )
    db = _open_database(place, key_file)
    typer.echo(f"open {serving.address} (stop with Ctrl-C)")
    serve(db, serving)


@app.command("demo")
@opt.verb("annotate demo")
def demo_cli(place: str | None = None, port: int = 8420) -> None:
    """Serve two filled projects with generated texts and labels, and show a log-in for every role."""
    from tempfile import TemporaryDirectory

    from psycheck.annotate.demo_projects import fill_demo
    from psycheck.annotate.web.serve import Serving, serve

    serving = Serving(port=port)
    # Without --folder the database is thrown away at the end.
    with TemporaryDirectory(prefix="psycheck-") as folder:
        db = _open_database(place or folder, None, new=True)
        typer.echo("filling two projects with generated labels …")
        accounts = fill_demo(db)
        for name, role, password in accounts:
            typer.echo(f"  {name:6} {role:12} {password}")
        typer.echo(f"open {serving.address} (stop with Ctrl-C)")
        serve(db, serving, accounts)

"""`psycheck annotate`: projects, their items and people, and what comes out of them."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psycheck.cli import options as opt
from psycheck.cli.output import ProgressLine, print_notes
from psycheck.errors import counted

if TYPE_CHECKING:
    from psycheck.annotate.database import Database
    from psycheck.corpora.columns import Columns

app = typer.Typer(help="Annotate texts with several people.", no_args_is_help=True, rich_markup_mode=None)


def _opened(place: str, key_file: Path | None, *, new: bool = False) -> "Database":
    from psycheck.annotate.database import database_url, open_database, read_key

    return open_database(database_url(place), read_key(key_file), new=new)


def _print_invitation(token: str, who: str) -> None:
    typer.echo(f"invitation for {who}, for one person within 7 days: /invitation/{token}")


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
    settings, text, graph = read_project(project)
    if key_file is not None:
        make_key(key_file)
    db = _opened(place, key_file, new=True)
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
    from psycheck.annotate.transfer import import_corpus, reasons_in
    from psycheck.corpora.open import corpus_path, corpus_plan, open_corpus

    plan = corpus_plan(corpus, columns, split, format_)
    opened, path = open_corpus(plan), corpus_path(plan)
    print_notes(opened.notes, opened.name)
    reasons = {} if path is None or not path.is_file() else reasons_in(path, columns, format_)
    db = _opened(place, key_file)
    of = project_named(db, project)
    done = import_corpus(db, None, of, opened, kind=kind, queue=queue, reasons=reasons)
    left = f"{done.known} known already, {done.elsewhere} of other queues"
    typer.echo(f"{counted(done.added, 'item')} added, {left}")


@app.command("invite")
@opt.verb("annotate invite")
def invite_cli(place: str, role: str, project: str | None = None, key_file: Path | None = None) -> None:
    """Print a one-time invitation to a project."""
    from psycheck.annotate.accounts import invite
    from psycheck.annotate.membership import project_named

    db = _opened(place, key_file)
    token = invite(db, None, project_named(db, project), role)
    _print_invitation(token, f"an {role}" if role[0] in "ao" else f"a {role}")


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
    from psycheck.models.open import open_model
    from psycheck.scoring.limits import Limits
    from psycheck.verbs.score import score_corpus

    db = _opened(place, key_file)
    of = project_named(db, project)
    items, scores = items_of(db, None, of), {}
    with ProgressLine() as progress:
        for spec in models:
            model = open_model(spec)
            limits = Limits(allow_remote=allow_remote)
            table, _, notes = score_corpus(model, items, store=store, progress=progress, limits=limits)
            print_notes(notes, model.name)
            scores[model.name] = model.labels, table.select(model.labels).fill_null(float("nan")).to_numpy()
    moved = order_items(db, None, of, items.ids, scores)
    typer.echo(f"{counted(moved, 'item')} moved")


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

    every = read_answered(file, program)
    db = _opened(place, key_file)
    done = import_answers(db, None, project_named(db, project), every, queue=queue)
    left = f"{counted(done.left_out, 'answer')} left out (of texts that had enough, or known already)"
    typer.echo(f"{counted(done.items, 'item')} and {counted(done.answers, 'answer')} added, {left}")


@app.command("export")
@opt.verb("annotate export")
def export_cli(
    place: str,
    what: str,
    out: Path,
    project: str | None = None,
    force: bool = False,
    key_file: Path | None = None,
) -> None:
    """Write a corpus with merged labels, or the single answers, their evidence, or the full trail."""
    from psycheck.annotate.export import write_export
    from psycheck.annotate.membership import project_named

    opt.refuse_existing(out, "--out", force=force)
    db = _opened(place, key_file)
    rows = write_export(db, project_named(db, project), what, out)
    typer.echo(f"{counted(rows, 'row')}: {out}")


@app.command("backup")
@opt.verb("annotate backup")
def backup_cli(place: str, file: Path, force: bool = False, key_file: Path | None = None) -> None:
    """Write the whole database, all projects, to one file; the server may go on running."""
    from psycheck.annotate.backup import backup

    opt.refuse_existing(file, "FILE", force=force)
    rows = backup(_opened(place, key_file), file)
    typer.echo(f"{counted(rows, 'row')}: {file}")


@app.command("restore")
@opt.verb("annotate restore")
def restore_cli(place: str, file: Path, key_file: Path | None = None) -> None:
    """Fill a new folder or an empty database from a backup, also of the other kind of database."""
    from psycheck.annotate.backup import restore

    rows = restore(_opened(place, key_file, new=True), file)
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

    serving = Serving(host, port, certificate, key, behind_proxy, insecure, tuple(names or ()))
    db = _opened(place, key_file)
    typer.echo(f"open {serving.address} (stop with Ctrl-C)")
    serve(db, serving)


@app.command("demo")
@opt.verb("annotate demo")
def demo_cli(place: str | None = None, port: int = 8420) -> None:
    """Serve two filled projects with generated texts and labels, and show a log-in for every role."""
    from tempfile import TemporaryDirectory

    from psycheck.annotate.demo import fill_demo
    from psycheck.annotate.web.serve import Serving, serve

    serving = Serving(port=port)
    with TemporaryDirectory(prefix="psycheck-") as folder:
        db = _opened(place or folder, None, new=True)
        typer.echo("filling two projects with generated labels …")
        accounts = fill_demo(db)
        for name, role, password in accounts:
            typer.echo(f"  {name:6} {role:12} {password}")
        typer.echo(f"open {serving.address} (stop with Ctrl-C)")
        serve(db, serving, accounts)

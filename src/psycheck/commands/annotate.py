"""`psycheck annotate`: projects, their items and people, and what comes out of them."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psycheck.commands import options as opt
from psycheck.commands.annotate_database import open_database_at, print_invitation
from psycheck.commands.annotate_order import next_cli, order_cli
from psycheck.commands.annotate_upkeep import (
    edit_cli,
    end_cli,
    erase_cli,
    invitations_cli,
    invite_cli,
    member_cli,
)
from psycheck.commands.console import print_notes
from psycheck.core.errors import counted

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns

app = typer.Typer(help="Annotate texts with several people.", no_args_is_help=True, rich_markup_mode=None)


@app.command("new")
@opt.verb("annotate new")
def new_cli(place: str, project: Path | None = None, key_file: Path | None = None) -> None:
    """Create a project, and the database if there is none; without a project file, print an example."""
    from psycheck.annotate.accounts import invite
    from psycheck.annotate.encryption_key import make_key
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
    db = open_database_at(place, key_file, new=True)
    create_project(db, None, settings, text, graph)

    typer.echo(f"project '{settings.name}' created")
    typer.echo(f"import its items: psycheck annotate import {place} CORPUS")
    print_invitation(invite(db, None, None, "owner"), "an owner of the server")
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
    from psycheck.annotate.imported_files import columns_for, reasons_in
    from psycheck.annotate.membership import project_named
    from psycheck.annotate.transfer import import_corpus
    from psycheck.corpora.opening import corpus_plan, open_corpus

    db = open_database_at(place, key_file)
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


app.command("invite")(invite_cli)
app.command("invitations")(invitations_cli)
app.command("member")(member_cli)
app.command("edit")(edit_cli)
app.command("end")(end_cli)
app.command("erase")(erase_cli)
app.command("order")(order_cli)
app.command("next")(next_cli)


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
    db = open_database_at(place, key_file)
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
    from psycheck.annotate.export_files import Exporting, write_export
    from psycheck.annotate.exported_evidence import flagged_items
    from psycheck.annotate.membership import project_named

    opt.refuse_existing(out, "--out", force=force)
    db = open_database_at(place, key_file)
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
    if export_written.off_topic:
        off_topic = counted(export_written.off_topic, "text")
        print_notes([f"{off_topic} annotated as off topic left out (`flagged`)"])
    if left_out:
        print_notes([f"{counted(left_out, 'text')} flagged for identifying details left out (`flagged`)"])


@app.command("backup")
@opt.verb("annotate backup")
def backup_cli(place: str, file: Path, force: bool = False, key_file: Path | None = None) -> None:
    """Write the whole database, all projects, to one file; the server may go on running."""
    from psycheck.annotate.backup import backup

    opt.refuse_existing(file, "FILE", force=force)
    rows = backup(open_database_at(place, key_file), file)
    typer.echo(f"{counted(rows, 'row')}: {file}")


@app.command("restore")
@opt.verb("annotate restore")
def restore_cli(place: str, file: Path, key_file: Path | None = None) -> None:
    """Fill a new folder or an empty database from a backup, also of the other kind of database."""
    from psycheck.annotate.restore import restore

    rows = restore(open_database_at(place, key_file, new=True), file)
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
    db = open_database_at(place, key_file)
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
        db = open_database_at(place or folder, None, new=True)
        typer.echo("filling two projects with generated labels …")
        accounts = fill_demo(db)
        for name, role, password in accounts:
            typer.echo(f"  {name:6} {role:12} {password}")
        typer.echo(f"open {serving.address} (stop with Ctrl-C)")
        serve(db, serving, accounts)

"""A zip archive that holds one table."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile, ZipInfo

from psycheck.core.errors import BadInput, PsycheckError, check_size, nearest
from psycheck.io.streams import bad_file
from psycheck.io.tables import Table, read_table, readable_name

_ENCRYPTED = 0x1  # the flag of a member that needs a password


def read_archive(path: Path) -> Table:
    """Read the only table of a zip archive; other files in it are left alone."""
    try:
        with ZipFile(path) as archive, TemporaryDirectory() as folder:
            member = _only_table(archive, path)
            check_size(member.file_size, str(path))
            # Under a name of ours: that in the archive may lead out of the folder.
            unpacked = Path(folder) / Path(member.filename).name
            member.filename = unpacked.name
            archive.extract(member, folder)
            table = _read_unpacked(unpacked, path)
    except BadZipFile:
        raise bad_file(
            path=path,
            what="the zip archive is damaged",
            code="file.damaged",
            do="copy it again",
        ) from None
    return replace(table, path=path)


def _only_table(archive: ZipFile, path: Path) -> ZipInfo:
    members = [member for member in archive.infolist() if _may_be_table(member)]
    if len(members) != 1:
        names = [Path(member.filename).name for member in members]
        raise bad_file(
            path=path,
            what=f"the archive holds {len(members)} tables, not one",
            code="archive.not-one-table",
            allowed=nearest("", names),
            do="unpack it, and name one of its files",
        )
    if members[0].flag_bits & _ENCRYPTED:
        raise bad_file(
            path=path,
            what="the archive needs a password",
            code="archive.encrypted",
            do="unpack it, and name the file",
        )
    return members[0]


def _may_be_table(member: ZipInfo) -> bool:
    name = Path(member.filename).name
    # macOS adds a folder with a shadow of each file.
    is_shadow = member.filename.startswith("__MACOSX") or name.startswith(".")
    is_archive = name.lower().endswith(".zip")
    return not member.is_dir() and not is_shadow and not is_archive and readable_name(name)


def _read_unpacked(unpacked: Path, path: Path) -> Table:
    """The table of the unpacked file; an error names the archive."""
    try:
        return read_table(unpacked)
    except PsycheckError as error:
        where = error.where.replace(str(unpacked), f"{path}, {unpacked.name}")
        raise BadInput(
            error.what,
            code=error.code,
            where=where,
            allowed=error.allowed,
            do=error.do,
        ) from None

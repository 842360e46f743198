"""Results on disk: never over an input, one writer at a time, whole or not at all, private to their owner."""

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from secrets import token_hex

import polars as pl

from psycheck.errors import BadInput, StoreFailure, refusal

LOCK = ".psycheck.lock"


def private_folder(folder: Path) -> list[Path]:
    """Create a folder and its parents for their owner alone; return what did not exist, innermost first."""
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(made):
        one.mkdir(0o700, exist_ok=True)
    os.scandir(folder).close()  # an error if it is a file
    return made


def refuse_overwriting(targets: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Refuse a target that is an input (by whatever path), a part of one, or a link; folders may be links."""
    known = {path: path.resolve() for path in inputs}
    for target in targets:
        place = target.resolve()
        what = "the output is a symbolic link" if target.is_symlink() and not _piped(target) else ""
        for path, source in known.items():
            if place == source or (place.exists() and source.exists() and place.samefile(source)):
                what = "the output is the input"
            elif source.is_relative_to(place) or (place.exists() and place.is_relative_to(source)):
                what = f"the output is the input, or a part of it: {path}"
        if what:
            allowed = "a new file, or one that is neither an input nor a link"
            raise BadInput(what, where=str(target), allowed=allowed, do="choose another file or folder")


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Turn the system's refusals (disk full, read-only, not a folder) into one clear error."""
    try:
        yield
    except (OSError, pl.exceptions.ComputeError) as error:
        raise StoreFailure(
            f"cannot write results: {refusal(error)}",
            where=str(place),
            allowed="a folder with free space that you may write to",
            do="free space or name another folder, then run the same command again",
        ) from error


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which the system releases even if the process is killed."""
    with writing(folder):
        made, path = private_folder(folder), folder / LOCK
        held = _held(path)
    if held is None:
        what = "another run of psycheck is writing to this folder"
        raise StoreFailure(what, where=str(folder), do="wait until it has ended, or name another folder")
    try:
        _remove_left(folder, "*")
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(held)
        with suppress(OSError):  # only folders that are still empty go
            for one in made:
                one.rmdir()


@contextmanager
def together(outdated: Iterable[Path] = ()) -> Iterator[Callable[[Path], Path]]:
    """A function from a file to a private part to write in its place; at the end the parts replace the files.

    All parts are on the disk before `outdated` files are removed and the first file is replaced, in the order
    in which the parts were asked for. Before that, an error or a kill leaves all files as they were.
    """
    parts: dict[Path, tuple[Path, int]] = {}

    def part_of(path: Path) -> Path:
        private_folder(path.parent)
        _remove_left(path.parent, escape(path.name))
        while (held := _held(part := path.with_name(f".{path.name}.{token_hex(4)}.part"))) is None:
            continue
        parts[path] = part, held
        return part

    try:
        yield part_of
        for _, held in parts.values():
            os.fsync(held)
        for old in outdated:
            old.unlink(missing_ok=True)
        _sync_folders(parts)
        for path, (part, _) in parts.items():
            part.replace(path)
        _sync_folders(parts)
    finally:
        for part, held in parts.values():
            part.unlink(missing_ok=True)
            os.close(held)


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """A private part of one file, which replaces it at the end; a pipe or device is written to directly."""
    with together() as part_of:
        yield path if _piped(path) else part_of(path)


def _remove_left(folder: Path, name: str) -> None:
    """Remove parts whose writers were killed: nobody holds them."""
    for left in folder.glob(f".{name}.{'[0-9a-f]' * 8}.part"):
        with suppress(OSError):  # of another user
            if (held := _held(left)) is not None:
                left.unlink()
                os.close(held)


def _piped(path: Path) -> bool:
    """Whether nothing can be lost by writing: /dev/stdout (also if it is a file), or a pipe."""
    named = path.parent in (Path("/dev"), Path("/dev/fd"))
    return named or (path.exists() and not path.is_file() and not path.is_dir())


def _sync_folders(paths: Iterable[Path]) -> None:
    """Wait until the names in the folders of files are on the disk."""
    for folder in {path.parent for path in paths}:
        opened = os.open(folder, os.O_RDONLY)
        os.fsync(opened)
        os.close(opened)


def _held(path: Path) -> int | None:
    """Open a file, private from its first byte, and lock it; None if another process holds it."""
    while True:
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(opened), path.stat()):
                return opened
        except BlockingIOError:
            os.close(opened)
            return None
        except FileNotFoundError:  # removed by its last holder before we had it
            pass
        os.close(opened)

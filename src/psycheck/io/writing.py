"""Results on disk: never over an input, one writer at a time, whole or not at all, private to their owner."""

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from secrets import token_hex

import polars as pl

from psycheck.core.errors import BadInput, StoreFailure, refusal

LOCK = ".psycheck.lock"
_HEX_DIGIT = "[0-9a-f]"


def private_folder(folder: Path) -> list[Path]:
    """Create a folder and its parents for their owner alone; return what did not exist, innermost first."""
    # Each by itself: `mkdir(parents=True)` would create the parents for everybody to read.
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(0o700, exist_ok=True)
    os.scandir(folder).close()  # an error if it is a file
    return missing


def refuse_overwriting(targets: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Refuse a target that is an input (by whatever path), a part of one, or a link; folders may be links."""
    input_paths = list(inputs)
    for target in targets:
        for path in input_paths:
            _refuse_input(target, path)
        if target.is_symlink() and not _is_pipe_or_device(target):
            raise _would_overwrite("the output is a symbolic link", target, code="output.is-a-link")


def _refuse_input(target: Path, path: Path) -> None:
    resolved_target = target.resolve()
    resolved_input = path.resolve()
    if _is_same_file(resolved_target, resolved_input):
        raise _would_overwrite("the output is the input", target, code="output.is-input")
    if _overlap(resolved_target, resolved_input):
        raise _would_overwrite(
            f"the output is the input, or a part of it: {path}",
            target,
            code="output.overlaps-input",
        )


def _would_overwrite(what: str, target: Path, *, code: str) -> BadInput:
    return BadInput(
        what=what,
        code=code,
        where=str(target),
        allowed="a new file, or one that is neither an input nor a link",
        do="choose another file or folder",
    )


def _is_same_file(first: Path, second: Path) -> bool:
    """Whether two paths lead to one file, be it by a hard link."""
    if first == second:
        return True
    return first.exists() and second.exists() and first.samefile(second)


def _overlap(target: Path, source: Path) -> bool:
    """Whether the input lies in the target, or an existing target in the input."""
    return source.is_relative_to(target) or (target.exists() and target.is_relative_to(source))


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Turn the system's refusals (disk full, read-only, not a folder) into one clear error."""
    try:
        yield
    except (OSError, pl.exceptions.ComputeError) as error:
        raise StoreFailure(
            what=f"cannot write results: {refusal(error)}",
            code="output.cannot-write",
            where=str(place),
            allowed="a folder with free space that you may write to",
            do="free space or name another folder, then run the same command again",
        ) from error


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which the system releases even if the process is killed."""
    with writing(folder):
        new_folders = private_folder(folder)
        lock_path = folder / LOCK
        lock = _locked(lock_path)
    if lock is None:
        raise StoreFailure(
            what="another run of psycheck is writing to this folder",
            code="output.locked",
            where=str(folder),
            do="wait until it has ended, or name another folder",
        )

    try:
        _remove_abandoned_parts(folder, "*")
        yield
    finally:
        lock_path.unlink(missing_ok=True)
        os.close(lock)
        with suppress(OSError):  # only folders that are still empty go
            for path in new_folders:
                path.rmdir()


@dataclass(frozen=True, slots=True)
class _Part:
    """A file that is being written: it gets the name of another when it is whole."""

    path: Path
    descriptor: int


@contextmanager
def together(outdated: Iterable[Path] = ()) -> Iterator[Callable[[Path], Path]]:
    """A function from a file to a private part to write in its place; at the end the parts replace the files.

    All parts are on the disk before `outdated` files are removed and the first file is replaced, in the order
    in which the parts were asked for. Before that, an error or a kill leaves all files as they were.
    """
    parts: dict[Path, _Part] = {}

    def part_of(path: Path) -> Path:
        private_folder(path.parent)
        _remove_abandoned_parts(path.parent, escape(path.name))
        parts[path] = _new_part(path)
        return parts[path].path

    try:
        yield part_of
        _replace_files(parts, outdated)
    finally:
        for part in parts.values():
            part.path.unlink(missing_ok=True)
            os.close(part.descriptor)


def _new_part(path: Path) -> _Part:
    """A locked file beside `path`, under a name that no other process uses."""
    while True:
        part_path = path.with_name(f".{path.name}.{token_hex(4)}.part")
        descriptor = _locked(part_path)
        if descriptor is not None:
            return _Part(part_path, descriptor)


def _replace_files(parts: dict[Path, _Part], outdated: Iterable[Path]) -> None:
    """Give the parts the names of their files, once the content of all of them is on the disk."""
    for part in parts.values():
        os.fsync(part.descriptor)
    for path in outdated:
        path.unlink(missing_ok=True)
    # The old files must be gone on the disk before a new one appears: a reader never sees a mixture.
    _sync_folders(parts)
    for path, part in parts.items():
        part.path.replace(path)
    _sync_folders(parts)


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """A private part of one file, which replaces it at the end; a pipe or device is written to directly."""
    with together() as part_of:
        yield path if _is_pipe_or_device(path) else part_of(path)


def _remove_abandoned_parts(folder: Path, name: str) -> None:
    """Remove parts whose writers were killed: no process holds their lock."""
    for path in folder.glob(f".{name}.{_HEX_DIGIT * 8}.part"):
        with suppress(OSError):  # of another user
            descriptor = _locked(path)
            if descriptor is not None:
                path.unlink()
                os.close(descriptor)


def _is_pipe_or_device(path: Path) -> bool:
    """Whether nothing can be lost by writing: /dev/stdout (also if it is a file), or a pipe."""
    if path.parent in (Path("/dev"), Path("/dev/fd")):
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


def _sync_folders(paths: Iterable[Path]) -> None:
    """Wait until the names in the folders of files are on the disk."""
    for folder in {path.parent for path in paths}:
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def _locked(path: Path) -> int | None:
    """Open a file, private from its first byte, and lock it; None if another process holds it."""
    while True:
        # O_NOFOLLOW: a link that somebody put in this place must not lead to another file.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The lock is of the file that was opened; by now another one may have its name.
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        except FileNotFoundError:  # its last holder removed it before we had the lock
            pass
        os.close(descriptor)

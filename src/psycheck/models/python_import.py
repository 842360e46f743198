"""Importing a user's Python code; an error in it names the line at fault."""

import importlib
import importlib.util
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from types import ModuleType

from psycheck.core.errors import BadInput, ModelFailure, neighbours
from psycheck.models.fingerprint import hashed

# Frames of these places are not the user's code.
_LIBRARIES = (
    sysconfig.get_path("stdlib"),
    sysconfig.get_path("purelib"),
    str(Path(__file__).parent),
    "<frozen",
)


def import_module(name: str, first_folders: list[Path]) -> ModuleType:
    """Import a module from the first of these folders that has it, else from the current folder."""
    folders = [*first_folders, Path.cwd()]
    places = [str(folder.resolve()) for folder in folders]
    # In front, so that the user's module is found before an installed one of the same name.
    further_places = [place for place in sys.path if place not in places]
    sys.path[:] = [*places, *further_places]
    importlib.invalidate_caches()

    try:
        with running_user_code(f"importing '{name}'", name):
            return importlib.import_module(name)
    except ModelFailure as failure:
        error = failure.__cause__
        if not isinstance(error, ModuleNotFoundError) or not _is_part_of(error.name, name):
            raise  # the module is there, and fails
        searched = [*map(str, first_folders), "the current folder and the installed packages"]
        files = chain.from_iterable(folder.glob("*.py") for folder in folders)
        raise BadInput(
            f"there is no Python module '{name}'",
            code="model.no-module",
            where=" and ".join(searched),
            allowed=neighbours(name, {file.stem for file in files}),
        ) from error


def _is_part_of(missing: str | None, name: str) -> bool:
    """True if the module that is missing is the one to import, or a package that holds it."""
    return bool(missing) and f"{name}.".startswith(f"{missing}.")


def import_file(path: Path) -> ModuleType:
    """Import a file as a module of its own; its folder can be imported from, too."""
    if not path.is_file():
        siblings = [sibling.name for sibling in path.parent.glob("*.py")]
        raise BadInput(
            f"there is no file '{path}'",
            code="model.file-not-there",
            allowed=neighbours(path.name, siblings),
        )
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    importlib.invalidate_caches()

    # A unique name, so that the file does not replace an installed module of the same name.
    full_path = path.resolve()
    mark = hashed(str(full_path))[:8]
    name = f"psycheck_user_{mark}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, full_path)
    if spec is None or spec.loader is None:
        raise BadInput(f"'{path}' cannot be imported", code="model.cannot-import")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with running_user_code(f"importing '{path}'", str(path)):
            spec.loader.exec_module(module)
    except ModelFailure:
        del sys.modules[name]
        raise
    return module


@contextmanager
def running_user_code(what: str, name: str, do: str = "") -> Iterator[None]:
    """Run code of the user; an error names the last line of it in the traceback, or else `name`."""
    try:
        yield
    # A script that ends with sys.exit() would end the audit.
    except (Exception, SystemExit) as error:
        reason = type(error).__name__
        if str(error) and not do:  # without another remedy, the message says what to fix
            reason += f": {error}"
        raise ModelFailure(
            f"{what} fails ({reason})",
            code="model.code-fails",
            where=_place_of(error) or name,
            do=do or "fix it there, then try again",
        ) from error


def _place_of(error: BaseException) -> str:
    """The file and line of the user's code where an error arose, "" if there is none."""
    # A syntax error has no frame in the file that has it.
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    user_frames = [frame for frame in frames if not frame.filename.startswith(_LIBRARIES)]
    if not user_frames:
        return ""
    return f"{user_frames[-1].filename}, line {user_frames[-1].lineno}"

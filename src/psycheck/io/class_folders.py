"""A folder with a folder of text files for each class, as many corpora are published."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from psycheck.core.errors import check_size
from psycheck.io.encodings import LineDecoder
from psycheck.io.streams import bad_file, file_bytes
from psycheck.io.tables import Table

_TEXT_FILE = ".txt"
LABEL = "label"
_MOST_CLASSES = 100


def is_class_folder(path: Path) -> bool:
    """Whether a folder has folders with text files in them, and none beside them."""
    return not any(path.glob(f"*{_TEXT_FILE}")) and next(_files(path), None) is not None


def read_class_folder(path: Path) -> Table:
    """One row per file: the text, the label (its folder), the id (its name), and a split if there is one.

    FOLDER/CLASS/NAME.txt or FOLDER/SPLIT/CLASS/NAME.txt.
    """
    files = sorted(_files(path))
    check_size(sum(file.stat().st_size for file in files), str(path))

    places = [file.relative_to(path).parts for file in files]
    depths = {len(place) for place in places}
    if len(depths) > 1:
        raise bad_file(
            path=path,
            what="some text files are in folders, others in folders of these",
            code="classes.mixed-depths",
            allowed="FOLDER/CLASS/NAME.txt or FOLDER/SPLIT/CLASS/NAME.txt for all files",
        )

    columns: dict[str, list[str]] = {
        "id": ["/".join(place).removesuffix(_TEXT_FILE) for place in places],
        "text": list(map(_text_of, files)),
        LABEL: [place[-2] for place in places],
    }
    if depths == {3}:
        columns["split"] = [place[0] for place in places]
    classes = sorted(set(columns[LABEL]))
    if len(classes) > _MOST_CLASSES:
        raise bad_file(
            path=path,
            what=f"there are {len(classes)} folders of texts, too many to be classes",
            code="classes.too-many",
            do="write a table with a row per text",
        )
    note = f"Guessed that the {len(classes)} folders of text files are classes."
    return replace(Table(path=path, columns=columns), notes=(note,))


def _files(path: Path) -> Iterator[Path]:
    """The text files in the folders of a folder, or in folders of these."""
    for pattern in (f"*/*{_TEXT_FILE}", f"*/*/*{_TEXT_FILE}"):
        for file in path.glob(pattern):
            if file.is_file() and not file.name.startswith("."):
                yield file


def _text_of(file: Path) -> str:
    return LineDecoder().decode(file_bytes(file).removeprefix(b"\xef\xbb\xbf")).strip()

"""Depression-Reddit (Pirina and Çöltekin, 2018): posts of a depression forum, and of other forums.

The authors' repository holds one text file a post, named by its writer, in `reddit_depression/` and
`reddit_non_depression/` (UTF-8, or Latin-1 as their own program reads them). The version with splits in the
IMHI benchmark is one table with `text`, `depression` (or `label`) and `split`, called
`depression_reddit.csv`.
"""

from psycheck.corpora.known.release import Item, Loaded, Release, load_table

_FOLDERS = {"reddit_depression": 1.0, "reddit_non_depression": 0.0}


def load(release: Release) -> Loaded:
    """The posts of the table, or those of the two folders."""
    homes = [release.path, release.path / "Data_Collector"]
    home = next((home for home in homes if all((home / name).is_dir() for name in _FOLDERS)), None)
    if home is None:
        return load_table(release)
    items = []
    for folder, mark in _FOLDERS.items():
        paths = sorted(p for p in (home / folder).glob("*.txt") if not p.name.startswith("."))
        if not paths:
            raise release.missing(f"{folder}/*.txt")
        items += [
            Item(
                f"{folder}/{path.stem}",
                _decoded(release.content(path)).strip(),
                {"depression": mark},
                author=path.stem,
                groups={"source": folder},
            )
            for path in paths
        ]
    return Loaded(items)


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")

"""Write the reference pages that are made from the code: `python -m tools.reference_pages`.

The page of the command line is written by typer, which `make docs` calls.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from psycheck.core import measure
from psycheck.corpora.suspicious_figures import LIMITS, TABLE
from psycheck.llm import prompt_reference
from psycheck.report import headlines

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
# These take minutes on a large corpus, so that only `compare --warn` looks for them.
SLOW_CAUTIONS = ("author_folds", "personal_data", "label_noise")

_CAUTIONS_HEAD = """# Cautions

`compare`, `train` and `audit` look for these in every split of a corpus, and print each with its n, its
consequence in one sentence, a command and up to 50 ids (`cautions.parquet`). Those marked * take minutes
and need `psycheck compare CORPUS --warn`. No caution means that none of these weaknesses was found, not
that the corpus is sound. This page is made from `corpora/cautions.toml`: `make docs`.

| caution | measures | from | why this limit | command |
|---|---|---:|---|---|
"""
_CAUTIONS_FOOT = """
Sources are group columns named {sources}. Leaks, shortcuts, names and missing labels come with one
`psycheck clean` that has all the options needed, followed by `psycheck redact` if there are names ([what
each does](../how-to/corpora.md#fix-what-a-caution-found)). The command repeats your column options, so you
can paste it.

A caution names the word behind it only if the word is common: in at least 20 texts, by at least 5 authors
where authors are known, and everyday English or written in lower case in 20 texts. Handles, tags, names in
our lists and words with digits are never named. Otherwise it says "one word"; `--show-texts` names it.

Looking takes about 1 s for 2,000 texts, 3.5 s for 20,000 and 3 s for 100,000 on one core. In more than
{near_texts:,} texts near-duplicates are not looked for, and words in no more than a sample of {texts:,}.
"""


def cautions() -> str:
    """The text of docs/reference/cautions.md."""
    rows = [_caution_row(name, entry) for name, entry in TABLE.items() if name != "limits"]
    sources = ", ".join(f"`{source}`" for source in LIMITS["sources"])
    foot = _CAUTIONS_FOOT.format(sources=sources, near_texts=LIMITS["near_texts"], texts=LIMITS["texts"])
    return "".join([_CAUTIONS_HEAD, *rows, foot])


def _caution_row(name: str, entry: Mapping[str, Any]) -> str:
    mark = "*" if name in SLOW_CAUTIONS else ""
    remedy = " and ".join(_remedies(entry)) or "–"
    return f"| `{name}`{mark} | {entry['measures']} | {entry['from']} | {entry['reason']} | {remedy} |\n"


def _remedies(entry: Mapping[str, Any]) -> Iterator[str]:
    """The options of `clean`, or the command, in code marks."""
    for option in entry.get("clean", ()):
        yield f"`clean {option}`".replace("{word}", "WORD").replace("{label}", "LABEL")
    if command := entry.get("command"):
        words = command.removeprefix("psycheck ").replace("{corpus}", "CORPUS").replace("{learned}", "CORPUS")
        yield f"`{words}`"


PAGES: Mapping[str, Callable[[], str]] = {
    "measures.md": measure.reference,
    "headlines.md": headlines.reference,
    "prompts.md": prompt_reference.reference,
    "cautions.md": cautions,
}


if __name__ == "__main__":
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), "utf-8")

"""Open a known corpus by its name: `NAME:PATH` wherever a corpus is named."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from psycheck.corpora.columns import Columns, split_name
from psycheck.corpora.known import (
    counselchat,
    daic_woz,
    depression_reddit,
    mimic_phenotypes,
    phm2017,
    primate,
    psysym,
    psytar,
    shen_twitter,
    smhd,
    tabular,
)
from psycheck.corpora.known.catalogue import known_corpora, known_name
from psycheck.corpora.known.release import Loaded, Release, gather
from psycheck.corpora.read import without_blank
from psycheck.corpora.typed import options_of
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, nearest

__all__ = ["known_corpora", "known_name", "open_known"]

_NO_COLUMNS = Columns()

# Corpora that are not here are plain tables, read by their entry of the catalogue.
LOADERS: Mapping[str, Callable[[Release], Loaded]] = MappingProxyType(
    {
        "daic-woz": daic_woz.utterances,
        "daic-woz-interviews": daic_woz.interviews,
        "phm2017": phm2017.load,
        "shen-twitter": shen_twitter.load,
        "psysym": psysym.load,
        "smhd": smhd.load,
        "mimic-phenotypes": mimic_phenotypes.load,
        "depression-reddit": depression_reddit.load,
        "counselchat": counselchat.load,
        "psytar": psytar.load,
        "psytar-sentences": psytar.load_sentences,
        "primate2022": primate.load,
    }
)


def open_known(
    name: str, path: str | Path, split: str | None = None, columns: Columns = _NO_COLUMNS
) -> Corpus:
    """Open a corpus of the catalogue from its released files, whole or one split of it.

    `columns` are the columns that a user named besides labels: its columns are known, so any is refused.
    """
    catalogue = known_corpora()
    if name not in catalogue:
        raise BadInput(f"there is no known corpus '{name}'", allowed=nearest(name, catalogue))
    known = catalogue[name]
    if options := options_of(columns):
        raise BadInput(
            f"{known.title} takes no {options}: its columns are known",
            where=f"{name}:{path}",
            allowed="--split NAME, --label NAME to take one of its labels",
            do="leave them out",
        )
    release = Release(known, Path(path).expanduser())
    corpus = without_blank(gather(name, LOADERS.get(name, tabular.load)(release)))
    if not len(corpus):
        raise release.wrong("these files hold no texts", str(path))
    notes = corpus.notes
    if not known.verified:
        notes = (f"The format of {known.title} could not be verified: {known.assumed}", *notes)
    corpus = replace(corpus, notes=notes, called=f"{name}:{path}")
    return corpus if split is None else corpus.part(split_name(split))

"""Cautions: reasons why a score on a corpus may mean little, such as leaks and shortcuts."""

import shlex
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from psycheck.corpora.adversarial import cross_scores, fold_groups
from psycheck.corpora.clean import personal_in
from psycheck.corpora.columns import without_options
from psycheck.corpora.mend import even_lengths, without_word
from psycheck.corpora.near import near_duplicates
from psycheck.corpora.vocabulary import FEWEST, Words, showable, showable_beginning, word_table
from psycheck.corpus import GROUP, Corpus
from psycheck.errors import BadInput, counted, library
from psycheck.finding import Finding, Interval
from psycheck.measures import clustered
from psycheck.measures.classification import BoolArray, auc, auc_influence, classes, classification_intervals
from psycheck.measures.clustered import Clusters
from psycheck.measures.distance import Figure
from psycheck.text.words import WORD

MOST_IDS = 50
_PERSONAL = "personal_data"
_PERSONS = frozenset({"NAME", "EMAIL", "PHONE", "NUMBER"})
_TABLE: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("cautions.toml").read_text("utf-8"))
_LIMITS: Mapping[str, Any] = _TABLE["limits"]
_Word = str | None
_NOT_FOR_TRAIN = ("--time", "--group", "--split")


@dataclass(frozen=True, slots=True)
class Caution:
    """One reason to mistrust scores on a corpus: the figure, what it means, and what to do.

    `command` is empty if no command helps; `clean` are the options of `psycheck clean` that do.
    """

    name: str
    corpus: str
    label: str
    figure: float
    interval: Interval | None
    n: int
    sentence: str
    command: str
    ids: tuple[str, ...] = ()
    clean: tuple[str, ...] = ()

    def finding(self) -> Finding:
        """The caution as a finding, for a run."""
        where = {"audit": "compare", "part": "caution", "corpus": self.corpus, "label": self.label}
        where |= {"caution": self.name, "sentence": self.sentence, "command": self.command}
        place = {key: value for key, value in where.items() if value or key == "command"}
        return Finding("caution", self.figure, self.n, self.interval, place, {}, self.ids, ("caution",))


@dataclass(frozen=True, slots=True)
class _Look:
    """A corpus, what the user types for it, whether all its words may be shown, and the words of a sample.

    `label` is the one that is looked at, "" for cautions about the whole corpus.
    """

    corpus: Corpus
    typed: str
    show: bool
    words: Words
    label: str = ""

    def cautions(
        self, name: str, figure: Figure, *, places: Sequence[int] = (), what: str = "", word: _Word = None
    ) -> Iterator[Caution]:
        """The caution of a figure that reaches its limit; `places` are its texts, `word` is "" if hidden.

        A case of its own stands after a point in `name`.
        """
        name, _, case = name.partition(".")
        entry = {**_TABLE[name], **(_TABLE[name][case] if case else {})}
        if figure.value < entry["from"]:
            return
        hidden = word == "" and "hidden_command" in entry
        if word is not None and "shown" in entry:
            what = entry["hidden"] if hidden else entry["shown"].format(word=word)
        # The option that `train` needs where a corpus has no dev split.
        cut = "" if "dev" in self.corpus.strings("split") else " --dev-share 0.1"
        typed = {
            "corpus": self.typed,
            "learned": without_options(self.typed, _NOT_FOR_TRAIN) + cut,
            "word": shlex.quote(word or ""),
            "label": shlex.quote(self.label),
        }
        figures = {"figure": figure.value, "percent": 100 * figure.value, "n": figure.n}
        sentence = entry["sentence"].format(label=self.label, what=what, **figures)
        clean = () if hidden else tuple(option.format_map(typed) for option in entry.get("clean", ()))
        command = entry["hidden_command"] if hidden else entry.get("command", "")
        ids = self.corpus.ids if places else []
        ends = None if figure.interval is None or isnan(figure.interval[0]) else figure.interval
        advice = sentence, command.format_map(typed), tuple(ids[i] for i in places[:MOST_IDS]), clean
        yield Caution(name, self.corpus.name, self.label, figure.value, ends, figure.n, *advice)

    def share(self, name: str, places: Sequence[int], among: BoolArray | None = None) -> Iterator[Caution]:
        """The caution of texts that are a large share of the texts, or of those `among` them, (n,)."""
        part = np.isin(np.arange(len(self.corpus)), places)
        figure = _share(self.corpus, part, np.ones(len(part), np.bool_) if among is None else among)
        yield from self.cautions(name, figure, places=places)


def _share(corpus: Corpus, part: BoolArray, among: BoolArray) -> Figure:
    """The share of some texts that are part of them, both (n,), with an interval clustered by author."""
    n = int(among.sum())
    interval = clustered.ratio_interval(part & among, among, Clusters.of(corpus.units()))
    return Figure(int((part & among).sum()) / max(n, 1), interval, n)


def warnings_of(
    corpus: Corpus, *, called: str = "", seed: int = 0, show: bool = False
) -> tuple[Caution, ...]:
    """Every caution about a corpus; `called` is what the user types for it, with options, for the commands.

    A sentence contains a word of the corpus only if the word is common (`showable`), or with `show`.
    Needs the extra 'compare' (near-duplicates, label noise); `cheap_cautions` does not.
    """
    some = corpus.sample(_LIMITS["all_texts"], seed)
    look = _Look(corpus, called or corpus.called or corpus.name, show, word_table(some))
    found, copies = list(_splits(look)), _plain(corpus)
    if _split_of(corpus) is not None:
        near = near_duplicates(corpus.texts, seed=seed)
        found += _shared(look, "near_duplicates_across_splits", copies, near)
    else:
        first = {copy: i for i, copy in reversed([*enumerate(copies)])}
        repeated = [i for i, copy in enumerate(copies) if copy and first[copy] != i]
        found += look.share("repeated_texts", repeated)
    few = corpus.sample(_LIMITS["texts"], seed)
    kinds = personal_in(few).kinds
    persons = [i for i, id_ in enumerate(few.ids) if _PERSONS & set(kinds.get(id_, ()))]
    found += replace(look, corpus=few).share(_PERSONAL, persons)
    for label in corpus.labels:
        own = replace(look, label=label)
        found += [*_label(own), *_keyword(own), *_debris(own), *_conflicts(own, copies)]
        found += _of_authors(own) if _split_of(corpus) is None else ()
        found += _learned(replace(own, corpus=some), seed)
    found += _missing(look)
    return _combined(found, look.typed)


def cheap_cautions(
    corpus: Corpus, *, called: str = "", seed: int = 0, show: bool = False
) -> tuple[Caution, ...]:
    """The cautions found within a second: authors and copies across splits, a word or the length, imbalance.

    Words and lengths are looked up in at most 5,000 texts, drawn with `seed`; splits and classes in all.
    """
    words = word_table(corpus.sample(_LIMITS["texts"], seed))
    look = _Look(corpus, called or corpus.called or corpus.name, show, words)
    own = (caution for label in corpus.labels for caution in _label(replace(look, label=label)))
    return _combined([*_splits(look), *own], look.typed)


def _combined(cautions: Sequence[Caution], typed: str) -> tuple[Caution, ...]:
    """Give all cautions that a rewriting mends one and the same command, which mends them all."""
    options = dict.fromkeys(option for caution in cautions for option in caution.clean)
    if not options:
        return tuple(cautions)
    command = f"psycheck clean {typed} {' '.join(options)} --out mended.csv"
    if any(caution.name == _PERSONAL for caution in cautions):
        command += " && psycheck redact mended.csv --out redacted.csv"
    return tuple(replace(c, command=command) if c.clean or c.name == _PERSONAL else c for c in cautions)


def _plain(corpus: Corpus) -> list[str]:
    """Each text as it is compared: its words in lower case."""
    words = pl.col("text").str.to_lowercase().str.extract_all(WORD).list.join(" ")
    return corpus.table.select(words)["text"].to_list()


def _splits(look: _Look) -> Iterator[Caution]:
    """Authors and copies that are in more than one split."""
    yield from _shared(look, "authors_across_splits", look.corpus.strings("author"))
    yield from _shared(look, "duplicates_across_splits", _plain(look.corpus))


def _shared(
    look: _Look, name: str, keys: Sequence[str | None], pairs: Sequence[tuple[int, int]] = ()
) -> Iterator[Caution]:
    """Texts outside train whose key, or a key paired with it, occurs in another split too."""
    splits = _split_of(look.corpus)
    if splits is None:
        return
    where: dict[str | None, set[str]] = {}
    for key, split in zip(keys, splits, strict=True):
        where.setdefault(key, set()).add(split)
    # A pair names one text of several copies: what holds for it holds for all of them.
    reached = {key: set(own) for key, own in where.items()}
    for a, b in pairs:
        reached[keys[a]] |= where[keys[b]]
        reached[keys[b]] |= where[keys[a]]
    # Models learn from "train", or else from the largest split.
    home = "train" if "train" in splits else Counter(splits).most_common(1)[0][0]
    outside = np.array(splits) != home
    leaked = [i for i in np.flatnonzero(outside).tolist() if (key := keys[i]) and len(reached[key]) > 1]
    yield from look.share(name, leaked, outside)


def _split_of(corpus: Corpus) -> list[str] | None:
    """The split of each text; None where there is one split or none."""
    splits = ["none" if split is None else split for split in corpus.strings("split")]
    return splits if len(set(splits)) > 1 else None


def _label(look: _Look) -> Iterator[Caution]:
    """The cheap cautions about one label: a word, the length, the share of the larger class."""
    yes, no = _classes(look.words.corpus, look.label)
    word, shown = None, False
    if _enough(yes, no) and (best := _most_telling(look.words.table, yes, no, either_way=True)):
        rows = look.words.table.filter(pl.col("word") == best[0])["row"].to_numpy()
        figure = _told_by(look, np.isin(np.arange(len(yes)), rows))
        if figure.value >= _TABLE["single_word"]["from"]:
            word = best[0]
            shown = look.show or showable(word, look.words)
            yield from look.cautions("single_word", figure, word=word * shown)
    yield from _length(look, word, shown=shown)
    ones, zeros = _classes(look.corpus, look.label)
    larger = ones if ones.sum() >= zeros.sum() else zeros
    yield from look.cautions("imbalance", _share(look.corpus, larger, ones | zeros))


def _told_by(look: _Look, holds: BoolArray) -> Figure:
    """The balanced accuracy of telling a label by what some texts hold, of either class."""
    yes, no = _classes(look.words.corpus, look.label)
    gap = float(holds[yes].mean() - holds[no].mean())
    units = Clusters.of(look.words.corpus.units())
    ends = clustered.difference_interval((holds & yes, yes), (holds & no, no), units)
    low, high = sorted(0.5 + (end if gap >= 0 else -end) / 2 for end in ends)
    return Figure(0.5 + abs(gap) / 2, (low, high), int((yes | no).sum()))


def _debris(look: _Look) -> Iterator[Caution]:
    """Remains of a wrong decoding or of HTML that one class has more often than the other."""
    if not _enough(*_classes(look.words.corpus, look.label)):
        return
    texts = look.words.corpus.table["text"]
    whole, bare = (texts.str.contains(_LIMITS[kind]).to_numpy() for kind in ("debris", "bare_debris"))
    figure = _told_by(look, whole | bare)
    if figure.interval and figure.interval[0] > 0.5:
        kind = "encoding_debris" if whole.sum() >= bare.sum() else "encoding_debris.bare"
        yield from look.cautions(kind, figure)


def _conflicts(look: _Look, copies: Sequence[str]) -> Iterator[Caution]:
    """Copies of one text with different annotations."""
    yes, no = _classes(look.corpus, look.label)
    ones, zeros = ({copy for copy, is_in in zip(copies, side, strict=True) if is_in} for side in (yes, no))
    both = (ones & zeros) - {""}
    places = [i for i in np.flatnonzero(yes | no).tolist() if copies[i] in both]
    yield from look.share("conflicting_labels", places, yes | no)


def _of_authors(look: _Look) -> Iterator[Caution]:
    """How often two texts of one author have the same annotation, beyond chance (kappa)."""
    authors = np.array([who or "" for who in look.corpus.strings("author")])
    yes, no = _classes(look.corpus, look.label)
    known = (authors != "") & (yes | no)
    y, clusters = yes[known].astype(np.float64), Clusters.of(authors[known])
    ones, sizes = clusters.sums(y)[clusters.codes], clusters.sums(np.ones(len(y)))[clusters.codes]
    some = sizes > 1
    if not _enough(y[some] == 1, y[some] == 0):
        return
    same = (np.where(y == 1, ones, sizes - ones) - 1)[some] / (sizes - 1)[some]
    share = float(y[some].mean())
    chance = share**2 + (1 - share) ** 2
    low, high = clustered.ratio_interval(same, np.ones(len(same)), clusters.at(some))
    kappa, *ends = ((one - chance) / (1 - chance) for one in (float(same.mean()), low, high))
    figure = Figure(kappa, (ends[0], ends[1]), len(same))
    yield from look.cautions("label_of_author", figure, what=f"{100 * same.mean():.0f} %")


def _most_telling(
    table: pl.DataFrame, yes: BoolArray, no: BoolArray, *, either_way: bool = False
) -> tuple[str, int, int] | None:
    """The word that the largest share of texts annotated 1 holds beyond that of others, and how many of each.

    Words in few texts do not count; with `either_way` a word may also be one of the texts annotated 0.
    """
    marks = pl.DataFrame({"row": np.arange(len(yes), dtype=np.uint32), "yes": yes, "no": no})
    gap = pl.col("yes") / int(yes.sum()) - pl.col("no") / max(int(no.sum()), 1)
    counts = table.join(marks, on="row").group_by("word").agg(pl.col("yes", "no").sum().cast(pl.Int64))
    ranked = counts.filter(pl.col("yes") + pl.col("no") >= FEWEST).sort(
        gap.abs() if either_way else gap, "word", descending=[True, False]
    )
    return ranked.row(0) if len(ranked) else None


def _length(look: _Look, word: _Word, *, shown: bool) -> Iterator[Caution]:
    """The caution about the length, with what helps: first without a word that tells the label as well."""
    if (figure := _told_by_length(look.words, look.label)) is None:
        return
    bare = look.words.corpus if word is None else without_word(look.words.corpus, word)
    name, what, typed = "length", "", None if word is None else word * shown
    if word is not None and _told_by_length(word_table(bare), look.label) is None:
        name = "length.word"
    else:
        try:
            left = _classes(even_lengths(bare, look.label), look.label)
        except BadInput:  # no text is left where the classes are made even in length
            left = np.zeros(0, np.bool_), np.zeros(0, np.bool_)
        if not _enough(*left):
            name, what, typed = "length.apart", f"{sum(int(side.sum()) for side in left):,}", None
        elif word is not None:
            name = "length.both"
    yield from look.cautions(name, figure, what=what, word=typed)


def _told_by_length(words: Words, label: str) -> Figure | None:
    """How well the number of words tells the label, an AUC; None if hardly."""
    if not _enough(*_classes(words.corpus, label)):
        return None
    targets, scores = words.corpus.targets([label])[:, 0], words.lengths / max(words.lengths.max(), 1.0)
    value = auc(targets, scores).value
    if value < 0.5:
        value, scores = 1 - value, 1 - scores
    if value < _TABLE["length"]["from"]:
        return None
    ends = classification_intervals(targets, scores, Clusters.of(words.corpus.units()))["auc"]
    return Figure(value, ends, int((~np.isnan(targets)).sum()))


def _keyword(look: _Look) -> Iterator[Caution]:
    """The beginning of a word that nearly all texts annotated 1 hold, and few others."""
    letters = _LIMITS["keyword_letters"]
    yes, no = _classes(look.words.corpus, look.label)
    ones = int(yes.sum())
    stems = (
        look.words.table.filter(pl.col("word").str.len_chars() >= letters)
        .with_columns(pl.col("word").str.slice(0, letters))
        .unique()
    )
    if ones < _LIMITS["each_class"] or (best := _most_telling(stems, yes, no)) is None:
        return
    stem, held, others = best
    elsewhere = others / max(int(no.sum()), 1)
    if held / ones >= _TABLE["keyword_label"]["from"] and elsewhere <= _LIMITS["keyword_elsewhere"]:
        shown = look.show or showable_beginning(stem, look.words)
        holds = np.isin(np.arange(len(yes)), stems.filter(pl.col("word") == stem)["row"].to_numpy())
        yield from look.cautions("keyword_label", _share(look.words.corpus, holds, yes), word=stem * shown)


def _learned(look: _Look, seed: int) -> Iterator[Caution]:
    """What a cross-validated classifier learns from authors, and the annotations that it doubts.

    Doubts are those of confident learning (Northcutt et al. 2021).
    """
    cleanlab = library("cleanlab.filter", "the search for doubtful labels", "compare")
    ones, zeros = _classes(look.corpus, look.label)
    if not _enough(ones, zeros):
        return
    known = look.corpus.only(ones | zeros)
    yes, authors = ones[ones | zeros], known.strings("author")
    targets = yes.astype(np.float64)
    scores = cross_scores(known.texts, targets, fold_groups(known.texts, authors), seed=seed)
    if np.isnan(scores).any():
        return
    if _split_of(look.corpus) is None and any(authors) and len(set(authors)) < len(authors):
        # The same where the classifier has seen other texts of the authors.
        mixed = cross_scores(known.texts, targets, fold_groups(known.texts, [None] * len(known)), seed=seed)
        units, both = Clusters.of(known.units()), (mixed, scores)
        (high, low), influences = zip(*(auc_influence(yes, one) for one in both), strict=True)
        ends = [classification_intervals(targets, one, units)["auc"] for one in both]
        interval = clustered.combined_interval((high, low), ends, (1.0, -1.0), influences, units)
        if not interval[0] <= 0:
            figure = Figure(high - low, interval, len(yes))
            yield from look.cautions("author_folds", figure, what=f"{high:.2f}, and {low:.2f}")
    if auc(targets, scores).value < _LIMITS["noise_auc"]:
        return
    both_scores, ranked = np.column_stack([1 - scores, scores]), "self_confidence"
    given = yes.astype(np.int64)
    doubted = cleanlab.find_label_issues(given, both_scores, return_indices_ranked_by=ranked, n_jobs=1)
    own = np.where(yes, scores, 1 - scores)
    sure = [int(i) for i in doubted if own[i] < _LIMITS["noise_score"]]
    yield from replace(look, corpus=known).share("label_noise", sure)


def _missing(look: _Look) -> Iterator[Caution]:
    """Whether labels are annotated depends on a split, a group or the value of another label.

    Labels that are missing in the same texts are one fact.
    """
    from scipy.stats.contingency import association, crosstab

    corpus, together = look.corpus, defaultdict[bytes, list[str]](list)
    for label in corpus.labels:
        together[np.isnan(corpus.targets([label])[:, 0]).tobytes()].append(label)
    # What it may follow: the split, each group, each other label where that is annotated.
    every = np.ones(len(corpus), np.bool_)
    columns = ["split"] * ("split" in corpus.table) + [GROUP + name for name in corpus.groups]
    sorts: list[tuple[str, Sequence[str], BoolArray]] = [
        (name.removeprefix(GROUP), corpus.table[name].fill_null("unknown").to_list(), every)
        for name in columns
    ]
    for other in corpus.labels:
        yes, no = _classes(corpus, other)
        sorts.append((f"the value of {other}", np.where(yes, "1", "0")[yes | no].tolist(), yes | no))
    for marks, labels in together.items():
        absent, strongest, what = np.frombuffer(marks, np.bool_), 0.0, ""
        if not absent.any() or absent.all():
            continue
        for name, values, known in sorts:
            missing = absent[known]
            # A kind for nearly each text (a free-text group) goes along with anything.
            if 2 <= len(set(values)) <= len(values) / 5 and 0 < missing.sum() < len(missing):
                v = float(association(crosstab(missing, np.array(values)).count, method="cramer"))
                strongest, what = max((strongest, what), (v, name), key=itemgetter(0))
        if len(labels) > 1:
            what += f", as for {counted(len(labels) - 1, 'other label')} missing in the same texts"
        figure, places = Figure(strongest, None, len(absent)), np.flatnonzero(absent).tolist()
        yield from replace(look, label=labels[0]).cautions("missing_labels", figure, what=what, places=places)


def _classes(corpus: Corpus, label: str) -> tuple[BoolArray, BoolArray]:
    """Which texts are annotated 1 and which 0, (n,) each."""
    return classes(corpus.targets([label])[:, 0])


def _enough(yes: BoolArray, no: BoolArray) -> bool:
    """Whether both classes are so large that no word parts them by chance."""
    return bool(min(yes.sum(), no.sum()) >= _LIMITS["each_class"])


def caution_table(cautions: Sequence[Caution]) -> pl.DataFrame:
    """Every id behind a caution, one per row, for the run folder."""
    rows = [(c.corpus, c.name, c.label, id_) for c in cautions for id_ in c.ids]
    columns = dict.fromkeys(("corpus", "caution", "label", "id"), pl.String)
    return pl.DataFrame(rows, schema=columns, orient="row")

"""Cautions: reasons why a score on a corpus may mean little, such as leaks and shortcuts."""

import shlex
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
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
from psycheck.errors import BadInput, MissingExtra, counted
from psycheck.finding import Finding, Interval
from psycheck.measures import clustered
from psycheck.measures.classification import BoolArray, auc, auc_influence, classification_intervals, gold
from psycheck.measures.clustered import Clusters
from psycheck.measures.intervals import wilson
from psycheck.model import FloatArray
from psycheck.text.words import WORD

MOST_IDS = 50
_RATES = frozenset(
    {"single_word", "length", "missing_labels", "encoding_debris", "label_of_author", "author_folds"}
)  # figures that are not shares of texts
_PERSONAL = "personal_data"
_PERSONS = frozenset({"NAME", "EMAIL", "PHONE", "NUMBER"})
_TABLE: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("cautions.toml").read_text("utf-8"))
_LIMITS: Mapping[str, Any] = _TABLE["limits"]
_HIDDEN = "(shown with --show-texts)"
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
    """A corpus, what the user types for it, whether all its words may be shown, and the words of a sample."""

    corpus: Corpus
    typed: str
    show: bool
    words: Words

    def cautions(
        self,
        name: str,
        figure: float,
        interval: Interval | None,
        n: int,
        label: str = "",
        *,
        places: Sequence[int] = (),
        what: str = "",
        word: str | None = None,
        case: str = "",
    ) -> Iterator[Caution]:
        """The caution of a figure that reaches its limit; `places` are its texts, `word` is "" if hidden."""
        entry = {**_TABLE[name], **(_TABLE[name][case] if case else {})}
        if figure < entry["from"]:
            return
        shown = f"{figure:.2f}" if name in _RATES else f"{100 * figure:.1f} %"
        # The option that `train` needs where a corpus has no dev split.
        cut = "" if "dev" in self.corpus.strings("split") else " --dev-share 0.1"
        typed = {
            "corpus": self.typed,
            "learned": without_options(self.typed, _NOT_FOR_TRAIN) + cut,
            "word": shlex.quote(word or ""),
            "label": shlex.quote(label),
        }
        sentence = entry["sentence"].format(label=label, figure=shown, n=f"{n:,}", what=what)
        hidden = word == "" and "hidden_command" in entry
        clean = () if hidden else tuple(option.format_map(typed) for option in entry.get("clean", ()))
        command = entry["hidden_command"] if hidden else entry.get("command", "")
        ids = self.corpus.ids if places else []
        shown_ids = tuple(ids[i] for i in places[:MOST_IDS])
        ends = None if interval is None or isnan(interval[0]) else interval
        advice = sentence, command.format_map(typed), shown_ids, clean
        yield Caution(name, self.corpus.name, label, figure, ends, n, *advice)

    def share(self, name: str, places: Sequence[int], n: int, label: str = "") -> Iterator[Caution]:
        """The caution of texts that are a large share of n."""
        yield from self.cautions(
            name, len(places) / max(n, 1), wilson(len(places), n), n, label, places=places
        )


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
        found += look.share("repeated_texts", repeated, len(corpus))
    found += _persons(look, seed)
    for label in corpus.labels:
        found += _label(look, label)
        found += _keyword(look, label)
        found += _debris(look, label)
        found += _conflicts(look, label, copies)
        found += _of_authors(look, label) if _split_of(corpus) is None else ()
        found += _learned(replace(look, corpus=some), label, seed)
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
    return _combined(
        [*_splits(look), *(c for label in corpus.labels for c in _label(look, label))], look.typed
    )


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
    outside = [i for i, split in enumerate(splits) if split != home]
    leaked = [i for i in outside if (key := keys[i]) and len(reached[key]) > 1]
    yield from look.share(name, leaked, len(outside))


def _split_of(corpus: Corpus) -> list[str] | None:
    """The split of each text; None where there is one split or none."""
    splits = ["none" if split is None else split for split in corpus.strings("split")]
    return splits if len(set(splits)) > 1 else None


def _persons(look: _Look, seed: int) -> Iterator[Caution]:
    """Texts that hold what looks like somebody's name, mail, phone or number."""
    some = look.corpus.sample(_LIMITS["texts"], seed)
    kinds = personal_in(some).kinds
    places = [i for i, id_ in enumerate(some.ids) if _PERSONS & set(kinds.get(id_, ()))]
    yield from replace(look, corpus=some).share(_PERSONAL, places, len(some))


def _label(look: _Look, label: str) -> Iterator[Caution]:
    """The cheap cautions about one label: a word, the length, the share of the larger class."""
    yes, no = _classes(look.words.corpus, label)
    ones, zeros = int(yes.sum()), int(no.sum())
    word, shown = None, False
    if _enough(yes, no) and (best := _most_telling(look.words.table, yes, no, either_way=True)):
        holds = np.zeros(len(yes), np.bool_)
        holds[look.words.table.filter(pl.col("word") == best[0])["row"].to_numpy()] = True
        figure, interval = _told_by(holds, yes, no, look.words.corpus)
        if figure >= _TABLE["single_word"]["from"]:
            word = best[0]
            shown = look.show or showable(word, look.words)
            what = f"The word '{word}'" if shown else f"One word {_HIDDEN}"
            figures = figure, interval, ones + zeros
            yield from look.cautions("single_word", *figures, label, what=what, word=word * shown)
    yield from _length(look, label, word, shown=shown)
    sizes = [int(side.sum()) for side in _classes(look.corpus, label)]
    most, n = max(sizes), sum(sizes)
    yield from look.cautions("imbalance", most / max(n, 1), wilson(most, n), n, label)


def _told_by(holds: BoolArray, yes: BoolArray, no: BoolArray, corpus: Corpus) -> tuple[float, Interval]:
    """The balanced accuracy of telling a label by what some texts hold, of either class, and its interval."""
    gap = float(holds[yes].mean() - holds[no].mean())
    ends = clustered.difference_interval((holds & yes, yes), (holds & no, no), Clusters.of(corpus.units()))
    low, high = sorted(0.5 + (end if gap >= 0 else -end) / 2 for end in ends)
    return 0.5 + abs(gap) / 2, (low, high)


def _debris(look: _Look, label: str) -> Iterator[Caution]:
    """Remains of a wrong decoding or of HTML that one class has more often than the other."""
    corpus = look.words.corpus
    yes, no = _classes(corpus, label)
    if not _enough(yes, no):
        return
    whole, bare = (
        corpus.table["text"].str.contains(_LIMITS[kind]).to_numpy() for kind in ("debris", "bare_debris")
    )
    figure, interval = _told_by(whole | bare, yes, no, corpus)
    if interval[0] > 0.5:
        case = "" if whole.sum() >= bare.sum() else "bare"
        n = int((yes | no).sum())
        yield from look.cautions("encoding_debris", figure, interval, n, label, case=case)


def _conflicts(look: _Look, label: str, copies: Sequence[str]) -> Iterator[Caution]:
    """Copies of one text with different annotations."""
    yes, no = _classes(look.corpus, label)
    ones, zeros = ({copy for copy, is_in in zip(copies, side, strict=True) if is_in} for side in (yes, no))
    both = (ones & zeros) - {""}
    places = [i for i in np.flatnonzero(yes | no).tolist() if copies[i] in both]
    yield from look.share("conflicting_labels", places, int((yes | no).sum()), label)


def _of_authors(look: _Look, label: str) -> Iterator[Caution]:
    """How often two texts of one author have the same annotation, beyond chance (kappa)."""
    authors = np.array([who or "" for who in look.corpus.strings("author")])
    targets = look.corpus.targets([label])[:, 0]
    known = (authors != "") & ~np.isnan(targets)
    y, clusters = gold(targets[known]).astype(np.float64), Clusters.of(authors[known])
    ones, sizes = clusters.sums(y)[clusters.codes], clusters.sums(np.ones(len(y)))[clusters.codes]
    some = sizes > 1
    if not _enough(y[some] == 1, y[some] == 0):
        return
    same = (np.where(y == 1, ones, sizes - ones) - 1)[some] / (sizes - 1)[some]
    share = float(y[some].mean())
    chance = share**2 + (1 - share) ** 2
    low, high = clustered.ratio_interval(same, np.ones(len(same)), clusters.at(some))
    kappa, *ends = ((one - chance) / (1 - chance) for one in (float(same.mean()), low, high))
    what = f"{100 * same.mean():.0f} %"
    yield from look.cautions("label_of_author", kappa, (ends[0], ends[1]), len(same), label, what=what)


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


def _length(look: _Look, label: str, word: str | None, *, shown: bool) -> Iterator[Caution]:
    """The caution about the length, with what helps: first without a word that tells the label as well."""
    if (found := _length_scores(look.words, label)) is None:
        return
    figure, scores = found
    bare = look.words.corpus if word is None else without_word(look.words.corpus, word)
    case, what, typed = "", "", None if word is None else word * shown
    if word is not None and _length_scores(word_table(bare), label) is None:
        case, what = "word", f"the word '{word}'" if shown else f"one word {_HIDDEN}"
    else:
        try:
            left = _classes(even_lengths(bare, label), label)
        except BadInput:  # no text is left where the classes are made even in length
            left = np.zeros(0, np.bool_), np.zeros(0, np.bool_)
        if not _enough(*left):
            case, what, typed = "apart", f"{sum(int(side.sum()) for side in left):,}", None
        elif word is not None:
            case = "both"
    targets = look.words.corpus.targets([label])[:, 0]
    clusters = Clusters.of(look.words.corpus.units())
    interval = classification_intervals(targets, scores, clusters)["auc"]
    n = int((~np.isnan(targets)).sum())
    yield from look.cautions("length", figure, interval, n, label, what=what, word=typed, case=case)


def _length_scores(words: Words, label: str) -> tuple[float, FloatArray] | None:
    """How well the number of words tells the label, an AUC, and the scores behind it; None if hardly."""
    if not _enough(*_classes(words.corpus, label)):
        return None
    scores = words.lengths / max(words.lengths.max(), 1.0)
    value = auc(words.corpus.targets([label])[:, 0], scores).value
    if value < 0.5:
        value, scores = 1 - value, 1 - scores
    return None if value < _TABLE["length"]["from"] else (value, scores)


def _keyword(look: _Look, label: str) -> Iterator[Caution]:
    """The beginning of a word that nearly all texts annotated 1 hold, and few others."""
    letters = _LIMITS["keyword_letters"]
    yes, no = _classes(look.words.corpus, label)
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
        what = f"a word that begins with '{stem}'" if shown else f"words of one beginning {_HIDDEN}"
        figures = held / ones, wilson(held, ones), ones
        yield from look.cautions("keyword_label", *figures, label, what=what, word=stem * shown)


def _learned(look: _Look, label: str, seed: int) -> Iterator[Caution]:
    """What a cross-validated classifier learns from authors, and the annotations that it doubts.

    Doubts are those of confident learning (Northcutt et al. 2021).
    """
    try:
        from cleanlab.filter import find_label_issues
    except ImportError as error:
        raise MissingExtra("the search for doubtful labels", "compare") from error
    ones, zeros = _classes(look.corpus, label)
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
            figures, what = (high - low, interval, len(yes)), f"{high:.2f}, and {low:.2f}"
            yield from look.cautions("author_folds", *figures, label, what=what)
    if auc(targets, scores).value < _LIMITS["noise_auc"]:
        return
    doubted = find_label_issues(
        labels=yes.astype(np.int64),
        pred_probs=np.column_stack([1 - scores, scores]),
        return_indices_ranked_by="self_confidence",
        n_jobs=1,
    )
    own = np.where(yes, scores, 1 - scores)
    sure = [int(i) for i in doubted if own[i] < _LIMITS["noise_score"]]
    yield from replace(look, corpus=known).share("label_noise", sure, len(known), label)


def _missing(look: _Look) -> Iterator[Caution]:
    """Whether labels are annotated depends on a split, a group or the value of another label.

    Labels that are missing in the same texts are one fact.
    """
    together: dict[bytes, list[str]] = {}
    for label in look.corpus.labels:
        absent = np.isnan(look.corpus.targets([label])[:, 0])
        if absent.any() and not absent.all():
            together.setdefault(absent.tobytes(), []).append(label)
    for labels in together.values():
        yield from _missing_together(look, labels)


def _missing_together(look: _Look, labels: Sequence[str]) -> Iterator[Caution]:
    from scipy.stats.contingency import association, crosstab

    absent = np.isnan(look.corpus.targets(labels[:1])[:, 0])
    # What it may follow: the split, each group, each other label where that is annotated.
    columns = ["split"] * ("split" in look.corpus.table) + [GROUP + name for name in look.corpus.groups]
    sorts: list[tuple[str, Sequence[str], BoolArray]] = [
        (name.removeprefix(GROUP), look.corpus.table[name].fill_null("unknown").to_list(), absent)
        for name in columns
    ]
    for other in look.corpus.labels:
        yes, no = _classes(look.corpus, other)
        sorts.append((f"the value of {other}", np.where(yes, "1", "0")[yes | no].tolist(), absent[yes | no]))
    strongest, what = 0.0, ""
    for name, values, missing in sorts:
        # A kind for nearly each text (a free-text group) goes along with anything.
        if 2 <= len(set(values)) <= len(values) / 5 and 0 < missing.sum() < len(missing):
            v = float(association(crosstab(missing, np.array(values)).count, method="cramer"))
            if v > strongest:
                strongest, what = v, name
    places, label = np.flatnonzero(absent).tolist(), labels[0]
    if len(labels) > 1:
        what += f", as for {counted(len(labels) - 1, 'other label')} missing in the same texts"
    yield from look.cautions("missing_labels", strongest, None, len(absent), label, what=what, places=places)


def _classes(corpus: Corpus, label: str) -> tuple[BoolArray, BoolArray]:
    """Which texts are annotated 1 and which 0, (n,) each."""
    targets = corpus.targets([label])[:, 0]
    return gold(targets), ~gold(targets) & ~np.isnan(targets)


def _enough(yes: BoolArray, no: BoolArray) -> bool:
    """Whether both classes are so large that no word parts them by chance."""
    return bool(min(yes.sum(), no.sum()) >= _LIMITS["each_class"])


def caution_table(cautions: Sequence[Caution]) -> pl.DataFrame:
    """Every id behind a caution, one per row, for the run folder."""
    rows = [(c.corpus, c.name, c.label, id_) for c in cautions for id_ in c.ids]
    return pl.DataFrame(
        rows, schema=dict.fromkeys(("corpus", "caution", "label", "id"), pl.String), orient="row"
    )

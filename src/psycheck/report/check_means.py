"""Means and deviations over the checks of a suite: by category, polarity, kind and symptom."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from psycheck.core.errors import counted
from psycheck.core.finding import Finding
from psycheck.report.display_names import Place, name_of, place_names, place_of
from psycheck.report.numbers import figure, percent, span, spans
from psycheck.report.sections import Key, by, unique
from psycheck.report.tables import Table, table_of

MEAN, DEVIATION = "pass_rate_mean", "pass_rate_sd"
Head = tuple[str, ...]  # suite and label
BY = ("category", "polarity", "kind", "symptom")


@dataclass(frozen=True, slots=True)
class MeanKey:
    """What a mean of pass rates is over: the checks of one category, polarity …, at one place."""

    grouping: str
    value: str
    place: Place
    measure: str


def average_key(average: Finding) -> Key:
    """A mean or deviation: suite, label, what it is over, and where."""
    return by(
        "suite",
        "label",
        "by",
        average.where["by"],
        "model",
        "corpus",
        "measure",
    )(average)


def means_by_head(
    averages: Iterable[Finding], check_keys: Sequence[Key]
) -> dict[Head, dict[MeanKey, Finding]]:
    """The means and deviations of each suite and label."""
    means: dict[Head, dict[MeanKey, Finding]] = {}
    for average in averages:
        suite, label, grouping, value, model, corpus, measure = average_key(average)
        if not label:
            # A mean over corpora has no label, and takes that of its suite if there is one only.
            labels = {key[1] for key in check_keys if key[0] == suite}
            label = labels.pop() if len(labels) == 1 else ""
        key = MeanKey(
            grouping=grouping,
            value=value,
            place=(model, corpus),
            measure=measure,
        )
        means.setdefault((suite, label), {})[key] = average
    return means


def dir_means_of(means: Mapping[MeanKey, Finding]) -> dict[Place, Finding]:
    """The mean pass rate of the DIR checks at each place."""
    dir_means = {}
    for key, mean in means.items():
        if (key.grouping, key.value, key.measure) == ("kind", "DIR", MEAN):
            dir_means[place_of(mean)] = mean
    return dir_means


def means_table(means: Mapping[MeanKey, Finding]) -> Table:
    """Mean and standard deviation over the checks of a category, polarity, kind …, as in DECK's Table 5."""
    places = unique(key.place for key in means)
    groups = unique((key.grouping, key.value) for key in means)
    # In the order of BY; any other grouping comes last.
    groups.sort(key=lambda group: [*BY, group[0]].index(group[0]))

    rows = []
    last_grouping = ""
    for grouping, value in groups:
        cells = []
        for place in places:
            mean_key = MeanKey(
                grouping=grouping,
                value=value,
                place=place,
                measure=MEAN,
            )
            mean = means.get(mean_key)
            deviation = means.get(replace(mean_key, measure=DEVIATION))
            cells.append(_mean_with_deviation(mean, deviation))

        # The name of a grouping stands in its first row only.
        heading = name_of("by", grouping) if grouping != last_grouping else ""
        name = name_of("symptoms" if grouping == "symptom" else "values", value)
        rows.append((heading, name, *cells))
        last_grouping = grouping

    columns = ["Mean"]
    if len(places) > 1:
        named_places = [_over_corpora_named(place) for place in places]
        names = place_names(named_places)
        columns = [names[place] for place in named_places]
    return table_of("check_means", rows, columns)


def _over_corpora_named(place: Place) -> Place:
    model, corpus = place
    return model, "all corpora" if corpus == "all" else corpus


def _mean_with_deviation(mean: Finding | None, deviation: Finding | None) -> Markup:
    either = mean or deviation
    if either is None:
        return figure(None)

    # One check has a mean, but no deviation.
    checks = counted(either.counts.get("checks", either.n), "check")
    between = "no sd"
    if deviation is not None and deviation.tested:
        between = f"sd {100 * deviation.value:.1f}"
    figures = spans("–")
    if mean is not None and mean.tested:
        figures = spans(percent(mean.value, 1), span(mean, 1))
    spread = Markup(' <span class="n sd">{}, {}</span>').format(between, checks)
    return figures + spread

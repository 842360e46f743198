"""A cascade, cascade:CHEAP,llm:NAME?…: a calibrated cheap model decides outside a band, an LLM inside."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput
from psycheck.core.model import AnswersOf, Capabilities, Encoder, Model, ModelKind, capabilities_of
from psycheck.io.settings import Limit
from psycheck.llm.model import open_llm
from psycheck.llm.options import FILES, PAIR, LlmOptions, PlattMap, pair_of
from psycheck.models.fingerprint import hashed_parts
from psycheck.models.opening import open_model
from psycheck.statistics.recalibration import Platt
from psycheck.statistics.two_stage import Prices

CHEAP, LLM, PERSON = "cheap model", "LLM", "person"


def _is_band(text: str) -> bool:
    if not PAIR.fullmatch(text):
        return False
    low, high = pair_of(text)
    return 0 <= low <= high <= 1


_Band = Annotated[str, Limit("LOW:HIGH from 0 to 1, such as 0.3:0.7", _is_band)]


_COSTS = re.compile(r"\d+(?:\.\d+)?(?::\d+(?:\.\d+)?){2}")
_Costs = Annotated[str, Limit("CALL:PERSON:ERROR, such as 1:20:100", _COSTS.fullmatch, "is not three costs")]


def prices_of(costs: str) -> Prices:
    """The costs of a call, a person and an error in "1:20:100"."""
    call, person, error = map(float, costs.split(":"))
    return Prices(expensive=call, person=person, error=error)


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeOptions(LlmOptions):
    """Options of a cascade besides those of its LLM.

    `band` are the calibrated scores of the cheap model between which the LLM is asked, `cheap_platt`
    calibrates the cheap model; texts whose final score is in `abstain` are left to a person (unanswered).
    `costs` are those of a call, of a person who decides, and of a wrong decision.
    """

    band: _Band = "0.25:0.75"
    cheap_platt: PlattMap = "1:0"
    abstain: _Band | None = None
    costs: _Costs | None = None


@dataclass(
    frozen=True,
    slots=True,
    weakref_slot=True,
    kw_only=True,
)
class Cascade:
    """Two models as one; `band` and `abstain` are (low, high), both ends excluded."""

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    capabilities: Capabilities
    cheap: Model = field(repr=False)
    llm: Model = field(repr=False)
    calibrate: Platt
    band: tuple[float, float]
    abstain: tuple[float, float] | None
    prices: Prices | None

    @property
    def needs(self) -> tuple[Model | Encoder, ...]:
        """The cheap model, then the LLM."""
        return (self.cheap, self.llm)

    def needed(self, texts: Sequence[str], /) -> Sequence[str]:
        """What the cheap model is asked about: every text."""
        return texts

    def needed_next(self, texts: Sequence[str], answers: Sequence[AnswersOf], /) -> Sequence[str]:
        """What the LLM is asked about, after the cheap model: texts inside the band for some label."""
        (cheap_answers,) = answers
        is_asked = self.asked(cheap_answers(texts))
        return [text for text, asked in zip(texts, is_asked.tolist(), strict=True) if asked]

    def asked(self, cheap_scores: FloatArray) -> NDArray[np.bool_]:
        """Which texts the LLM is asked about, (n,), by the raw scores of the cheap model, (n, k)."""
        calibrated = self.calibrated(cheap_scores)
        low, high = self.band
        inside = (calibrated > low) & (calibrated < high)
        # What the cheap model does not answer at all is asked, too.
        return np.asarray((inside | np.isnan(calibrated)).any(axis=1))

    def score_from(self, texts: Sequence[str], answers: Sequence[AnswersOf], /) -> FloatArray:
        """The LLM's scores inside the band, the calibrated ones of the cheap model elsewhere, (n, k)."""
        cheap_answers, llm_answers = answers
        raw = cheap_answers(texts)
        scores = self.calibrated(raw)
        asked = self.asked(raw)
        places = np.flatnonzero(asked)
        if len(places):
            asked_texts = [texts[place] for place in places.tolist()]
            replied = self.replied(llm_answers(asked_texts))
            # A reply that answers nothing leaves the decision to the cheap model.
            is_unanswered = np.isnan(replied)
            scores[places] = np.where(is_unanswered, scores[places], replied)
        return self._abstaining(scores)

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Score texts without a store, (n, k)."""
        return self.score_from(texts, [self.cheap.score, self.llm.score])

    def calibrated(self, cheap_scores: FloatArray) -> FloatArray:
        """The calibrated scores of the cheap model for the labels of both, (n, k), from its raw ones."""
        return self.calibrate(self._common(cheap_scores, self.cheap))

    def replied(self, llm_scores: FloatArray) -> FloatArray:
        """The scores of the LLM for the labels of both, (n, k)."""
        return self._common(llm_scores, self.llm)

    def _common(self, scores: FloatArray, model: Model) -> FloatArray:
        """The columns of the labels that both models have."""
        return scores[:, [model.labels.index(label) for label in self.labels]]

    def _abstaining(self, scores: FloatArray) -> FloatArray:
        """Scores with those that are left to a person as NaN."""
        if self.abstain is None:
            return scores
        low, high = self.abstain
        return np.where((scores > low) & (scores < high), np.nan, scores)


def open_cascade(target: str, options: CascadeOptions) -> Cascade:
    """Open "CHEAP,llm:NAME"; the options are those of the LLM, and of the cascade itself."""
    cheap_spec, separator, llm_spec = target.rpartition(",llm:")
    if not separator or not cheap_spec or not llm_spec:
        raise BadInput(
            "a cascade is a cheap model and an LLM",
            code="cascade.two-models",
            where=f"cascade:{target}",
            allowed="cascade:KIND:TARGET,llm:NAME?prompt=…&band=0.3:0.7",
        )
    cheap = open_model(cheap_spec)
    llm = open_llm(llm_spec, _llm_options(options))
    # A label that one of both lacks cannot be decided by either, depending on the score.
    labels = tuple(label for label in cheap.labels if label in llm.labels)
    if not labels:
        raise BadInput(
            "the two models of the cascade have no label in common",
            code="cascade.no-common-label",
            where=f"cascade:{target}",
            allowed=f"{', '.join(cheap.labels)} of the cheap model, {', '.join(llm.labels)} of the LLM",
            do="name the labels of the LLM with label=, or use another prompt",
        )

    parts = {
        "cheap": cheap.fingerprint,
        "llm": llm.fingerprint,
        "band": options.band,
        "platt": f"{options.cheap_platt}, {options.platt or 'none'} of the LLM",
        "abstain": options.abstain or "never",
    }
    return Cascade(
        name=options.name or f"{cheap.name}+{llm.name}",
        labels=labels,
        fingerprint=hashed_parts(parts),
        capabilities=Capabilities(
            batch=options.batch or llm.capabilities.batch,
            remote=llm.capabilities.remote,
            parts=parts,
            trained_on=capabilities_of(cheap).trained_on,
            notes=(*capabilities_of(cheap).notes, *llm.capabilities.notes),
        ),
        cheap=cheap,
        llm=llm,
        calibrate=Platt(*pair_of(options.cheap_platt)),
        band=pair_of(options.band),
        abstain=None if options.abstain is None else pair_of(options.abstain),
        prices=None if options.costs is None else prices_of(options.costs),
    )


def _llm_options(options: CascadeOptions) -> LlmOptions:
    """The options of the LLM alone; name and batch are those of the cascade."""
    values: dict[str, Any] = {}
    for option in fields(LlmOptions):
        values[option.name] = getattr(options, option.name)
    values |= {"name": None, "batch": None}
    return LlmOptions(**values)


KIND = ModelKind(
    open=open_cascade,
    options=CascadeOptions,
    target="name",
    files=FILES,
)

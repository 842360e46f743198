"""The settings of a model of histories, as the start of a training names them."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal

from psycheck.core.errors import BadInput
from psycheck.core.model import MOST_POSTS
from psycheck.io.settings import AT_LEAST_1, NOT_BLANK, read_settings
from psycheck.models.opening import open_encoder
from psycheck.models.options import query_of, typed_values
from psycheck.symptoms.post_weights import DEFAULT, PostFeatures, open_post_symptoms

_START = "history"
# The network of PsySym, whose models have been trained before there was another.
PLAIN_NETWORK: Final[dict[str, Any]] = {
    "network": "convolutions",
    "widths": "2,3,4,5,6",
    "filters": 50,
    "layers": 1,
    "pool": "largest",
}


@dataclass(frozen=True, slots=True)
class HistorySettings:
    """What a model of histories reads: "history:FEATURES?key=value" as the start of a training.

    With "+lr" a logistic regression reads the features of all posts together: the mean vector, the mean and
    the largest weight of each symptom, or the words. `status` and `subject` switch factors of formula (1).
    With `controls` each label is learned against authors without any condition (PsySym, section 5.4), else
    against all others. `network` reads the posts by convolutions of several `widths`, or by a transformer of
    `layers` over them; `filters` are the values of each width, or of each post in the transformer. `pool`
    joins what was read: the mean of the five largest values (as PsySym), the largest, the mean, or what
    attention chooses. None of these concerns a "+lr".
    """

    features: Literal["symptoms", "embeddings", "both", "symptoms+lr", "embeddings+lr", "tfidf+lr"]
    symptoms: Annotated[str, NOT_BLANK] = DEFAULT
    encoder: Annotated[str, NOT_BLANK] = "minilm"
    most: Annotated[int, AT_LEAST_1] = MOST_POSTS
    status: bool = True
    subject: bool = True
    controls: bool = True
    network: Literal["convolutions", "transformer"] = "convolutions"
    widths: Annotated[str, NOT_BLANK] = "2,3,4,5,6"
    filters: Annotated[int, AT_LEAST_1] = 50
    layers: Annotated[int, AT_LEAST_1] = 1
    pool: Literal["largest", "max", "mean", "attention"] = "largest"

    def __post_init__(self) -> None:
        widths = self.window_sizes
        if not widths or min(widths) < 1:
            raise BadInput(
                f"widths = {self.widths}",
                code="history.bad-widths",
                allowed="numbers of posts from 1 on, separated by commas",
            )

    @property
    def window_sizes(self) -> tuple[int, ...]:
        """How many posts each convolution reads; () where it is not numbers."""
        sizes = [size.strip() for size in self.widths.split(",")]
        return tuple(map(int, sizes)) if all(size.isdecimal() for size in sizes) else ()

    @property
    def shape(self) -> str:
        """The network, where it is not that of PsySym: "" keeps the keys of trainings as they were."""
        if self == replace(self, **PLAIN_NETWORK):
            return ""
        return f"{self.network} {self.widths} {self.filters} {self.layers} {self.pool}"

    @property
    def linear(self) -> bool:
        """Whether the posts are read together, by a logistic regression."""
        return self.features.endswith("+lr")

    @property
    def words(self) -> bool:
        """Whether the words are read, and not the features of posts."""
        return self.features == "tfidf+lr"

    def open_features(self) -> PostFeatures:
        """The features of posts; nothing is computed yet."""
        symptoms = encoder = None
        if self.features.startswith(("symptoms", "both")):
            symptoms = open_post_symptoms(self.symptoms, status=self.status, subject=self.subject)
        if self.features.startswith(("embeddings", "both")):
            encoder = open_encoder(self.encoder)
        return PostFeatures(symptoms, encoder)


def history_settings(start: str) -> HistorySettings:
    """The settings of a start such as "history:symptoms?most=100&status=no"."""
    target, _, query = start.removeprefix(f"{_START}:").partition("?")
    # "history" alone means the default.
    features = "symptoms" if target == _START else target
    values = typed_values(HistorySettings, query_of(query, start))
    return read_settings(HistorySettings, {**values, "features": features}, start)

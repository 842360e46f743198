"""A symptom reader: small changes of an encoder's weights, and a layer that reads its tokens.

Its folder holds `reader.safetensors` and `card.toml`, not the encoder. The changes are of low rank (LoRA, Hu
and others, 2021) and are added to the weights when the reader is opened, so that it costs what the encoder
costs. The layer gives two logits per symptom, "mentioned" and "present in the writer": the largest over the
tokens, since one clause of a long sentence is enough, plus that of their mean.
"""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import UNREADABLE, ModelFailure, explained
from psycheck.io.toml import parse_toml
from psycheck.models.fingerprint import file_hash
from psycheck.models.hf import HfEncoder
from psycheck.models.opening import open_encoder

READER_FILE: Final = "reader.safetensors"
CARD_FILE: Final = "card.toml"
DEFAULT_FOLDER: Final = Path(__file__).with_name("default")
"""The reader that psycheck ships: `symptoms:default`."""

# States of tokens are small numbers: the layer learns faster from larger ones.
MEAN_SCALE: Final = 10.0
TOKEN_SCALE: Final = 5.0
_PADDING: Final = -1e4  # the logit of a token that is none


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AdaptedReader:
    """An encoder with changed weights and its layer; `labels` are k symptoms.

    `layer` has "mean.weight" and "token.weight" (2k, d), "mean.bias" and "token.bias" (2k,): first the logits
    of "mentioned", then those of "present".
    """

    encoder: HfEncoder
    layer: dict[str, Any]
    labels: tuple[str, ...]
    card: Path
    parts: dict[str, str]

    def read(self, sentences: list[str]) -> FloatArray:
        """The probabilities of "mentioned" and "present" in the writer, (n, 2k)."""
        torch = import_module("torch")
        probabilities = np.full((len(sentences), 2 * len(self.labels)), np.nan)
        for rows, _, inputs in self.encoder.batches(sentences):
            with torch.inference_mode():
                states = self.encoder.network(**inputs).last_hidden_state
                logits = read_tokens(states, inputs["attention_mask"], self.layer)
                probabilities[rows] = logits.double().sigmoid().cpu().numpy()
        return probabilities


def token_states(encoder: HfEncoder, sentences: list[str]) -> list[Any]:
    """The states of the tokens of each sentence, (tokens, d), in half precision and without gradients."""
    torch = import_module("torch")
    states_of_sentences: list[Any] = [None] * len(sentences)
    for rows, _, inputs in encoder.batches(sentences):
        with torch.no_grad():
            states = encoder.network(**inputs).last_hidden_state.half()
        counts = inputs["attention_mask"].sum(1).tolist()
        for place, row in enumerate(rows):
            # A copy: a view would keep the whole batch with its padding in memory.
            states_of_sentences[row] = states[place, : counts[place]].cpu().clone()
    return states_of_sentences


def read_tokens(states: Any, mask: Any, layer: dict[str, Any]) -> Any:
    """The logits of a batch, (n, 2k), from the states of its tokens, (n, tokens, d), and their mask."""
    linear = import_module("torch").nn.functional.linear
    counts = mask.sum(1, keepdim=True).clamp(min=1)
    mean = (states * mask[:, :, None]).sum(1) / counts
    mean = mean / mean.norm(dim=1, keepdim=True).clamp(min=1e-12)
    of_mean = linear(mean * MEAN_SCALE, layer["mean.weight"], layer["mean.bias"])

    of_tokens = linear(states * TOKEN_SCALE, layer["token.weight"], layer["token.bias"])
    padding = mask[:, :, None] == 0
    return of_mean + of_tokens.masked_fill(padding, _PADDING).amax(1)


def is_adapted_reader(folder: Path) -> bool:
    """Whether a folder holds a reader of this kind."""
    return (folder / READER_FILE).is_file()


def open_adapted(folder: Path, batch: int | None) -> AdaptedReader:
    """Open the folder of a reader on the encoder that its card names; another encoder is refused."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    with explained(
        "the folder does not hold a symptom reader",
        *UNREADABLE,
        SafetensorError,
        kind=ModelFailure,
        code="symptoms.not-a-reader",
        where=str(folder),
        allowed="a folder that `psycheck symptoms train --from-bank` wrote",
    ):
        card = parse_toml((folder / CARD_FILE).read_text("utf-8"))
        tensors = load_file(folder / READER_FILE)
        labels = tuple(card["reader"]["symptoms"])
        encoder_name = card["reader"]["encoder"]
        window = card["reader"]["window"]

    encoder = open_encoder(encoder_name, max_length=window, **({"batch": batch} if batch else {}))
    if not isinstance(encoder, HfEncoder) or encoder.fingerprint != card["reader"]["encoder_fingerprint"]:
        raise ModelFailure(
            f"the encoder '{encoder_name}' is not the one that this reader was trained on",
            code="model.other-features",
            where=str(folder),
            do="restore the original one, or train again",
        )
    change_weights(encoder.network, tensors)
    layer = {name: tensors[name].float().to(encoder.network.device) for name in layer_names(tensors)}
    return AdaptedReader(
        encoder=encoder,
        layer=layer,
        labels=labels,
        card=folder / CARD_FILE,
        parts={"encoder": encoder.fingerprint, "reader": file_hash(folder / READER_FILE)},
    )


def layer_names(tensors: dict[str, Any]) -> list[str]:
    """The names of the tensors of the layer, of all that a reader has."""
    return [name for name in tensors if name.startswith(("mean.", "token."))]


def change_weights(network: Any, tensors: dict[str, Any]) -> None:
    """Add to each changed weight of an encoder the product of its matrices, (out, r) and (r, in)."""
    torch = import_module("torch")
    with torch.no_grad():
        for name in tensors:
            module, _, kind = name.rpartition(".")
            if kind == "up":
                weight = network.get_submodule(module).weight
                change = tensors[name].float() @ tensors[f"{module}.down"].float()
                weight += change.to(weight.device)

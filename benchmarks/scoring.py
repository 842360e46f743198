"""Scoring short texts with the MiniLM classifier: psycheck against a bare loop and fixed padding.

All three score the same distinct texts with the same weights in one run. The bare loop sorts by length and
pads to the longest of the batch; the other pads everything to 128 tokens, as most scripts do. One thread and
CPU seconds, in turns, best of nine: a busy machine should not decide.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

from demo_texts import generate
from psycheck.models.opening import open_model
from psycheck.scoring.answers import answers
from psycheck.training.fit import train
from psycheck.training.recipe import preset
from timing import machine, table, verdict

TEXTS, WORDS, BATCH, PADDED, ROUNDS = 192, 20, 32, 64, 9


def main() -> None:
    """Print the rates."""
    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        recipe = preset("fast", epochs=1, labels=("depression",))
        small = generate("tweets", 60, 3)
        spec = train(small, recipe, Path(folder) / "model").spec
        made = dict.fromkeys(generate("interviews", 6 * TEXTS, 4).texts)
        texts = [text for text in made if len(text.split()) <= WORDS][:TEXTS]
        model = open_model(spec)
        network, tokenizer = _bare(Path(folder) / "model")
        _bare_loop(network, tokenizer, texts[:200], torch)  # warm
        rates: dict[str, list[float]] = {"psycheck": [], "bare loop": [], "padded to 128": []}
        for k in range(ROUNDS):
            for name in list(rates) if k % 2 else reversed(list(rates)):  # neither is always first
                some = texts[:PADDED] if name == "padded to 128" else texts
                started = process_time()
                if name == "psycheck":
                    with answers([model], [(1.0, some)], store=Path(folder) / f"{k}.sqlite") as found:
                        found.views[0].of(some)
                elif name == "bare loop":
                    _bare_loop(network, tokenizer, some, torch)
                else:
                    _padded(network, tokenizer, some, torch)
                rates[name].append(len(some) / (process_time() - started))
    best = {name: max(found) for name, found in rates.items()}
    print(f"\n## Scoring {len(texts):,} turns of at most {WORDS} words with MiniLM ({machine()})\n")
    print(table(["", "texts a CPU second"], [[name, f"{rate:.0f}"] for name, rate in best.items()]))
    print("\n" + verdict("psycheck / bare loop", best["psycheck"] / best["bare loop"], 0.9, at_least=True))
    print(verdict("psycheck / padded to 128", best["psycheck"] / best["padded to 128"], 4, at_least=True))


def _bare(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    network: Any = AutoModelForSequenceClassification.from_pretrained(folder)
    return network.eval(), AutoTokenizer.from_pretrained(folder)


def _bare_loop(network: Any, tokenizer: Any, texts: Sequence[str], torch: Any) -> None:
    ordered = sorted(texts, key=len, reverse=True)
    with torch.inference_mode():
        for start in range(0, len(ordered), BATCH):
            batch = tokenizer(
                ordered[start : start + BATCH], truncation=True, padding=True, return_tensors="pt"
            )
            network(**batch).logits.softmax(-1)[:, 1].numpy()


def _padded(network: Any, tokenizer: Any, texts: Sequence[str], torch: Any) -> None:
    with torch.inference_mode():
        for start in range(0, len(texts), BATCH):
            part = list(texts[start : start + BATCH])
            batch = tokenizer(
                part, truncation=True, padding="max_length", max_length=128, return_tensors="pt"
            )
            network(**batch).logits.softmax(-1)[:, 1].numpy()


if __name__ == "__main__":
    main()

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from psycheck.audits.direct_bias.findings import Biasing
from psycheck.audits.direct_bias.word_lists import gender
from psycheck.commands.bias import encoder_bias
from psycheck.models.opening import open_encoder

QUICK = Biasing(pool=20, random_lists=100)


@pytest.fixture(scope="module")
def folder(save_model: Callable[..., Path]) -> Path:
    return save_model(head=False)


def test_contextual_encoders_are_measured_in_sentences(folder: Path) -> None:
    """A random network leans to no side that is worth a name, but every word has its vector."""
    run = encoder_bias(f"hf:{folder}", lists=["anxiety"], how=QUICK)
    assert run.plan["kind"] == "contextual"
    assert run.plan["lists"][0]["sentence"] == "{word} is a synonym of anxiety."
    assert run.plan["lists"][0]["random_words"].startswith("topics of common English words")
    bias = next(f for f in run.findings if f.measure == "direct_bias")
    assert (bias.n, bias.counts["missing"]) == (50, 0)


def test_a_words_cosine_is_that_of_its_pieces_in_its_sentence(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("tired\nsleep\n", "utf-8")
    sentence = "I feel {word} at night."
    run = encoder_bias(f"hf:{folder}", words=[tmp_path / "mine.txt"], sentence=sentence, how=QUICK)
    encoder = open_encoder(f"hf:{folder}")
    pairs = run.plan["pairs"]
    sides = []
    for side in (0, 1):
        sentences = [frames[side] for frames in gender().sentences]
        texts = [frame.replace("{word}", pair[side]) for frame, pair in zip(sentences, pairs, strict=True)]
        starts = [frame.index("{word}") for frame in sentences]
        spans = [(at, at + len(pair[side])) for at, pair in zip(starts, pairs, strict=True)]
        rows = encoder.encode_spans(texts, spans)
        sides.append(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    _, _, directions = np.linalg.svd(sides[0] - sides[1])
    direction = directions[0] * np.sign(((sides[0] - sides[1]) @ directions[0]).sum())
    word = encoder.encode_spans(["I feel tired at night."], [(7, 12)])[0]
    wanted = word @ direction / np.linalg.norm(word)
    found = next(f for f in run.findings if f.measure == "projection" and f.where["word"] == "tired")
    assert found.value == pytest.approx(wanted, abs=1e-5)

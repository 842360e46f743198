import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from psycheck.core.errors import PsycheckWarning
from psycheck.core.model import Model, Windowed
from psycheck.models.hf import HfModel
from psycheck.models.hf_folder import HfOptions, load_config
from psycheck.models.opening import open_model
from refusals import refused

SaveModel = Callable[..., Path]
ARCHITECTURES = ("bert", "roberta", "albert", "xlnet", "longformer")
# The table of positions; for roberta and longformer less two for the padding; xlnet has none.
WINDOWS = {"bert": 48, "roberta": 48, "albert": 40, "xlnet": 512, "longformer": 64}
TEXTS = [
    "I feel tired all day.",
    "",
    "The children cannot sleep at night, they're worried… " * 4,
    "naïve café über",
    "emoji 🙂 and [SEP] inside",
    "We went to the park.\n\nIt was warm.",
    "word " * 300,
    "lone \ud800 surrogate",
]


def opened(spec: str | Path, **options: Any) -> HfModel:
    model = open_model(spec, **options)
    assert isinstance(model, HfModel)
    return model


def changed_config(folder: Path, target: Path, **changes: Any) -> Path:
    shutil.copytree(folder, target)
    config = json.loads((target / "config.json").read_text())
    (target / "config.json").write_text(json.dumps(config | changes))
    return target


def logits_one_by_one(folder: Path, texts: list[str], window: int) -> Any:
    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        rows = [
            network(**tokenizer(text, truncation=True, max_length=window, return_tensors="pt")).logits
            for text in texts
        ]
    return torch.cat(rows).double()


@pytest.fixture(scope="module", params=ARCHITECTURES)
def each(request: pytest.FixtureRequest, save_model: SaveModel) -> tuple[str, Path, HfModel]:
    folder = save_model(request.param)
    return request.param, folder, opened(f"hf:{folder}")


def test_scores_equal_a_plain_forward_one_by_one(each: tuple[str, Path, HfModel]) -> None:
    kind, folder, model = each
    clean = [text.replace("\ud800", "\ufffd") for text in TEXTS]
    wanted = logits_one_by_one(folder, clean, WINDOWS[kind]).softmax(-1)[:, 1:]
    scores = model.score(TEXTS)
    assert scores.dtype == np.float64
    assert scores.shape == (len(TEXTS), 1)
    np.testing.assert_allclose(scores, wanted, atol=1e-5)
    assert np.ptp(scores) > 0.01  # the tiny model does tell texts apart


def test_order_and_batches_do_not_matter(each: tuple[str, Path, HfModel]) -> None:
    _, folder, model = each
    small = opened(f"hf:{folder}?batch=3")
    assert small.capabilities.batch == 3
    back = small.score(TEXTS[::-1])[::-1]
    np.testing.assert_allclose(back, model.score(TEXTS), atol=1e-5)


def test_window_is_the_least_known_limit(each: tuple[str, Path, HfModel]) -> None:
    kind, folder, model = each
    assert model.max_length == WINDOWS[kind]
    assert opened(f"hf:{folder}?max_length=20").max_length == 20
    assert opened(folder, max_length=10_000).max_length == WINDOWS[kind]


def test_read_ends_where_a_change_stops_to_matter(each: tuple[str, Path, HfModel]) -> None:
    kind, folder, _ = each
    model = opened(f"hf:{folder}?max_length=12")

    def tokens(text: str) -> list[int]:
        return list(model.tokenizer(text, truncation=True, max_length=12)["input_ids"])

    texts = [TEXTS[2][:120], TEXTS[3], TEXTS[4], TEXTS[5], "word " * 20, ""]
    reads = model.read(texts)
    assert reads.dtype == np.int64
    for text, read in zip(texts, reads.tolist(), strict=True):
        if len(model.tokenizer(text)["input_ids"]) <= 12:
            assert read == len(text)
            continue
        brute = len(text)  # by brute force, the shortest beginning that gives the same tokens as the whole
        while tokens(text[: brute - 1]) == tokens(text):
            brute -= 1
        if kind in ("albert", "xlnet"):  # unigrams look ahead to the end of the word
            end_of_word = read + len((text[read:] + " ").split(" ")[0])
            assert read <= brute <= end_of_word
        else:
            assert read == brute
    assert reads[0] < 120
    assert reads[4] < 100


def test_read_is_whole_up_to_the_last_token_that_fits(each: tuple[str, Path, HfModel]) -> None:
    _, folder, _ = each
    model = opened(f"hf:{folder}?max_length=12")
    texts = ["!" * count for count in range(15)] + ["ü" * count for count in range(15)]
    fits = [len(model.tokenizer(text)["input_ids"]) <= 12 for text in texts]
    assert (model.read(texts) == [len(text) for text in texts]).tolist() == fits
    assert set(fits) == {True, False}


def test_a_change_behind_the_window_keeps_the_score(tiny_bert: Path) -> None:
    model = opened(f"hf:{tiny_bert}?max_length=12")
    text = TEXTS[2]
    seen = int(model.read([text])[0])
    other = text[:seen] + " something else altogether"
    np.testing.assert_array_equal(model.score([text]), model.score([other]))
    assert not np.array_equal(model.score([text]), model.score(["X" + text]))


def test_is_a_model_with_a_window(tiny_bert: Path) -> None:
    model = opened(tiny_bert)
    assert isinstance(model, Model)
    assert isinstance(model, Windowed)
    assert model.name == "tiny-bert"
    assert opened(tiny_bert, name="mine").name == "mine"
    assert model.score([]).shape == (0, 1)
    assert model.read([]).shape == (0,)


def test_positive_class_by_name_and_index(save_model: SaveModel) -> None:
    folder = save_model(id2label={0: "control", 1: "depression"})
    default, named = opened(folder), opened(f"hf:{folder}?positive=depression")
    first = opened(f"hf:{folder}?positive=0")
    assert default.labels == named.labels == ("depression",)
    assert default.fingerprint == named.fingerprint
    assert first.labels == ("control",)
    np.testing.assert_allclose(first.score(TEXTS) + default.score(TEXTS), 1)
    with refused("model.unknown-class", allowed="did you mean 'depression'"):
        open_model(f"hf:{folder}?positive=depresion")


def test_a_guessed_class_is_said_and_a_named_or_nameless_one_is_not(
    save_model: SaveModel, tiny_bert: Path
) -> None:
    folder = save_model(id2label={0: "healthy", 1: "depressed"})
    guess = "Guessed that class 'depressed' is 1 and 'healthy' is 0 (?positive=NAME)."
    assert opened(folder).capabilities.notes == (guess,)
    assert opened(f"hf:{folder}?positive=depressed").capabilities.notes == ()
    assert opened(tiny_bert).capabilities.notes == ()  # LABEL_1


def test_a_window_that_the_model_does_not_have_is_said(tiny_bert: Path) -> None:
    window = opened(tiny_bert).max_length
    assert opened(f"hf:{tiny_bert}?max_length={window}").capabilities.notes == ()
    (note,) = opened(f"hf:{tiny_bert}?max_length={window + 1}").capabilities.notes
    assert note == f"max_length {window + 1} is more than the model reads: its window is {window} tokens."


def test_label_names_a_nameless_class(tiny_bert: Path) -> None:
    assert opened(tiny_bert).labels == ("positive",)
    assert opened(f"hf:{tiny_bert}?label=depression").labels == ("depression",)


def test_a_second_class_that_reads_negative_is_not_guessed(save_model: SaveModel) -> None:
    folder = save_model(id2label={0: "depression", 1: "control"})
    with refused("model.positive-class-unclear"):
        open_model(folder)
    assert opened(f"hf:{folder}?positive=depression").labels == ("depression",)


def test_many_exclusive_classes_are_a_column_each(save_model: SaveModel) -> None:
    folder = save_model(id2label={0: "none", 1: "mild", 2: "severe"})
    model = opened(folder)
    assert model.labels == ("none", "mild", "severe")
    assert model.capabilities.exclusive
    np.testing.assert_allclose(
        model.score(TEXTS), logits_one_by_one(folder, _clean(), 48).softmax(-1), atol=1e-5
    )
    one = opened(f"hf:{folder}?positive=severe&label=depression")
    assert (one.labels, one.capabilities.exclusive) == (("depression",), False)
    np.testing.assert_allclose(one.score(TEXTS)[:, 0], model.score(TEXTS)[:, 2], atol=1e-7)
    with refused("model.label-count"):
        open_model(f"hf:{folder}?label=depression")


def test_many_labels_are_sigmoids(save_model: SaveModel) -> None:
    names = {0: "depression", 1: "anxiety"}
    folder = save_model(id2label=names, problem_type="multi_label_classification")
    model = opened(folder)
    assert model.labels == ("depression", "anxiety")
    np.testing.assert_allclose(
        model.score(TEXTS), logits_one_by_one(folder, _clean(), 48).sigmoid(), atol=1e-5
    )


def test_one_output_is_a_sigmoid(save_model: SaveModel) -> None:
    folder = save_model(num_labels=1)
    model = opened(folder)
    assert (model.labels, model.activation) == (("positive",), "sigmoid")
    np.testing.assert_allclose(
        model.score(TEXTS), logits_one_by_one(folder, _clean(), 48).sigmoid(), atol=1e-5
    )
    with refused("model.softmax-of-one"):
        open_model(f"hf:{folder}?activation=softmax")


def test_regression_is_refused_unless_told_how_to_read_it(save_model: SaveModel) -> None:
    folder = save_model(num_labels=1, problem_type="regression")
    with refused("model.regression"):
        open_model(folder)
    assert opened(f"hf:{folder}?activation=sigmoid").labels == ("positive",)


def test_not_a_number_stays_so(save_model: SaveModel) -> None:
    model = opened(save_model())
    with torch.no_grad():
        model.network.classifier.bias[0] = torch.nan
    assert np.isnan(model.score(["any text"])).all()


def test_a_decoder_without_padding_or_special_tokens(save_model: SaveModel) -> None:
    folder = save_model("gpt2")
    assert transformers.AutoTokenizer.from_pretrained(folder).pad_token is None
    texts = ["", "I feel tired all day.", "warm"]
    model = opened(folder)
    wanted = logits_one_by_one(folder, texts[1:], 48).softmax(-1)[:, 1]
    np.testing.assert_allclose(model.score(texts)[:, 0], [np.nan, *wanted], atol=1e-5)
    assert np.isnan(model.score([""])).all()  # nothing to read, so no usable answer


def test_fingerprint_follows_what_decides_on_scores(save_model: SaveModel, tmp_path: Path) -> None:
    folder = save_model(id2label={0: "no", 1: "yes"})
    plain = opened(folder)
    shutil.copytree(folder, tmp_path / "elsewhere")
    other_tokenizer = tmp_path / "tokenizer"
    shutil.copytree(folder, other_tokenizer)
    raw = json.loads((other_tokenizer / "tokenizer.json").read_text())
    raw["normalizer"]["lowercase"] = not raw["normalizer"]["lowercase"]
    (other_tokenizer / "tokenizer.json").write_text(json.dumps(raw))
    other = {
        "weights": opened(save_model(seed=1, id2label={0: "no", 1: "yes"})),
        "tokenizer": opened(other_tokenizer),
        "architecture": opened(changed_config(folder, tmp_path / "eps", layer_norm_eps=0.1)),
        "max_length": opened(folder, max_length=16),
        "labels": opened(folder, label="depression"),
        "activation": opened(folder, positive="1", activation="sigmoid"),
    }
    assert opened(tmp_path / "elsewhere").fingerprint == plain.fingerprint
    assert len({plain.fingerprint, *(model.fingerprint for model in other.values())}) == 7
    parts = plain.capabilities.parts
    for part, model in other.items():
        assert [key for key in parts if model.capabilities.parts[key] != parts[key]] == [part]


def test_weights_written_anew_are_hashed_anew(save_model: SaveModel, tmp_path: Path) -> None:
    shutil.copytree(save_model(seed=1), tmp_path / "m")
    before = opened(tmp_path / "m").fingerprint
    shutil.copy(save_model(seed=2) / "model.safetensors", tmp_path / "m" / "model.safetensors")
    assert opened(tmp_path / "m").fingerprint != before


def test_weights_in_shards_are_opened(save_model: SaveModel, tmp_path: Path) -> None:
    folder = save_model()
    shutil.copytree(folder, tmp_path / "m", ignore=shutil.ignore_patterns("*.safetensors"))
    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    network.save_pretrained(tmp_path / "m", max_shard_size="20KB")
    shards = sorted((tmp_path / "m").glob("*.safetensors"))
    assert len(shards) > 1
    np.testing.assert_array_equal(opened(tmp_path / "m").score(TEXTS), opened(folder).score(TEXTS))
    shards[0].unlink()
    with refused("model.weights-incomplete") as caught:
        open_model(f"hf:{tmp_path / 'm'}")
    assert shards[0].name in caught.value.what


def test_a_model_without_classification_layer_is_refused(save_model: SaveModel) -> None:
    with refused("model.no-trained-layer"):
        open_model(save_model(head=False))


def test_labels_that_do_not_fit_the_weights_are_refused(save_model: SaveModel, tmp_path: Path) -> None:
    three = changed_config(save_model(), tmp_path / "m", id2label={"0": "a", "1": "b", "2": "c"})
    with refused("model.sizes-mismatch"):
        open_model(three)


def test_pickled_weights_only_where_trusted(save_model: SaveModel, tmp_path: Path) -> None:
    folder = save_model()
    shutil.copytree(folder, tmp_path / "m", ignore=shutil.ignore_patterns("*.safetensors"))
    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    torch.save(network.state_dict(), tmp_path / "m" / "pytorch_model.bin")
    with refused("model.pickle-not-trusted", do="save_pretrained"):
        open_model(tmp_path / "m")
    with pytest.warns(PsycheckWarning, match="pickle"):
        trusting = opened(f"hf:{tmp_path / 'm'}?trust_pickle=true")
    np.testing.assert_array_equal(trusting.score(TEXTS), opened(folder).score(TEXTS))


def test_code_of_a_folder_is_not_run(save_model: SaveModel, tmp_path: Path) -> None:
    own = {"model_type": "strange", "auto_map": {"AutoConfig": "strange.StrangeConfig"}}
    folder = changed_config(save_model(), tmp_path / "m", **own)
    (folder / "strange.py").write_text(f"open({str(tmp_path / 'was_run')!r}, 'w')\n")
    with refused("model.needs-own-code", do="trust_remote_code=true"):
        open_model(folder)
    assert not (tmp_path / "was_run").exists()


def test_folders_that_are_no_model(save_model: SaveModel, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with refused("model.no-config"):
        open_model(f"hf:{tmp_path / 'empty'}")
    shutil.copytree(save_model(), tmp_path / "runs" / "checkpoint-5")
    with refused("model.no-config", do="checkpoint-5"):
        open_model(f"hf:{tmp_path / 'runs'}")
    (tmp_path / "empty" / "model.skops").touch()
    with refused("model.no-config") as caught:
        open_model(f"hf:{tmp_path / 'empty'}")
    assert caught.value.do == f"open it as sklearn:{tmp_path / 'empty' / 'model.skops'}"
    for gone, code in (
        ("model.safetensors", "model.no-weights"),
        ("tokenizer*.json", "model.no-tokenizer"),
        ("tokenizer.json", "model.no-tokenizer"),
    ):
        folder = tmp_path / f"without {gone.replace('*', 's')}"
        shutil.copytree(save_model(), folder, ignore=shutil.ignore_patterns(gone))
        with refused(code):
            open_model(folder)
    broken = save_model()
    (broken / "config.json").write_text("{")
    with refused("model.bad-json"):
        open_model(broken)
    garbled = save_model()
    (garbled / "model.safetensors").write_bytes(b"\0" * 100)
    with refused("model.cannot-load"):
        open_model(garbled)
    with refused("model.folder-not-there"):
        open_model("hf:./no/such/folder")


def test_a_hub_name_without_a_hub_is_one_clear_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with refused("model.not-on-hub"):
        open_model("hf:nobody/no-such-model")


def test_too_small_a_window_and_a_device_that_is_not_there(tiny_bert: Path) -> None:
    with refused("model.window-too-small", allowed="3 or more"):
        open_model(f"hf:{tiny_bert}?max_length=2")
    with refused("model.no-device"):
        open_model(f"hf:{tiny_bert}?device=nowhere")


def test_opening_and_scoring_say_nothing(save_model: SaveModel, capfd: pytest.CaptureFixture[str]) -> None:
    folder = save_model("longformer")
    capfd.readouterr()
    opened(folder).score(TEXTS)
    assert capfd.readouterr() == ("", "")


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tiny_bert: Path) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with refused("extra.missing", do="psycheck[train]"):
        open_model(tiny_bert)


def _clean() -> list[str]:
    return [text.replace("\ud800", "\ufffd") for text in TEXTS]


def test_a_trained_folder_says_what_it_was_trained_on(tmp_path: Path, tiny_bert: Path) -> None:
    folder = Path(shutil.copytree(tiny_bert, tmp_path / "model"))
    assert opened(folder).capabilities.trained_on == ()
    (folder / "training.json").write_text('{"trained_on": {"corpus": "posts"}}')
    assert opened(folder).capabilities.trained_on == ("posts",)


@pytest.mark.parametrize("key", ["attn_implementation", "_attn_implementation", "experts_implementation"])
def test_a_kernel_that_the_config_names_is_never_loaded(
    tiny_bert: Path, tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked_for(*_: Any, **__: Any) -> None:
        raise AssertionError("a kernel of the hub was asked for")

    monkeypatch.setattr("transformers.modeling_utils.lazy_import_flash_attention", asked_for)
    folder = changed_config(tiny_bert, tmp_path / "kernel", **{key: "somebody/kernel"})
    model = opened(folder)
    assert model.network.config._attn_implementation in ("eager", "sdpa")
    np.testing.assert_array_equal(model.score(TEXTS), opened(tiny_bert).score(TEXTS))


def test_kernels_of_nested_configurations_are_dropped(tiny_bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "nested"
    text = {"model_type": "clip_text_model", "attn_implementation": "somebody/kernel"}
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "clip", "text_config": text}))
    config = load_config(folder, HfOptions())
    assert config.text_config._attn_implementation is None


def test_a_built_in_way_to_compute_attention_is_kept(tiny_bert: Path, tmp_path: Path) -> None:
    folder = changed_config(tiny_bert, tmp_path / "eager", attn_implementation="eager")
    assert opened(folder).network.config._attn_implementation == "eager"

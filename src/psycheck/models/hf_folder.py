"""Model folders in the layout of Hugging Face: finding, checking, hashing and loading them."""

import inspect
import json
import os
import re
import tomllib
import warnings
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.errors import BadInput, ModelFailure, PsycheckWarning, explained, library
from psycheck.model import IntArray
from psycheck.models.fingerprint import file_hash, hashed, hashed_files, hashed_parts
from psycheck.models.options import ModelOptions

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
_NO_VOCABULARY = frozenset({"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"})
_TOKENIZER = ("tokenizer*.json", "vocab*", "merges.txt", "*.model", *_NO_VOCABULARY)
_KNOWN = tomllib.loads(Path(__file__).with_name("formats.toml").read_text("utf-8"))["transformers"]
BATCH = 32
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_LIMIT = 1_000_000  # tokenizers write 1e30 for "no limit"
_USUAL_WINDOW = 512


def libraries(what: str) -> tuple[Any, Any]:
    """torch and transformers, without log output, telemetry and kernels from the hub."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("USE_HUB_KERNELS", "NO")
    torch, transformers = (library(name, what, "train") for name in ("torch", "transformers"))
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    return torch, transformers


def find_folder(target: str, options: ModelOptions) -> Path:
    """The local folder, or the folder of a hub model after its download."""
    folder = Path(target).expanduser()
    if not folder.is_dir():
        if folder.exists() or not _HUB_NAME.fullmatch(target):
            allowed = "a folder with config.json, or a hub name"
            raise BadInput(f"there is no model folder '{target}'", allowed=allowed)
        folder = _from_hub(target, options)
    if not (folder / "config.json").is_file():
        what, do = "the folder holds no model", ""
        if (folder / "adapter_config.json").is_file():
            what = "the folder holds an adapter without its model"
            do = "merge the adapter (merge_and_unload) and save the result"
        elif skops := sorted(folder.glob("*.skops")):
            do = f"open it as sklearn:{skops[0]}"
        elif inside := sorted(path.parent.name for path in folder.glob("*/config.json")):
            do = f"name one of the folders inside: {', '.join(inside)}"
        allowed = "a folder with config.json, weights and tokenizer, as save_pretrained writes it"
        raise BadInput(what, where=target, allowed=allowed, do=do)
    return folder


def _from_hub(name: str, options: ModelOptions) -> Path:
    hub = import_module("huggingface_hub")
    import_module("huggingface_hub.utils").disable_progress_bars()
    wanted = ["*.json", "*.txt", "*.model", "*.safetensors"]
    wanted += ["*.py"] if options.trust_remote_code else []
    wanted += ["*.bin"] if options.trust_pickle else []
    left_out = ["onnx/*", "openvino/*"]
    what = f"there is no folder '{name}', and no model of that name could be downloaded from the hub"
    allowed = "a local folder, or the name of a public model if the hub can be reached"
    do = "check the name and the connection, or download the model elsewhere and name its folder"
    with explained(what, Exception, kind=ModelFailure, allowed=allowed, do=do):
        found = hub.snapshot_download(
            name, revision=options.revision, allow_patterns=wanted, ignore_patterns=left_out
        )
    return Path(found)


def weight_files(folder: Path, options: ModelOptions) -> list[Path]:
    """The files of the weights: safetensors, or pickled ones if the user trusts them."""
    for stem, pickled in (("model.safetensors", False), ("pytorch_model.bin", True)):
        index = folder / f"{stem}.index.json"
        if (folder / stem).is_file():
            files = [folder / stem]
        elif index.is_file():
            files = [folder / shard for shard in sorted(set(read_json(index).get("weight_map", {}).values()))]
        else:
            continue
        if absent := [file.name for file in files if not file.is_file()]:
            raise BadInput(f"weights are incomplete: {', '.join(absent)} missing", where=str(folder))
        if pickled and not options.trust_pickle:
            raise BadInput(
                "the weights are pickled (pytorch_model.bin), and opening a pickle can run code",
                where=str(folder),
                allowed="model.safetensors",
                do="if you trust them, convert them: AutoModelForSequenceClassification.from_pretrained("
                "FOLDER).save_pretrained(NEW_FOLDER); or add ?trust_pickle=true to the model",
            )
        if pickled:
            what = f"the weights in {folder.name} are a pickle, which can run code: open only what you trust"
            warnings.warn(what, PsycheckWarning, stacklevel=2)
        return files
    raise BadInput("the folder holds no weights", where=str(folder), allowed="model.safetensors")


def load_config(folder: Path, options: ModelOptions) -> Any:
    """The configuration of the model; code from the folder runs only with `trust_remote_code`.

    An attention kernel that config.json names would be downloaded and run: only the built-in ones stay.
    """
    _, transformers = libraries("hf: models")
    read_json(folder / "config.json")
    with _as_model_failure(folder, "config.json cannot be understood"):
        config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=options.trust_remote_code)
        for name in ("_attn_implementation", "_experts_implementation"):
            if not _values(config, name) <= {None, *_KNOWN["built_in_attention"]}:
                setattr(config, name, None)  # of the nested configurations, too
        return config


def _values(config: Any, name: str) -> set[Any]:
    """The values of an attribute in a configuration and those nested in it."""
    nested = [getattr(config, key, None) for key in config.sub_configs]
    inside = [_values(one, name) for one in nested if one is not None]
    return {getattr(config, name, None)}.union(*inside)


def load_tokenizer(folder: Path, options: ModelOptions) -> Any:
    """The tokenizer of the folder, which truncates long texts at the end."""
    _, transformers = libraries("hf: models")
    absent = BadInput(
        "the folder holds no tokenizer",
        where=str(folder),
        allowed="tokenizer.json or a vocabulary",
        do="save the tokenizer into the same folder: tokenizer.save_pretrained(FOLDER)",
    )
    files = {path.name for path in _tokenizer_files(folder)}
    if not files:
        raise absent
    with _as_model_failure(folder, "the tokenizer cannot be loaded"):
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            folder, trust_remote_code=options.trust_remote_code
        )
    if tokenizer.is_fast and not files - _NO_VOCABULARY:  # transformers would make an empty one
        raise absent
    tokenizer.truncation_side = "right"
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    return tokenizer


def load_network(loader: Any, folder: Path, config: Any, options: ModelOptions) -> tuple[Any, dict[str, Any]]:
    """The network in evaluation mode and single precision, and the report on missing weights."""
    torch, _ = libraries("hf: models")
    pickled = weight_files(folder, options)[0].suffix == ".bin"
    with _as_model_failure(folder, "the model cannot be loaded"):
        network, report = loader.from_pretrained(
            folder,
            config=config,
            dtype=torch.float32,
            use_safetensors=not pickled,
            trust_remote_code=options.trust_remote_code,
            local_files_only=not options.trust_remote_code,
            ignore_mismatched_sizes=True,
            output_loading_info=True,
        )
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        network = network.eval().to(device)
    except (RuntimeError, AssertionError) as error:
        raise BadInput(f"the device '{device}' cannot be used", allowed="cpu, cuda, cuda:1, mps …") from error
    return network, report


def window_of(tokenizer: Any, config: Any, wanted: int | None, *, where: str) -> int:
    """How many tokens the model reads, including special ones: the smallest of all known limits."""
    limits = [] if wanted is None else [wanted]
    if tokenizer.model_max_length < _NO_LIMIT:
        limits.append(tokenizer.model_max_length)
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        if config.model_type in _KNOWN["offset_positions"]:
            padding = getattr(config, "pad_token_id", None)
            positions -= 2 if padding is None else padding + 1
        limits.append(positions)
    elif tokenizer.model_max_length >= _NO_LIMIT:
        limits.append(_USUAL_WINDOW)
    least = tokenizer.num_special_tokens_to_add() + 1
    if min(limits) < least:
        what = f"max_length {min(limits)} leaves no room for text"
        raise BadInput(what, where=where, allowed=f"{least} or more")
    return min(limits)


def speakable(texts: Sequence[str]) -> list[str]:
    """Texts that tokenizers accept: lone surrogates become the replacement character."""
    return [text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text) for text in texts]


def characters_read(tokenizer: Any, texts: Sequence[str], max_length: int) -> IntArray:
    """How many characters of each text fit into the window, (n,); len(text) if the whole text is read."""
    lengths = np.array([len(text) for text in texts], np.int64)
    # An ASCII text has at most one token per character, an initial mark and the special tokens.
    room = max_length - tokenizer.num_special_tokens_to_add() - 1
    unsure = [i for i, text in enumerate(texts) if len(text) > room or not text.isascii()]
    if unsure:
        look = _by_offsets if tokenizer.is_fast else _by_prefixes
        lengths[unsure] = look(tokenizer, speakable([texts[i] for i in unsure]), max_length)
    return lengths


def _by_offsets(tokenizer: Any, texts: list[str], max_length: int) -> list[int]:
    """Fast tokenizers know the characters of each token."""
    reads = [len(text) for text in texts]
    for i, found in enumerate(tokenizer(texts, truncation=True, max_length=max_length).encodings):
        if found.overflowing:
            tokens = zip(found.offsets, found.special_tokens_mask, strict=True)
            reads[i] = max((end for (_, end), special in tokens if not special), default=0)
    return reads


def _by_prefixes(tokenizer: Any, texts: list[str], max_length: int) -> list[int]:
    """For slow tokenizers, search for the shortest prefix with the same tokens as the whole text.

    Bisection assumes that longer prefixes keep the tokens; a word that is cut in the middle may break that,
    so the result can be off by a part of the word at the edge of the window.
    """

    def tokens(text: str, *, cut: bool = True) -> list[int]:
        return list(tokenizer(text, truncation=cut, max_length=max_length if cut else None)["input_ids"])

    reads = []
    for text in texts:
        whole = tokens(text)
        if len(whole) < max_length or whole == tokens(text, cut=False):
            reads.append(len(text))
            continue
        reads.append(bisect_left(range(len(text)), True, key=lambda end: tokens(text[:end]) == whole))
    return reads


def folder_parts(folder: Path, options: ModelOptions) -> dict[str, str]:
    """Hashes of everything that decides the outputs of a model; its name and path do not count."""
    config = read_json(folder / "config.json")
    config = {key: config[key] for key in config.keys() - set(_KNOWN["no_computation"])}
    parts = {
        "weights": hashed(*(file_hash(path) for path in weight_files(folder, options))),
        "tokenizer": hashed_files(_tokenizer_files(folder)),
        "architecture": hashed(json.dumps(config, sort_keys=True)),
    }
    if options.trust_remote_code:
        parts["code"] = hashed_files(folder.glob("*.py"))
    return parts


def checked_folder(what: str, target: str, options: ModelOptions) -> tuple[Any, Path, Any, Any]:
    """transformers, the folder, its configuration and its tokenizer; its weights are checked, not loaded."""
    _, transformers = libraries(what)
    folder = find_folder(target, options)
    weight_files(folder, options)
    return transformers, folder, load_config(folder, options), load_tokenizer(folder, options)


def loaded(
    loader: Any,
    target: str,
    folder: Path,
    config: Any,
    tokenizer: Any,
    options: ModelOptions,
    decides: dict[str, str],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of a `Transformer`, and the report on missing weights; `decides` are parts of its own."""
    max_length = window_of(tokenizer, config, options.max_length, where=target)
    network, report = load_network(loader, folder, config, options)
    local = Path(target).expanduser().is_dir()
    parts = folder_parts(folder, options) | {"max_length": str(max_length)} | decides
    common = {
        "name": options.name or (folder.resolve().name if local else target.rpartition("/")[2]),
        "fingerprint": hashed_parts(parts),
        "parts": parts,
        "max_length": max_length,
        "batch": options.batch or BATCH,
        "tokenizer": tokenizer,
        "network": network,
        "inputs": frozenset(inspect.signature(network.forward).parameters),
    }
    return common, report


def _tokenizer_files(folder: Path) -> list[Path]:
    return sorted({path for pattern in _TOKENIZER for path in folder.glob(pattern) if path.is_file()})


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path.name} is not readable JSON", where=str(path)) from error
    if not isinstance(content, dict):
        raise BadInput(f"{path.name} is not a JSON object", where=str(path))
    return content


@contextmanager
def _as_model_failure(folder: Path, what: str) -> Iterator[None]:
    """Turn any error of loading into a ModelFailure."""
    try:
        yield
    except Exception as error:
        first = (str(error).strip().splitlines() or [""])[0]
        remote = "trust_remote_code" in str(error)
        raise ModelFailure(
            what if remote else f"{what} ({type(error).__name__}: {first[:200]})",
            where=str(folder),
            do="the model needs its own code: add trust_remote_code=true if you trust it" if remote else "",
        ) from error

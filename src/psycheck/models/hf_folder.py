"""Model folders in the layout of Hugging Face: finding, checking, hashing and loading them."""

import json
import os
import re
import tomllib
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

from psycheck.core.errors import BadInput, ModelFailure, PsycheckWarning, explained, library
from psycheck.io.settings import AT_LEAST_1
from psycheck.models.fingerprint import file_hash, hashed, hashed_files, state_hash
from psycheck.models.options import ModelOptions, Text
from psycheck.models.tfidf_file import TFIDF_FILE

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
_NO_VOCABULARY = frozenset({"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"})
_TOKENIZER_FILES = ("tokenizer*.json", "vocab*", "merges.txt", "*.model", *_NO_VOCABULARY)
_FACTS = tomllib.loads(Path(__file__).with_name("formats.toml").read_text("utf-8"))["transformers"]
_NO_LIMIT = 1_000_000  # tokenizers write 1e30 for "no limit"
_USUAL_WINDOW = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class HfOptions(ModelOptions):
    """Options of a transformer.

    `positive` is the positive class by name or index, `max_length` the window in tokens, `revision` that of
    the hub. With `trust_pickle` pickled weights are opened, with `trust_remote_code` the folder's code runs.
    `fast` scores in 8 bits (`psycheck.models.fast`).
    """

    positive: Text | None = None
    max_length: Annotated[int, AT_LEAST_1] | None = None
    activation: Literal["softmax", "sigmoid"] | None = None
    device: Text | None = None
    revision: Text | None = None
    trust_pickle: bool = False
    trust_remote_code: bool = False
    fast: bool = False


def libraries(what: str) -> tuple[Any, Any]:
    """torch and transformers, without log output, telemetry and kernels from the hub."""
    os.environ.setdefault("USE_HUB_KERNELS", "NO")
    torch = library("torch", what, "train")
    return torch, transformers_library(what)


def transformers_library(what: str) -> Any:
    """transformers alone, for configurations and tokenizers: neither needs torch."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    transformers = library("transformers", what, "train")
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    return transformers


def find_folder(target: str, options: HfOptions) -> Path:
    """The local folder, or the folder of a hub model after its download."""
    folder = Path(target).expanduser()
    if not folder.is_dir():
        if folder.exists() or not _HUB_NAME.fullmatch(target):
            raise BadInput(
                f"there is no model folder '{target}'",
                code="model.folder-not-there",
                allowed="a folder with config.json, or a hub name",
            )
        folder = _from_hub(target, options)
    if not (folder / "config.json").is_file():
        raise _without_config(folder, target)
    return folder


def _without_config(folder: Path, target: str) -> BadInput:
    """The error for a folder without config.json, with what it seems to be instead."""
    what = "the folder holds no model"
    do = ""
    pipelines = [*folder.glob(TFIDF_FILE), *sorted(folder.glob("*.skops"))]
    inner_models = sorted(path.parent.name for path in folder.glob("*/config.json"))

    if (folder / "adapter_config.json").is_file():
        what = "the folder holds an adapter without its model"
        do = "merge the adapter (merge_and_unload) and save the result"
    elif pipelines:
        do = f"open it as sklearn:{pipelines[0]}"
    elif inner_models:
        do = f"name one of the folders inside: {', '.join(inner_models)}"
    return BadInput(
        what,
        code="model.no-config",
        where=target,
        allowed="a folder with config.json, weights and tokenizer, as save_pretrained writes it",
        do=do,
    )


def _from_hub(name: str, options: HfOptions) -> Path:
    """Download a model; code and pickles only if the user trusts them."""
    hub = import_module("huggingface_hub")
    import_module("huggingface_hub.utils").disable_progress_bars()

    # Weights for other frameworks would multiply the download.
    patterns = ["*.json", "*.txt", "*.model", "*.safetensors"]
    if options.trust_remote_code:
        patterns.append("*.py")
    if options.trust_pickle:
        patterns.append("*.bin")

    with explained(
        f"there is no folder '{name}', and no model of that name could be downloaded from the hub",
        Exception,
        kind=ModelFailure,
        code="model.not-on-hub",
        allowed="a local folder, or the name of a public model if the hub can be reached",
        do="check the name and the connection, or download the model elsewhere and name its folder",
    ):
        folder = hub.snapshot_download(
            name,
            revision=options.revision,
            allow_patterns=patterns,
            ignore_patterns=["onnx/*", "openvino/*"],
        )
    return Path(folder)


def weight_files(folder: Path, options: HfOptions) -> list[Path]:
    """The files of the weights: safetensors, or pickled ones if the user trusts them."""
    # safetensors hold numbers alone; a pickle beside them is never opened.
    files = _files_of_weights(folder, "model.safetensors")
    if files:
        return files
    files = _files_of_weights(folder, "pytorch_model.bin")
    if not files:
        raise BadInput(
            "the folder holds no weights",
            code="model.no-weights",
            where=str(folder),
            allowed="model.safetensors",
        )

    if not options.trust_pickle:
        raise BadInput(
            "the weights are pickled (pytorch_model.bin), and opening a pickle can run code",
            code="model.pickle-not-trusted",
            where=str(folder),
            allowed="model.safetensors",
            do="if you trust them, convert them: AutoModelForSequenceClassification.from_pretrained("
            "FOLDER).save_pretrained(NEW_FOLDER); or add ?trust_pickle=true to the model",
        )
    what = f"the weights in {folder.name} are a pickle, which can run code: open only what you trust"
    warnings.warn(what, PsycheckWarning, stacklevel=2)
    return files


def _files_of_weights(folder: Path, name: str) -> list[Path]:
    """One file of weights, or the shards that its index lists; empty if there is neither."""
    index = folder / f"{name}.index.json"
    if (folder / name).is_file():
        return [folder / name]
    if not index.is_file():
        return []

    # The index maps each weight to its shard.
    shards = sorted(set(read_json(index).get("weight_map", {}).values()))
    absent = [shard for shard in shards if not (folder / shard).is_file()]
    if absent:
        raise BadInput(
            f"weights are incomplete: {', '.join(absent)} missing",
            code="model.weights-incomplete",
            where=str(folder),
        )
    return [folder / shard for shard in shards]


def load_config(folder: Path, options: HfOptions) -> Any:
    """The configuration of the model; code from the folder runs only with `trust_remote_code`.

    An attention kernel that config.json names would be downloaded and run: only the built-in ones stay.
    """
    transformers = transformers_library("a transformer")
    # transformers' own message on broken JSON is a traceback.
    read_json(folder / "config.json")
    with _as_model_failure(folder, "config.json cannot be understood", code="model.bad-config"):
        config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=options.trust_remote_code)
        for name in ("_attn_implementation", "_experts_implementation"):
            if not _values(config, name) <= {None, *_FACTS["built_in_attention"]}:
                setattr(config, name, None)  # this sets the nested configurations, too
        return config


def _values(config: Any, name: str) -> set[Any]:
    """The values of an attribute in a configuration and those nested in it."""
    values = {getattr(config, name, None)}
    for key in config.sub_configs:
        nested = getattr(config, key, None)
        if nested is not None:
            values |= _values(nested, name)
    return values


def load_tokenizer(folder: Path, options: HfOptions) -> Any:
    """The tokenizer of the folder, which truncates long texts at the end."""
    transformers = transformers_library("a tokenizer")
    file_names = {path.name for path in _tokenizer_files(folder)}
    if not file_names:
        raise _no_tokenizer(folder)

    with _as_model_failure(folder, "the tokenizer cannot be loaded", code="model.bad-tokenizer"):
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            folder,
            trust_remote_code=options.trust_remote_code,
        )
    if tokenizer.is_fast and file_names <= _NO_VOCABULARY:  # transformers would make an empty one
        raise _no_tokenizer(folder)

    # Some tokenizers cut the beginning of a text; what is read must be a prefix.
    tokenizer.truncation_side = "right"
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    return tokenizer


def _no_tokenizer(folder: Path) -> BadInput:
    return BadInput(
        "the folder holds no tokenizer",
        code="model.no-tokenizer",
        where=str(folder),
        allowed="tokenizer.json or a vocabulary",
        do="save the tokenizer into the same folder: tokenizer.save_pretrained(FOLDER)",
    )


def load_network(
    loader: Any,
    folder: Path,
    config: Any,
    options: HfOptions,
) -> tuple[Any, dict[str, Any]]:
    """The network in evaluation mode and single precision, and the report on missing weights."""
    torch, _ = libraries("hf: models")
    is_pickled = weight_files(folder, options)[0].suffix == ".bin"
    with _as_model_failure(folder, "the model cannot be loaded", code="model.cannot-load"):
        network, report = loader.from_pretrained(
            folder,
            config=config,
            dtype=torch.float32,
            use_safetensors=not is_pickled,
            trust_remote_code=options.trust_remote_code,
            # Code of a model may live in another repository of the hub.
            local_files_only=not options.trust_remote_code,
            # Sizes that do not match are refused later, with a message of our own.
            ignore_mismatched_sizes=True,
            output_loading_info=True,
        )

    default_device = "cuda" if torch.cuda.is_available() else "cpu"
    device = options.device or default_device
    try:
        network = network.eval().to(device)
    except (RuntimeError, AssertionError) as error:
        raise BadInput(
            f"the device '{device}' cannot be used",
            code="model.no-device",
            allowed="cpu, cuda, cuda:1, mps …",
        ) from error
    return network, report


def window_of(
    tokenizer: Any,
    config: Any,
    max_length: int | None,
    *,
    where: str,
) -> int:
    """How many tokens the model reads, including special ones: the smallest of all known limits."""
    limits = []
    if max_length is not None:
        limits.append(max_length)
    tokenizer_has_limit = tokenizer.model_max_length < _NO_LIMIT
    if tokenizer_has_limit:
        limits.append(tokenizer.model_max_length)

    positions = _positions(config)
    if positions is not None:
        limits.append(positions)
    # Models with relative positions, such as XLNet, have no limit of their own.
    elif not tokenizer_has_limit:
        limits.append(_USUAL_WINDOW)

    least = tokenizer.num_special_tokens_to_add() + 1
    if min(limits) < least:
        raise BadInput(
            f"max_length {min(limits)} leaves no room for text",
            code="model.window-too-small",
            where=where,
            allowed=f"{least} or more",
        )
    return min(limits)


def _positions(config: Any) -> int | None:
    """How many tokens have position embeddings; None where the configuration does not say."""
    positions = getattr(config, "max_position_embeddings", None)
    if not isinstance(positions, int) or positions <= 0:
        return None
    if config.model_type not in _FACTS["offset_positions"]:
        return positions
    # RoBERTa and its relatives count positions from the padding token's index on.
    padding = getattr(config, "pad_token_id", None)
    if padding is None:
        return positions - 2
    return positions - int(padding) - 1


def folder_parts(folder: Path, options: HfOptions, tokenizer_folder: Path | None = None) -> dict[str, str]:
    """Hashes of everything that decides the outputs of a model; its name and path do not count."""
    parts = folder_parts_of(folder, weight_files(folder, options), tokenizer_folder)
    if options.trust_remote_code:
        parts["code"] = hashed_files(folder.glob("*.py"))
    return parts


def folder_parts_of(
    folder: Path, weights: Sequence[Path], tokenizer_folder: Path | None = None
) -> dict[str, str]:
    """Hashes of files of weights, of the configuration in a folder, and of the tokenizer."""
    config = read_json(folder / "config.json")
    # The version of the library that saved a folder, for example, changes no score.
    deciding_keys = config.keys() - set(_FACTS["no_computation"])
    deciding_config = {key: config[key] for key in deciding_keys}
    return {
        "weights": hashed(*map(file_hash, weights)),
        "tokenizer": hashed_files(_tokenizer_files(tokenizer_folder or folder)),
        "architecture": hashed(json.dumps(deciding_config, sort_keys=True)),
    }


def network_parts(network: Any, tokenizer: Any) -> dict[str, str]:
    """Hashes of what decides the outputs of a model in memory: its weights, tokenizer and configuration."""
    config = json.loads(network.config.to_json_string(use_diff=False))
    deciding_keys = config.keys() - set(_FACTS["no_computation"])
    deciding_config = {key: config[key] for key in deciding_keys}

    vocabulary = json.dumps(tokenizer.get_vocab(), sort_keys=True)
    rules = tokenizer.backend_tokenizer.to_str() if tokenizer.is_fast else str(tokenizer.init_kwargs)
    return {
        "weights": state_hash(network),
        "tokenizer": hashed(vocabulary, rules),
        "architecture": hashed(json.dumps(deciding_config, sort_keys=True, default=str)),
    }


def _tokenizer_files(folder: Path) -> list[Path]:
    files: set[Path] = set()
    for pattern in _TOKENIZER_FILES:
        files.update(path for path in folder.glob(pattern) if path.is_file())
    return sorted(files)


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(
            f"{path.name} is not readable JSON",
            code="model.bad-json",
            where=str(path),
        ) from error
    if not isinstance(content, dict):
        raise BadInput(f"{path.name} is not a JSON object", code="model.bad-json", where=str(path))
    return content


@contextmanager
def _as_model_failure(folder: Path, what: str, *, code: str) -> Iterator[None]:
    """Turn any error of loading into a ModelFailure."""
    try:
        yield
    except Exception as error:
        if "trust_remote_code" in str(error):
            raise ModelFailure(
                what,
                code="model.needs-own-code",
                where=str(folder),
                do="the model needs its own code: add trust_remote_code=true if you trust it",
            ) from error
        lines = str(error).strip().splitlines() or [""]
        raise ModelFailure(
            f"{what} ({type(error).__name__}: {lines[0][:200]})",
            code=code,
            where=str(folder),
        ) from error

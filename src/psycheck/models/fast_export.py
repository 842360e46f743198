"""Networks of transformers as ONNX files whose products are in 8 bits; imports torch and onnx."""

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn

from psycheck.io.writing import private_folder, written
from psycheck.models.hf import HfModel

LOGITS = "logits"
_OPERATORS = ["MatMul"]


class Logits(nn.Module):
    """A classifier with its inputs by position, and nothing but the logits."""

    def __init__(self, network: Any, names: list[str]) -> None:
        super().__init__()
        self.network = network
        self.names = names

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        """The logits of a batch, (n, outputs)."""
        by_name = dict(zip(self.names, inputs, strict=True))
        logits: torch.Tensor = self.network(**by_name).logits
        return logits


def export(model: HfModel, file: Path, products: str) -> None:
    """Write the network with all its products in 8 bits, or those of "attention", whole or not at all."""
    private_folder(file.parent)
    with written(file) as part, _quietly():
        # The quantiser reads a file, which is much larger than what it writes.
        in_32_bits = part.with_suffix(".fp32.onnx")
        try:
            _program(model).save(str(in_32_bits))
            graph = onnx.load(str(in_32_bits))
            # The shapes that the export saw are those of its example; the quantiser infers them anew.
            del graph.graph.value_info[:]
            onnx.save(graph, str(in_32_bits))
            quantize_dynamic(
                in_32_bits,
                part,
                per_channel=True,
                op_types_to_quantize=_OPERATORS,
                weight_type=QuantType.QInt8,
                nodes_to_exclude=_oblong_products(graph) if products == "attention" else [],
            )
        finally:
            in_32_bits.unlink(missing_ok=True)


def _program(model: HfModel) -> Any:
    """The network as an ONNX program for batches of any size and length."""
    # Two texts of several words: a size of 1 would be taken for a constant.
    tokens = model.tokenizer(["How are you today?", "Fine."], padding=True, return_tensors="pt")
    names = [name for name in tokens if name in model.inputs]
    any_size = torch.export.Dim.DYNAMIC
    return torch.onnx.export(
        Logits(model.network, names),
        tuple(tokens[name] for name in names),
        dynamo=True,
        verbose=False,
        input_names=names,
        output_names=[LOGITS],
        dynamic_shapes=(tuple({0: any_size, 1: any_size} for _ in names),),
    )


def _oblong_products(graph: Any) -> list[str]:
    """The products with weights that are not square: those of the feed-forward layers, the most delicate."""
    shape_of_weights = {weights.name: tuple(weights.dims) for weights in graph.graph.initializer}
    names = []
    for node in graph.graph.node:
        shape = shape_of_weights.get(node.input[1]) if node.op_type in _OPERATORS else None
        if shape is not None and len(set(shape)) > 1:
            names.append(node.name)
    return names


@contextmanager
def _quietly() -> Iterator[None]:
    """Without what exporter and quantiser print, warn of and log: their user can do nothing about it."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)

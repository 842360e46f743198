"""The reference page of prompts and scales, written from their files."""

from collections.abc import Iterator

from psycheck.core.registry import PROMPTS
from psycheck.llm.prompts import Prompt, read_prompt, shipped_prompts
from psycheck.symptoms.scales import Scale, read_scale, shipped_scales

_HEAD = """# Prompts and scales

Written by `make docs` from the files in `src/psycheck/llm/shipped_prompts/` and
`src/psycheck/symptoms/rating_scales/`. How to write your own: [ask an LLM](../how-to/llm.md#prompts).

## Prompts

| name | asks | answer | labels | examples | source |
|---|---|---|---|---:|---|
"""
_SCALES = """
## Scales

Order and names of the symptoms, ranges, bands and cut-offs are those of the instruments; the descriptions are
our own words, and no item is quoted. A rating by a model is not the instrument: nobody was asked, and nothing
here is a diagnosis. The verdict has the score 0 at a total of 0, 0.5 at the cut-off and 1 at the highest
total, and is linear between these.
"""
_LABELS_SHOWN = 3


def reference() -> str:
    """The page in Markdown; prompts of other packages are not on it."""
    ours = [name for name in shipped_prompts() if PROMPTS.is_ours(name)]
    prompts = [f"{_prompt_row(read_prompt(name))}\n" for name in ours]
    scales = ["\n".join(_scale_section(read_scale(name))) for name in shipped_scales()]
    return "".join([_HEAD, *prompts, _SCALES, *scales])


def _prompt_row(prompt: Prompt) -> str:
    answer: str = prompt.answer
    if prompt.scale:
        answer += f" `{prompt.scale.name}`, {prompt.items}"
    labels = ", ".join(prompt.labels[:_LABELS_SHOWN])
    if len(prompt.labels) > _LABELS_SHOWN:
        labels += " …"

    cells = [
        f"`{prompt.name}`",
        prompt.title,
        answer,
        labels,
        str(prompt.examples or ""),
        prompt.source,
    ]
    return f"| {' | '.join(cells)} |"


def _scale_section(scale: Scale) -> Iterator[str]:
    n = len(scale.item)
    most = scale.total[1]
    bands = [f"{band.totals[0]}–{band.totals[1]} {band.name}" for band in scale.band]

    yield f"\n### {scale.title}\n"
    yield f"`{scale.name}`: {n} items of 0 to {scale.points[1]} points, total 0 to {most}. {scale.source}.\n"
    yield f"- Cut-off for {scale.condition}: {scale.cutoff}. {scale.cutoff_source}."
    yield f"- Bands: {', '.join(bands)}."
    if scale.yes is not None:
        yield f"- A plain yes counts {scale.yes} points. {scale.yes_source}."
    yield f"- Missing items: up to {int(scale.missing * n)} of {n}. {scale.missing_source}.\n"

    yield "| label | symptom | what it is about |"
    yield "|---|---|---|"
    for label, item in zip(scale.labels[1:], scale.item, strict=True):
        yield f"| `{label}` | {item.name} | {item.about} |"
    yield ""

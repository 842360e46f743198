"""The reference page of prompts and scales, written from their files."""

from collections.abc import Iterator

from psycheck.knowledge.prompts import Prompt, read_prompt, shipped_prompts
from psycheck.knowledge.scales import Scale, read_scale, shipped_scales

_HEAD = """# Prompts and scales

Written by `make docs` from the files in `src/psycheck/knowledge/`. How to write your own:
[prompts](../how-to/prompts.md).

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


def reference() -> str:
    """The page in Markdown."""
    rows = "".join(f"{_row(read_prompt(name))}\n" for name in shipped_prompts())
    scales = "".join("\n".join(_scale(read_scale(name))) for name in shipped_scales())
    return f"{_HEAD}{rows}{_SCALES}{scales}"


def _row(prompt: Prompt) -> str:
    answer = prompt.answer + (f" `{prompt.scale.name}`, {prompt.items}" if prompt.scale else "")
    labels = ", ".join(prompt.labels[:3]) + (" …" if len(prompt.labels) > 3 else "")
    cells = (f"`{prompt.name}`", prompt.title, answer, labels, str(prompt.examples or ""), prompt.source)
    return f"| {' | '.join(cells)} |"


def _scale(scale: Scale) -> Iterator[str]:
    bands = ", ".join(f"{band.totals[0]}–{band.totals[1]} {band.name}" for band in scale.band)
    n, most = len(scale.item), scale.total[1]
    yield f"\n### {scale.title}\n"
    yield f"`{scale.name}`: {n} items of 0 to {scale.points[1]} points, total 0 to {most}. {scale.source}.\n"
    yield f"- Cut-off for {scale.condition}: {scale.cutoff}. {scale.cutoff_source}."
    yield f"- Bands: {bands}."
    if scale.yes is not None:
        yield f"- A plain yes counts {scale.yes} points. {scale.yes_source}."
    yield f"- Missing items: up to {int(scale.missing * n)} of {n}. {scale.missing_source}.\n"
    yield "| label | symptom | what it is about |"
    yield "|---|---|---|"
    for label, item in zip(scale.labels[1:], scale.item, strict=True):
        yield f"| `{label}` | {item.name} | {item.about} |"
    yield ""

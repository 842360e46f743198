"""What a spec of an LLM names, read and checked: its prompt, its pool of examples, its other columns."""

from typing import TYPE_CHECKING

import numpy as np

from psycheck.core.errors import BadInput
from psycheck.llm.options import LlmOptions
from psycheck.llm.prompts import UNASKED_REASON, Prompt, move_cutoff, read_prompt, shipped_prompts
from psycheck.llm.providers.provider import PROVIDERS

if TYPE_CHECKING:
    from psycheck.llm.few_shot import ExamplePool
    from psycheck.llm.post_columns import PostColumns


def check_api(target: str, options: LlmOptions, base_url: str) -> None:
    """Refuse what the provider's protocol does not have."""
    provider = PROVIDERS[options.api]
    if not base_url:
        raise BadInput(
            f"api={options.api} has no usual address",
            code="llm.no-address",
            where=f"llm:{target}",
            allowed="such as base_url=https://NAME.openai.azure.com",
            do="add base_url=",
        )
    if options.logprobs and "logprobs" in provider.lacks:
        raise BadInput(
            f"api={options.api} has no token probabilities",
            code="llm.no-logprobs",
            where=f"llm:{target}",
            do="leave out logprobs=yes; samples=5 gives a share of answers instead",
        )
    if options.key_header and options.api != "openai":
        raise BadInput(
            f"api={options.api} sends the key in a header of its own",
            code="llm.key-header",
            where=f"llm:{target}",
            do="leave out key_header",
        )


def prompt_of(target: str, options: LlmOptions) -> Prompt:
    """The prompt that a spec names, with its cut-off."""
    if options.prompt is None:
        raise BadInput(
            "the spec names no prompt",
            code="llm.no-prompt",
            where=f"llm:{target}",
            allowed=f"a shipped prompt ({', '.join(shipped_prompts())}) or a TOML file",
            do="add prompt=NAME",
        )
    prompt = read_prompt(options.prompt)
    if options.cutoff is None:
        return prompt
    return move_cutoff(prompt, options.cutoff)


def notes_of(prompt: Prompt, options: LlmOptions, pool: "ExamplePool | None") -> tuple[str, ...]:
    """What the user should know before anything is asked."""
    notes = pool.notes if pool else ()
    if prompt.wants_reason_unasked and options.schema is not False:
        notes = (*notes, UNASKED_REASON.format(name=prompt.name))
    return notes


def thresholds_of(prompt: Prompt) -> tuple[float, ...]:
    """An item that is rated in points counts as present from one point on; NaN for the verdict."""
    scale = prompt.scale
    if scale is None or prompt.items != "points":
        return ()
    # Scores are points as shares of the most: half a point parts none from one.
    half_a_point = 0.5 / scale.points[1]
    return (np.nan, *[half_a_point] * len(scale.item))


def pool_of(prompt: Prompt, options: LlmOptions) -> "ExamplePool | None":
    """The pool that examples are drawn from; a prompt that shows examples needs one."""
    if prompt.examples and options.pool is None:
        raise BadInput(
            f"prompt '{prompt.name}' shows examples, and the spec names no pool",
            code="llm.no-pool",
            do="add pool=CORPUS to the spec",
        )
    if options.pool is None:
        return None
    if not prompt.examples:
        raise BadInput(
            f"prompt '{prompt.name}' shows no examples, and the spec names a pool",
            code="llm.pool-without-examples",
            do="leave out pool, or name a few-shot prompt",
        )

    # Only with a pool: most prompts have none, and the modules of pools are not loaded for them.
    from psycheck.llm.few_shot import Choice, open_pool

    choice = Choice(
        shots=options.shots or prompt.examples,
        order=options.order,
        balance=options.balance,
        encoder=options.encoder,
        seed=options.seed or 0,
        split=options.pool_split,
        authors=options.authors,
    )
    return open_pool(options.pool, prompt.labels, choice)


def columns_of(prompt: Prompt, options: LlmOptions) -> "PostColumns | None":
    """The file of other columns; a prompt with slots for them needs one."""
    if bool(prompt.columns) != (options.columns is not None):
        raise BadInput(
            f"prompt '{prompt.name}' has {'' if prompt.columns else 'no '}slots for other columns, and the "
            f"spec names {'no' if prompt.columns else 'a'} file of them",
            code="llm.columns",
            allowed=f"columns=FILE for {', '.join(prompt.columns)}" if prompt.columns else "",
            do="name the corpus: columns=posts.csv" if prompt.columns else "leave out columns",
        )
    if options.columns is None:
        return None

    from psycheck.llm.post_columns import open_post_columns

    return open_post_columns(options.columns, prompt.columns)

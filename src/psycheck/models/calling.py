"""How a user's function is called: with all texts or one by one, plain or async."""

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

from psycheck.core.errors import PsycheckError

_MOST_AT_ONCE = 16  # requests of an async function that are under way at a time
_ONE_TEXT = (str, "str")
_SEVERAL_TEXTS = ("list", "Sequence", "Iterable", "Collection")
_SEVERAL_NAMES = ("texts", "posts", "sentences", "documents", "docs", "batch", "inputs")
# What a function that reads one text raises when it gets a list.
_WRONG_ARGUMENT = (TypeError, AttributeError)


@dataclass(slots=True)
class Caller:
    """Calls a function with a list of texts if it takes one, else with each text.

    `takes` is "" until the annotation of the function or its first answer tells.
    """

    function: Callable[[Any], Any]
    takes: Literal["", "texts", "text"] = ""

    def __post_init__(self) -> None:
        if not self.takes:
            self.takes = annotated_argument(self.function)

    def __call__(self, texts: Sequence[str]) -> Any:
        """What the function returns: one answer per text."""
        if self.takes == "text":
            return self._each(texts)
        try:
            answers = self._run(self.function, list(texts))
        except PsycheckError:
            raise
        except _WRONG_ARGUMENT as error:
            if self.takes == "texts":
                raise
            return self._each_instead(texts, error)

        if self.takes == "" and not has_one_per_text(answers, len(texts)):
            return self._each_instead(texts, None, answers)
        return answers

    def _each_instead(self, texts: Sequence[str], error: Exception | None, answers: Any = None) -> Any:
        """The answers text by text; what the list gave if that fails, too."""
        try:
            each = self._each(texts)
        except _WRONG_ARGUMENT:
            # The function is at fault, not the way it is called.
            if error is not None:
                raise error from None
            return answers
        self.takes = "text"
        return each

    def _each(self, texts: Sequence[str]) -> list[Any]:
        if is_async(self.function):
            each: list[Any] = _finished(_gathered(self.function, texts))
            return each
        return [self.function(text) for text in texts]

    @staticmethod
    def _run(function: Callable[[Any], Any], texts: list[str]) -> Any:
        answers = function(texts)
        if inspect.iscoroutine(answers):
            return _finished(answers)
        return answers


def annotated_argument(function: Callable[[Any], Any]) -> Literal["", "texts", "text"]:
    """What the annotation or the name of a function's first parameter says that it takes, else ""."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a builtin may have no signature
        return ""
    if not parameters:
        return ""

    annotation = parameters[0].annotation
    if annotation in _ONE_TEXT:
        return "text"
    name = annotation if isinstance(annotation, str) else str(annotation)
    is_list = any(name.removeprefix("collections.abc.").startswith(kind) for kind in _SEVERAL_TEXTS)
    if is_list or annotation is list or parameters[0].name in _SEVERAL_NAMES:
        return "texts"
    return ""


def is_async(function: Callable[[Any], Any]) -> bool:
    """Whether calling a function gives a coroutine."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object may have an async __call__
    )


def has_one_per_text(answers: Any, count: int) -> bool:
    """Whether answers may be one per text: a sequence or array of that length, or columns of that length."""
    if isinstance(answers, Mapping):
        return all(has_one_per_text(column, count) for column in answers.values())
    if isinstance(answers, str | bytes):
        return False
    try:
        return len(answers) == count
    except TypeError:  # a number, or an array without dimensions
        return False


async def _gathered(function: Callable[[Any], Any], texts: Sequence[str]) -> list[Any]:
    free = asyncio.Semaphore(_MOST_AT_ONCE)

    async def answer(text: str) -> Any:
        async with free:
            return await function(text)

    return list(await asyncio.gather(*map(answer, texts)))


def _finished(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine, also where an event loop is running, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(max_workers=1) as other_thread:
        return other_thread.submit(asyncio.run, work).result()

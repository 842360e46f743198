"""Whether a post says that its writer was diagnosed, and with what.

A self-report of a diagnosis ("I was diagnosed with …", "my psychiatrist diagnosed me …", "my doctor says I
have …") and a condition's keyword within 40 characters of it, in one sentence (PsySym 3.5, after SMHD).
Denials, suppositions, jokes, quotations and other people's diagnoses are left out: precision before recall.
So some reports are missed: `mentions_diagnosis` is the loose test for posts and controls that must hold none.
That somebody writes so is all that is known; it is no diagnosis. All patterns read text in linear time: whole
texts are scanned once, and what may look back and forth sees windows of bounded size.
"""

import re
from collections.abc import Iterator, Sequence

from psycheck.core.errors import BadInput, nearest
from psycheck.corpora.curate.disclosure_patterns import NEVER, keyword_pattern, keywords, patterns

REACH = 40
"""How far a keyword may stand from the report of a diagnosis, in characters."""

_AROUND = 300  # characters before and after a stem that are looked at in a long sentence
_LOOSE_REACH = 80  # twice `REACH`: where no report may be left, a false alarm costs one post
_YOU = re.compile(r"\byou(?:r|'re)?\b", re.I)


def conditions() -> tuple[str, ...]:
    """The names of the conditions that can be looked for."""
    return tuple(keywords())


def known_conditions(names: tuple[str, ...]) -> tuple[str, ...]:
    """The conditions of these names, in their usual order; all of them where none is named."""
    for name in names:
        if name not in conditions():
            raise BadInput(
                f"there is no condition '{name}'",
                code="curate.unknown-condition",
                allowed=nearest(name, conditions()),
            )
    return tuple(name for name in conditions() if not names or name in names)


def disclosed(text: str) -> frozenset[str]:
    """The conditions that the writer of this text says to have been diagnosed with."""
    # Nearly all posts end here: a search for a few strings is much quicker than any pattern.
    if not _has_stem(text):
        return frozenset()

    # Lines that begin with ">" quote the post that is answered, so another person's diagnosis.
    without_quoted_lines = patterns().quoted_line.sub(" ", _straight(text))
    plain = patterns().quotation.sub(_unquoted, without_quoted_lines)
    names: set[str] = set()
    for sentence, is_question in _sentences(plain):
        names.update(_reported_in(sentence, is_question=is_question))
    return frozenset(names)


def mentions_diagnosis(text: str) -> bool:
    """Whether the text names a diagnosis near a condition: anybody's, denied or not, in any wording."""
    lowered = text.lower()
    if "diagnos" not in lowered and "dx" not in lowered:
        return False

    plain = _straight(text)
    mention = patterns().mention
    for _, (start, end) in named_conditions(plain):
        earliest = max(0, start - _LOOSE_REACH)
        latest = end + _LOOSE_REACH
        if mention.search(plain, earliest, latest):
            return True
    return False


def named_conditions(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The conditions that a text names, whoever has them, and where; in order."""
    for keyword in _keywords_in(text):
        yield str(keyword.lastgroup), keyword.span()


def _keywords_in(text: str) -> Iterator[re.Match[str]]:
    """The keywords of conditions in a text; the group that matched names the condition."""
    for match in keyword_pattern().finditer(text):
        # "The Great Depression" is matched too, so that "Depression" in it is not found by itself.
        if match.lastgroup != NEVER:
            yield match


def _has_stem(text: str) -> bool:
    lowered = text.lower()
    return any(stem in lowered for stem in patterns().stems)


def _straight(text: str) -> str:
    """The text with straight apostrophes and plain ampersands, as the patterns write them."""
    return text.replace("’", "'").replace("‘", "'").replace("&amp;", "&")


def _unquoted(quotation: re.Match[str]) -> str:
    """A quotation that itself reports a diagnosis is somebody's words; any other is only emphasis."""
    quoted = quotation[1]
    return " " if _has_stem(quoted) else f" {quoted} "


def _sentences(text: str) -> Iterator[tuple[str, bool]]:
    """The sentences that hold a stem, long ones in windows, and whether each is a question."""
    # "Dr." would end the sentence between the clinician and the diagnosis.
    text = patterns().abbreviation.sub(r"\1", text)
    start = 0
    for mark in patterns().sentence.finditer(text):
        is_question = "?" in mark[0]
        for window in _windows(text[start : mark.start()]):
            yield window, is_question
        start = mark.end()
    for window in _windows(text[start:]):
        yield window, False


def _windows(raw_sentence: str) -> Iterator[str]:
    """What is around each stem of a sentence.

    A post without full stops is one sentence: windows of bounded size bound the work on it.
    """
    sentence = " ".join(raw_sentence.split())
    seen_until = 0
    # Windows overlap by half, so that a report at the edge of one is in the middle of another.
    step = len(sentence)
    if len(sentence) > _AROUND:
        step = _AROUND // 2

    for stem in patterns().stem.finditer(sentence):
        if stem.start() >= seen_until:
            window_start = max(0, stem.start() - _AROUND)
            window_end = stem.start() + _AROUND
            yield sentence[window_start:window_end]
            seen_until = stem.start() + step


def _reported_in(sentence: str, *, is_question: bool) -> Iterator[str]:
    """The conditions that a sentence reports as diagnosed."""
    for pattern, replacement in patterns().rewritten:
        sentence = pattern.sub(replacement, sentence)

    # Looked for once in a window, however many reports it holds.
    open_keywords = list(_keywords_in(sentence))
    if not open_keywords or patterns().anywhere.search(sentence):
        return

    for report in _reports(sentence, is_question=is_question):
        names = set(_near(sentence, report, open_keywords))
        yield from names
        # A condition that is reported once need not be looked for near the further reports.
        open_keywords = [keyword for keyword in open_keywords if keyword.lastgroup not in names]
        if not open_keywords:
            return


def _reports(sentence: str, *, is_question: bool) -> Iterator[re.Match[str]]:
    """The reports of a diagnosis in a sentence that nothing before them refutes."""
    for anchor in patterns().anchors:
        # "Diagnosed with …" without a person is the writer's, but not in a question or towards a "you".
        leaves_out_person = anchor.pattern.startswith("^")
        for report in anchor.finditer(sentence):
            if leaves_out_person and (is_question or _YOU.search(sentence)):
                continue

            # What refutes a report ("I was never …") does so within its clause only.
            clause_start = _clause_start(sentence, report.start())
            clause = sentence[clause_start : report.start()]
            if not patterns().before.search(clause):
                yield report


def _clause_start(sentence: str, end: int) -> int:
    """Where the clause begins that reaches to `end`."""
    start = 0
    for cut in patterns().clause.finditer(sentence, 0, end):
        # "that" and "when" do not end what a denial or a supposition reaches: "I wish that I was …".
        if cut[0].lower() not in ("that", "when"):
            start = cut.end()
    return start


def _near(sentence: str, report: re.Match[str], candidates: Sequence[re.Match[str]]) -> Iterator[str]:
    """The conditions named in the report itself, or at most `REACH` characters before or after it."""
    has_own_object = patterns().own_object.match(sentence, report.end()) is not None
    for keyword in candidates:
        # "I have OCD and was …" is one thing; "depression is bad, I was diagnosed with asthma" another.
        if keyword.end() <= report.start() and has_own_object:
            continue

        # One of the two slices is empty, or both if the keyword lies within the report.
        gap_after_report = sentence[report.end() : keyword.start()]
        gap_before_report = sentence[keyword.end() : report.start()]
        gap = gap_after_report or gap_before_report
        if len(gap) > REACH or patterns().between.search(gap):
            continue
        if not patterns().after.match(sentence[keyword.end() :]):
            yield str(keyword.lastgroup)

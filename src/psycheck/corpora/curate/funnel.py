"""The funnel: how many posts and authors each step leaves, and what it takes away."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from psycheck.finding import Finding

DISCLOSING, CONTROL, BOTH = "disclosing", "control", "both"
"""Whose posts a step is about."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one step of curating left, of whom, and the ids or places of what it left out where they help."""

    name: str
    side: str
    posts: int
    authors: int
    before: int
    counts: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[str, ...] = ()

    def finding(self) -> Finding:
        """The step as a finding: `value` is the posts that are left, `n` those that came in."""
        return Finding(
            "funnel",
            float(self.posts),
            self.before,
            where={"step": self.name, "side": self.side},
            counts={
                "posts": self.posts,
                "authors": self.authors,
                "removed": self.before - self.posts,
                **self.counts,
            },
            examples=self.examples,
        )

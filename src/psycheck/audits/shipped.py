"""The audits that come with psycheck, by name."""

from collections.abc import Mapping

from psycheck.audits.behaviour import Behaviour, Length
from psycheck.audits.fairness import Fairness
from psycheck.audits.histories import Histories
from psycheck.audits.performance import Performance

SHIPPED: Mapping[str, type[Performance | Behaviour | Fairness | Histories]] = {
    "performance": Performance,
    "behaviour": Behaviour,
    "fairness": Fairness,
    "length": Length,
    "histories": Histories,
}

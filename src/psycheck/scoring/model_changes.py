"""What a store holds of a model, and which of its parts changed if it must be scored again."""

from collections.abc import Iterator

from psycheck.core.model import Model, capabilities_of
from psycheck.scoring.store import Store
from psycheck.scoring.stored_rows import Known


def why_again(store: Store, model: Model) -> str:
    """One sentence on what the store holds of a model, and what changed if it must be scored again."""
    earlier_versions = []
    for stored in store.models():
        is_this_version = stored.fingerprint == model.fingerprint
        if is_this_version and stored.items:
            cached = f"{stored.items:,} texts are cached"
            return f"'{model.name}' is known: {cached}, only new ones are scored"
        # The user knows a model by its name; the store tells versions apart by fingerprint.
        if stored.name == model.name and not is_this_version:
            earlier_versions.append(stored)

    if not earlier_versions:
        return f"'{model.name}' is new to {store.path}: every text is scored"
    latest = earlier_versions[-1]
    # Not all that a fingerprint covers is a part with a name.
    changes = ", ".join(_changes(latest, model)) or "its fingerprint"
    return f"'{model.name}' changed in {changes}: every text is scored again"


def _changes(stored: Known, model: Model) -> Iterator[str]:
    """The parts of a model that differ from those that the store holds."""
    parts = capabilities_of(model).parts
    part_names = parts.keys() | stored.parts.keys()
    for part in sorted(part_names):
        before = stored.parts.get(part, "none")
        now = parts.get(part, "none")
        if before != now:
            yield f"{part} ({before} → {now})"

    # A model may name its labels among its parts: then they are listed above.
    if stored.labels != model.labels and "labels" not in parts:
        before = ", ".join(stored.labels)
        now = ", ".join(model.labels)
        yield f"labels ({before} → {now})"

"""The graph of rooms in docs/architecture.md: `python -m tools.import_graph` draws it anew."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "psycheck"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
# Modules at the top level of the package count as this room.
TOP_ROOM = "core"
_GRAPH = re.compile(
    r"(<!-- import graph: make docs -->\n).*?(<!-- end of the import graph -->)",
    re.DOTALL,
)


def import_graph() -> str:
    """Which room imports which, as a Mermaid graph without the edges that follow from others."""
    imports = room_imports()
    lines = ["```mermaid", "graph LR"]
    for room in sorted(imports):
        for target in sorted(imports[room]):
            if not _follows(target, imports[room], imports):
                lines.append(f"  {room} --> {target}")
    lines += ["```", ""]
    return "\n".join(lines)


def room_imports() -> dict[str, set[str]]:
    """The rooms that each room imports, itself excluded."""
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    imports: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        first_part = path.relative_to(SOURCE).parts[0]
        if first_part.startswith("__"):
            continue
        room = first_part if first_part in rooms else TOP_ROOM
        for module in _imported_modules(path):
            target = module.split(".")[1]
            imports.setdefault(room, set()).add(target if target in rooms else TOP_ROOM)

    for room, targets in imports.items():
        targets.discard(room)
    return imports


def _imported_modules(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        module = node.module if isinstance(node, ast.ImportFrom) else None
        if module and module.startswith("psycheck."):
            yield module


def _follows(target: str, targets: set[str], imports: Mapping[str, set[str]]) -> bool:
    """True if another target reaches this one, so that its edge says nothing new."""
    return any(target in _reached(other, imports) for other in targets - {target})


def _reached(room: str, imports: Mapping[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = list(imports.get(room, ()))
    while waiting:
        target = waiting.pop()
        if target not in reached:
            reached.add(target)
            waiting += imports.get(target, ())
    return reached


def redrawn(page: str) -> str:
    """The page with the graph drawn anew."""
    graph = import_graph()
    return _GRAPH.sub(lambda marks: marks[1] + graph + marks[2], page)


if __name__ == "__main__":
    text = ARCHITECTURE.read_text("utf-8")
    ARCHITECTURE.write_text(redrawn(text), "utf-8")

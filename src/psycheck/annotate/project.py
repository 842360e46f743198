"""An annotation project, from a TOML file: task, labels, quality control, the annotators' welfare."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from psycheck.errors import BadInput, nearest
from psycheck.knowledge.graph import Graph, Symptom, read_graph
from psycheck.knowledge.scales import Text, Word
from psycheck.settings.reader import AT_LEAST_0, AT_LEAST_1, Limit, read_settings, read_toml, wrong

EXAMPLE: Final = Path(__file__).with_name("example.toml")
LARGEST: Final = 256_000  # bytes of a project file
Percent = Annotated[float, Limit("0 to 100", lambda number: 0 <= number <= 100)]
Share = Annotated[float, Limit("0 to 1", lambda number: 0 <= number <= 1)]
Count = Annotated[int, AT_LEAST_0]
Some = Annotated[int, AT_LEAST_1]


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example that annotators read first."""

    text: Text
    why: Text
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Screening:
    """The test on items with known labels that an annotator must pass (PsySym A.3)."""

    pass_mark: Percent = 75.0
    tries: Some = 3


@dataclass(frozen=True, slots=True)
class Inspection:
    """How a reviewer samples each batch of an annotator's work; `share` 0 leaves inspection out."""

    share: Share = 0.1
    batch: Some = 50
    reject_below: Percent = 60.0


@dataclass(frozen=True, slots=True)
class HiddenGold:
    """How often an item with known labels is mixed in; 0 means never."""

    every: Count = 20


@dataclass(frozen=True, slots=True)
class Welfare:
    """Content warning, breaks and daily cap, both counted in items (0: none), and whom to turn to."""

    warning: str = ""
    break_after: Count = 50
    break_minutes: Some = 5
    daily_cap: Count = 300
    contacts: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class Order:
    """Which items come first: any, those that models are least sure of, or where they disagree."""

    how: Literal["random", "unsure", "disagree"] = "random"


@dataclass(frozen=True, slots=True)
class Project:
    """A project as its file describes it; `graph` is the symptom graph, where not the shipped one."""

    name: Word
    title: Text
    task: Literal["symptoms", "conditions"]
    labels: tuple[Word, ...] = ()
    diseases: tuple[Word, ...] = ()
    graph: Path | None = None
    annotators_per_item: Some = 3
    claim_minutes: Some = 30
    instructions: str = ""
    example: tuple[Example, ...] = ()
    screening: Screening = field(default_factory=Screening)
    inspection: Inspection = field(default_factory=Inspection)
    gold: HiddenGold = field(default_factory=HiddenGold)
    welfare: Welfare = field(default_factory=Welfare)
    order: Order = field(default_factory=Order)


@dataclass(frozen=True, slots=True)
class Task:
    """A project with its graph: which labels each queue asks about."""

    id: int
    project: Project
    diseases: Graph

    @property
    def queues(self) -> tuple[str, ...]:
        """The names of the queues: one per disease, or one without a name for conditions."""
        return self.project.diseases if self.project.task == "symptoms" else ("",)

    def symptoms(self, queue: str) -> tuple[Symptom, ...]:
        """The symptoms that a disease's queue asks about; none for conditions."""
        return self.diseases.of(queue) if self.project.task == "symptoms" else ()

    def labels(self, queue: str) -> tuple[str, ...]:
        """The labels that a queue asks about."""
        if self.project.task == "symptoms":
            return tuple(one.name for one in self.symptoms(queue))
        return self.project.labels


def read_project(path: str | Path) -> tuple[Project, str, str | None]:
    """Read a project file: the project, its text, and the graph that it names as JSON."""
    read_toml(Path(path), "project")  # its errors name the place
    text = Path(path).read_text("utf-8")
    project = parse_project(text, str(path), own_graph=True)
    if project.graph is None:
        return project, text, None
    graph = read_graph(Path(path).parent / project.graph)
    _check_names(project, graph, str(path))
    return project, text, json.dumps(asdict(graph))


def parse_project(text: str, place: str = "", *, own_graph: bool = False) -> Project:
    """Read a project from TOML; a graph file is refused unless the caller can read files (`own_graph`)."""
    if len(text.encode("utf-8", "surrogatepass")) > LARGEST:
        raise BadInput("the project file is too large", where=place, allowed=f"at most {LARGEST:,} bytes")
    try:
        raw: Mapping[str, Any] = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(f"the project is not valid TOML: {error}", where=place, do="fix that line") from error
    project = read_settings(Project, raw, place)
    if project.task == "conditions":
        _refuse(bool(project.diseases), "conditions have labels, not diseases", place, "diseases")
        _refuse(not project.labels, "conditions need labels", place, "labels", 'such as ["depression"]')
        _refuse(len(set(project.labels)) < len(project.labels), "a label occurs twice", place, "labels")
        _refuse(project.graph is not None, "only symptoms have a graph", place, "graph")
        return project
    _refuse(bool(project.labels), "symptoms come from the graph, not from labels", place, "labels")
    _refuse(not project.diseases, "symptoms need diseases", place, "diseases", 'such as ["depression"]')
    _refuse(len(set(project.diseases)) < len(project.diseases), "a disease occurs twice", place, "diseases")
    if project.graph is None:
        _check_names(project, read_graph(), place)
    elif not own_graph:
        do = "create the project on the server: psycheck annotate new FOLDER"
        raise wrong("a graph file cannot be uploaded", place, "graph", "the shipped graph", do)
    return project


def task_of(project_id: int, settings: str, graph: str | None) -> Task:
    """The task of a stored project."""
    whole = read_graph() if graph is None else read_settings(Graph, json.loads(graph), "stored graph")
    return Task(project_id, parse_project(settings, own_graph=graph is not None), whole)


def _check_names(project: Project, graph: Graph, place: str) -> None:
    for disease in project.diseases:
        if disease not in graph.disease:
            what = f"'{disease}' is not a disease of the graph"
            raise wrong(what, place, "diseases", nearest(disease, graph.disease))


def _refuse(fault: bool, what: str, place: str, key: str, allowed: str = "") -> None:
    if fault:
        raise wrong(what, place, key, allowed)

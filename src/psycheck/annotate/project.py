"""An annotation project, from a TOML file: task, labels, quality control, the annotators' welfare."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from psycheck.core.errors import BadInput, nearest
from psycheck.io.settings import AT_LEAST_0, AT_LEAST_1, Limit, read_settings, read_toml, wrong
from psycheck.io.toml import parse_toml
from psycheck.symptoms.graph import Graph, Symptom, read_graph
from psycheck.symptoms.scales import Text, Word

EXAMPLE: Final = Path(__file__).with_name("example.toml")
LARGEST: Final = 256_000  # bytes of a project file
Percent = Annotated[float, Limit("0 to 100", lambda number: 0 <= number <= 100)]
Share = Annotated[float, Limit("0 to 1", lambda number: 0 <= number <= 1)]
Count = Annotated[int, AT_LEAST_0]
AtLeastOne = Annotated[int, AT_LEAST_1]


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example that annotators read first."""

    text: Text
    why: Text
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Screening:
    """The test on items with known labels that an annotator must pass; the mark is one of skill (`skill`)."""

    pass_mark: Percent = 60.0
    tries: AtLeastOne = 3


@dataclass(frozen=True, slots=True)
class Inspection:
    """How a reviewer samples each batch of an annotator's work; `share` 0 leaves inspection out."""

    share: Share = 0.1
    batch: AtLeastOne = 50
    reject_below: Percent = 40.0


@dataclass(frozen=True, slots=True)
class HiddenGold:
    """How often an item with known labels is mixed in; 0 means never."""

    every: Count = 20


@dataclass(frozen=True, slots=True)
class Welfare:
    """Content warning, breaks and daily cap, both counted in items (0: none), and whom to turn to."""

    warning: str = ""
    break_after: Count = 50
    break_minutes: AtLeastOne = 5
    daily_cap: Count = 300
    contacts: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class Order:
    """Which items come first: any, as in the file, where models are unsure, or where they disagree."""

    how: Literal["random", "file", "unsure", "disagree"] = "random"


@dataclass(frozen=True, slots=True)
class WorkPage:
    """What annotators meet beside text and labels: keyword hints, confidence, a comment, what models say.

    `suggestions` are shown only after the answer.
    """

    hints: bool = True
    confidence: bool = False
    comment: bool = False
    suggestions: bool = False


@dataclass(frozen=True, slots=True)
class Project:
    """A project as its file describes it; `graph` is the symptom graph, where not the shipped one."""

    name: Word
    title: Text
    task: Literal["symptoms", "conditions"]
    labels: tuple[Word, ...] = ()
    diseases: tuple[Word, ...] = ()
    graph: Path | None = None
    annotators_per_item: AtLeastOne = 3
    claim_minutes: AtLeastOne = 30
    instructions: str = ""
    example: tuple[Example, ...] = ()
    screening: Screening = field(default_factory=Screening)
    inspection: Inspection = field(default_factory=Inspection)
    gold: HiddenGold = field(default_factory=HiddenGold)
    welfare: Welfare = field(default_factory=Welfare)
    order: Order = field(default_factory=Order)
    page: WorkPage = field(default_factory=WorkPage)
    descriptions: Mapping[str, str] = field(default_factory=dict)  # of labels, by name


@dataclass(frozen=True, slots=True)
class Task:
    """A version of a project with its graph: which labels each queue asks about."""

    id: int
    project: Project
    diseases: Graph
    version: int = 1
    ended: bool = False

    @property
    def queues(self) -> tuple[str, ...]:
        """The names of the queues: one per disease, or one without a name for conditions."""
        if self.project.task == "symptoms":
            return self.project.diseases
        return ("",)

    def symptoms(self, queue: str) -> tuple[Symptom, ...]:
        """The symptoms that a disease's queue asks about; none for conditions."""
        if self.project.task == "symptoms":
            return self.diseases.of(queue)
        return ()

    def labels(self, queue: str) -> tuple[str, ...]:
        """The labels that a queue asks about."""
        if self.project.task == "symptoms":
            return tuple(symptom.name for symptom in self.symptoms(queue))
        return self.project.labels


def read_project(path: str | Path) -> tuple[Project, str, str | None]:
    """Read a project file: the project, its text, and the graph that it names as JSON."""
    # Read twice: the errors of `read_toml` name the line.
    read_toml(Path(path), "project")
    text = Path(path).read_text("utf-8")
    project = parse_project(text, str(path), own_graph=True)
    if project.graph is None:
        return project, text, None

    # Beside the project file, so that both can be moved together.
    graph = read_graph(Path(path).parent / project.graph)
    _check_diseases(project, graph, str(path))
    return project, text, json.dumps(asdict(graph))


def parse_project(text: str, place: str = "", *, own_graph: bool = False) -> Project:
    """Read a project from TOML; a graph file is refused unless the caller can read files (`own_graph`)."""
    # A browser can send half of an emoji: its size must not raise another error.
    if len(text.encode("utf-8", "surrogatepass")) > LARGEST:
        raise BadInput(
            "the project file is too large",
            code="project.too-large",
            where=place,
            allowed=f"at most {LARGEST:,} bytes",
        )
    try:
        raw: Mapping[str, Any] = parse_toml(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(
            f"the project is not valid TOML: {error}",
            code="project.bad-toml",
            where=place,
            do="fix that line",
        ) from error

    # Unknown keys are errors: a misspelt limit would silently be the default.
    project = read_settings(Project, raw, place)
    _refuse_unknown_descriptions(project, place)
    if project.task == "conditions":
        _check_conditions(project, place)
    else:
        _check_symptoms(project, place, own_graph=own_graph)
    return project


def task_of(
    project_id: int,
    settings: str,
    graph: str | None,
    version: int = 1,
    *,
    ended: bool = False,
) -> Task:
    """The task of a stored project."""
    # A graph of one's own is stored with the project: answers keep their meaning if the file changes.
    diseases = read_graph() if graph is None else _stored_graph(graph)
    project = parse_project(settings, own_graph=graph is not None)
    return Task(id=project_id, project=project, diseases=diseases, version=version, ended=ended)


def _stored_graph(graph: str) -> Graph:
    return read_settings(Graph, json.loads(graph), "stored graph")


def _refuse_unknown_descriptions(project: Project, place: str) -> None:
    """Refuse a description of a condition that the project does not ask about."""
    if project.task == "symptoms":
        return
    for label in project.descriptions:
        if label not in project.labels:
            raise wrong(
                f"'{label}' is not a label of this project",
                place,
                "descriptions",
                allowed=nearest(label, project.labels),
                code="project.unknown-description",
            )


def _check_conditions(project: Project, place: str) -> None:
    """Refuse settings that do not fit a project about conditions."""
    if project.diseases:
        raise wrong(
            "conditions have labels, not diseases", place, "diseases", code="project.diseases-of-conditions"
        )
    if not project.labels:
        raise wrong(
            "conditions need labels", place, "labels", 'such as ["depression"]', code="project.no-labels"
        )
    # Two fields of one name in a form: the second answer would win.
    if len(set(project.labels)) < len(project.labels):
        raise wrong("a label occurs twice", place, "labels", code="project.duplicate-labels")
    if project.graph is not None:
        raise wrong("only symptoms have a graph", place, "graph", code="project.graph-of-conditions")


def _check_symptoms(project: Project, place: str, *, own_graph: bool) -> None:
    """Refuse settings that do not fit a project about symptoms."""
    if project.labels:
        raise wrong(
            "symptoms come from the graph, not from labels",
            place,
            "labels",
            code="project.labels-of-symptoms",
        )
    if not project.diseases:
        raise wrong(
            "symptoms need diseases", place, "diseases", 'such as ["depression"]', code="project.no-diseases"
        )
    if len(set(project.diseases)) < len(project.diseases):
        raise wrong("a disease occurs twice", place, "diseases", code="project.duplicate-diseases")

    if project.graph is None:
        _check_diseases(project, read_graph(), place)
    # A path in an uploaded file would let an owner read the server's files.
    elif not own_graph:
        raise wrong(
            "a graph file cannot be uploaded",
            place,
            "graph",
            allowed="the shipped graph",
            do="create the project on the server: psycheck annotate new FOLDER",
            code="project.uploaded-graph",
        )


def _check_diseases(project: Project, graph: Graph, place: str) -> None:
    """Refuse a disease that the graph does not know."""
    for disease in project.diseases:
        if disease not in graph.disease:
            raise wrong(
                f"'{disease}' is not a disease of the graph",
                place,
                "diseases",
                allowed=nearest(disease, graph.disease),
                code="project.unknown-disease",
            )

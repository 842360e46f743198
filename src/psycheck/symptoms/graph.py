"""The symptom graph: diseases, symptoms, the links between them, and descriptions of each symptom."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Final
from xml.etree import ElementTree as Xml

from psycheck.core.errors import nearest
from psycheck.io.settings import Limit, read_settings, read_toml, wrong
from psycheck.symptoms.scales import Text, Word, read_scale, shipped_scales

SHIPPED: Final = Path(__file__).with_name("symptoms.toml")
# Where the picture has its columns of symptoms and of diseases, and how far rows are apart, in pixels.
_LEFT: Final = 330
_RIGHT: Final = 700
_ROW_HEIGHT: Final = 24
AtLeastOne = Annotated[tuple[Text, ...], Limit("at least one", len, "is empty")]


@dataclass(frozen=True, slots=True)
class Symptom:
    """A symptom, the diseases that it belongs to, and what it is in a clinician's and in a poster's words.

    `items` are the numbers of the items that ask about it, by rating scale.
    """

    name: Word
    title: Text
    diseases: AtLeastOne
    clinician: AtLeastOne
    poster: tuple[Text, ...] = ()
    items: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def descriptions(self) -> tuple[str, ...]:
        """All descriptions, the clinician's first."""
        return (*self.clinician, *self.poster)


@dataclass(frozen=True, slots=True)
class Graph:
    """Diseases with their titles, and symptoms; `extends` adds them to the shipped ones."""

    disease: Mapping[str, Text]
    symptom: tuple[Symptom, ...]
    extends: bool = False

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """Each symptom with each disease that it belongs to."""
        return tuple((symptom.name, disease) for symptom in self.symptom for disease in symptom.diseases)

    def named(self, label: str) -> str | None:
        """The disease of this name or title, in any case and with spaces or underscores; None without one."""
        by_title = {_plain(title): name for name, title in self.disease.items()}
        by_name = {_plain(name): name for name in self.disease}
        # A name wins over the title of another disease.
        names = by_title | by_name
        return names.get(_plain(label))

    def of(self, disease: str) -> tuple[Symptom, ...]:
        """The symptoms of a disease."""
        return tuple(symptom for symptom in self.symptom if disease in symptom.diseases)

    def asking(self, scale: str) -> dict[int, tuple[str, ...]]:
        """The symptoms that each item of a rating scale asks about."""
        names: dict[int, list[str]] = {}
        for symptom in self.symptom:
            for number in symptom.items.get(scale, ()):
                names.setdefault(number, []).append(symptom.name)
        return {number: tuple(names[number]) for number in sorted(names)}


def _plain(name: str) -> str:
    return name.casefold().replace(" ", "_")


def read_graph(path: str | Path | None = None) -> Graph:
    """Read the shipped graph, or a TOML file that replaces it or, with `extends = true`, adds to it."""
    file = SHIPPED if path is None else Path(path)
    place = str(SHIPPED if path is None else path)
    graph = read_settings(Graph, read_toml(file, "graph"), place)
    if graph.extends:
        shipped = read_graph()
        graph = replace(
            graph,
            disease={**shipped.disease, **graph.disease},
            symptom=(*shipped.symptom, *graph.symptom),
        )
    _check_graph(graph, place)
    return graph


def _check_graph(graph: Graph, place: str) -> None:
    """Refuse names that occur twice, links that lead nowhere, and items that a scale does not have."""
    names = Counter(symptom.name for symptom in graph.symptom)
    for symptom in graph.symptom:
        where = f"{place}, symptom '{symptom.name}'"
        if names[symptom.name] > 1:
            raise wrong(
                f"two symptoms are called '{symptom.name}'",
                where,
                "name",
                allowed="a unique name per symptom",
                code="graph.duplicate-symptoms",
            )
        if symptom.name in graph.disease:
            raise wrong(
                f"'{symptom.name}' is a disease too: the link would lead from it to itself",
                where,
                "name",
                allowed="a name that no disease has",
                code="graph.symptom-is-disease",
            )
        _check_links(symptom, graph, where)
        _check_items(symptom, where)

    for disease in graph.disease:
        if not graph.of(disease):
            raise wrong(
                f"disease '{disease}' has no symptoms",
                place,
                "disease",
                allowed="at least one link per disease",
                code="graph.disease-without-symptoms",
            )


def _check_links(symptom: Symptom, graph: Graph, where: str) -> None:
    for disease in symptom.diseases:
        if disease not in graph.disease:
            raise wrong(
                f"the link leads to '{disease}', which is not a disease of the graph",
                where,
                "diseases",
                allowed=nearest(disease, graph.disease),
                code="graph.unknown-disease",
            )
    if len(set(symptom.diseases)) < len(symptom.diseases):
        raise wrong(
            "a disease is linked twice",
            where,
            "diseases",
            allowed="each disease once",
            code="graph.duplicate-links",
        )


def _check_items(symptom: Symptom, where: str) -> None:
    for scale, items in symptom.items.items():
        if scale not in shipped_scales():
            raise wrong(
                f"unknown scale '{scale}'",
                where,
                "items",
                allowed=nearest(scale, shipped_scales()),
                code="graph.unknown-scale",
            )
        most = len(read_scale(scale).item)
        for item in items:
            if not 1 <= item <= most:
                raise wrong(
                    f"{scale} has no item {item}",
                    where,
                    "items",
                    allowed=f"1 to {most}",
                    code="graph.unknown-item",
                )


def as_json(graph: Graph) -> str:
    """The graph as JSON: diseases, symptoms and links."""
    content = {
        "diseases": dict(graph.disease),
        "symptoms": [asdict(symptom) for symptom in graph.symptom],
        "links": graph.links,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def as_graphml(graph: Graph) -> str:
    """The graph as GraphML, which NetworkX, Gephi and yEd read: nodes have a kind and a title."""
    root = Xml.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for key in ("kind", "title"):
        Xml.SubElement(root, "key", {"id": key, "for": "node", "attr.name": key, "attr.type": "string"})

    drawing = Xml.SubElement(root, "graph", id="symptoms", edgedefault="undirected")
    for name, kind, title in _nodes(graph):
        node = Xml.SubElement(drawing, "node", id=name)
        Xml.SubElement(node, "data", key="kind").text = kind
        Xml.SubElement(node, "data", key="title").text = title
    for symptom, disease in graph.links:
        Xml.SubElement(drawing, "edge", source=symptom, target=disease)

    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode") + "\n"


def as_svg(graph: Graph) -> str:
    """A picture: symptoms on the left, diseases on the right, a line per link in its disease's colour."""
    height = _ROW_HEIGHT * (len(graph.symptom) + 1)
    between_diseases = height / (len(graph.disease) + 1)
    symptom_heights = {symptom.name: _ROW_HEIGHT * number for number, symptom in enumerate(graph.symptom, 1)}
    disease_heights = {name: round(between_diseases * number) for number, name in enumerate(graph.disease, 1)}
    colours = {
        name: f"hsl({360 * number // len(graph.disease)} 45% 42%)"
        for number, name in enumerate(graph.disease)
    }

    svg = Xml.Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_RIGHT + 190} {height}",
        style="font: 14px sans-serif; background: white",
        role="img",
    )
    title = f"{len(graph.symptom)} symptoms, {len(graph.disease)} diseases, {len(graph.links)} links"
    Xml.SubElement(svg, "title").text = title

    middle = (_LEFT + _RIGHT) // 2
    for symptom, disease in graph.links:
        start = symptom_heights[symptom]
        end = disease_heights[disease]
        path = f"M{_LEFT + 8} {start} C{middle} {start} {middle} {end} {_RIGHT - 8} {end}"
        Xml.SubElement(svg, "path", d=path, fill="none", stroke=colours[disease], opacity="0.55")

    for name, kind, name_shown in _nodes(graph):
        if kind == "symptom":
            attributes = {"x": str(_LEFT), "y": str(symptom_heights[name] + 5), "text-anchor": "end"}
        else:
            attributes = {
                "x": str(_RIGHT),
                "y": str(disease_heights[name] + 5),
                "fill": colours[name],
                "font-weight": "bold",
            }
        Xml.SubElement(svg, "text", attributes).text = name_shown
    return Xml.tostring(svg, encoding="unicode") + "\n"


def _nodes(graph: Graph) -> Iterator[tuple[str, str, str]]:
    """The name, kind and title of each node, diseases first."""
    for name, title in graph.disease.items():
        yield name, "disease", title
    for symptom in graph.symptom:
        yield symptom.name, "symptom", symptom.title

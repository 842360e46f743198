"""The symptom graph: diseases, symptoms, the links between them, and descriptions of each symptom."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Final
from xml.etree import ElementTree as Xml

from psycheck.errors import nearest
from psycheck.knowledge.scales import Text, Word, read_scale, shipped_scales
from psycheck.settings.reader import Limit, read_settings, read_toml, wrong

SHIPPED: Final = Path(__file__).with_name("symptoms.toml")
Some = Annotated[tuple[Text, ...], Limit("at least one", len, "is empty")]


@dataclass(frozen=True, slots=True)
class Symptom:
    """A symptom, the diseases that it belongs to, and what it is in a clinician's and in a poster's words.

    `items` are the numbers of the items that ask about it, by rating scale.
    """

    name: Word
    title: Text
    diseases: Some
    clinician: Some
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
        return tuple((one.name, disease) for one in self.symptom for disease in one.diseases)

    def named(self, label: str) -> str | None:
        """The disease of this name or title, in any case and with spaces or underscores; None without one."""
        names = {_plain(title): name for name, title in self.disease.items()}
        return (names | {_plain(name): name for name in self.disease}).get(_plain(label))

    def of(self, disease: str) -> tuple[Symptom, ...]:
        """The symptoms of a disease."""
        return tuple(one for one in self.symptom if disease in one.diseases)

    def asking(self, scale: str) -> dict[int, tuple[str, ...]]:
        """The symptoms that each item of a rating scale asks about."""
        pairs = [(number, one.name) for one in self.symptom for number in one.items.get(scale, ())]
        return {number: tuple(name for n, name in pairs if n == number) for number, _ in sorted(pairs)}


def _plain(name: str) -> str:
    return name.casefold().replace(" ", "_")


def read_graph(path: str | Path | None = None) -> Graph:
    """Read the shipped graph, or a TOML file that replaces it or, with `extends = true`, adds to it."""
    if path is None:
        return _checked(read_settings(Graph, read_toml(SHIPPED, "graph"), str(SHIPPED)), str(SHIPPED))
    place = str(path)
    own = read_settings(Graph, read_toml(Path(path), "graph"), place)
    if own.extends:
        shipped = read_graph()
        own = replace(
            own, disease={**shipped.disease, **own.disease}, symptom=(*shipped.symptom, *own.symptom)
        )
    return _checked(own, place)


def _checked(graph: Graph, place: str) -> Graph:
    """Refuse names that occur twice, links that lead nowhere, and items that a scale does not have."""
    names = [one.name for one in graph.symptom]
    for number, one in enumerate(graph.symptom, 1):
        where = f"{place}, symptom {number}"
        if names.count(one.name) > 1:
            raise wrong(f"two symptoms are called '{one.name}'", where, "name", "a unique name per symptom")
        if one.name in graph.disease:
            what = f"'{one.name}' is a disease too: the link would lead from it to itself"
            raise wrong(what, where, "name", "a name that no disease has")
        for disease in one.diseases:
            if disease not in graph.disease:
                what = f"the link leads to '{disease}', which is not a disease of the graph"
                raise wrong(what, where, "diseases", nearest(disease, graph.disease))
        if len(set(one.diseases)) < len(one.diseases):
            raise wrong("a disease is linked twice", where, "diseases", "each disease once")
        for scale, items in one.items.items():
            if scale not in shipped_scales():
                raise wrong(f"unknown scale '{scale}'", where, "items", nearest(scale, shipped_scales()))
            most = len(read_scale(scale).item)
            if wrong_items := [item for item in items if not 1 <= item <= most]:
                raise wrong(f"{scale} has no item {wrong_items[0]}", where, "items", f"1 to {most}")
    if bare := [disease for disease in graph.disease if not graph.of(disease)]:
        raise wrong(f"disease '{bare[0]}' has no symptoms", place, "disease", "at least one link per disease")
    return graph


def as_json(graph: Graph) -> str:
    """The graph as JSON: diseases, symptoms and links."""
    symptoms = [asdict(one) for one in graph.symptom]
    whole = {"diseases": dict(graph.disease), "symptoms": symptoms, "links": graph.links}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def as_graphml(graph: Graph) -> str:
    """The graph as GraphML, which NetworkX, Gephi and yEd read: nodes have a kind and a title."""
    root = Xml.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for key in ("kind", "title"):
        Xml.SubElement(root, "key", {"id": key, "for": "node", "attr.name": key, "attr.type": "string"})
    drawn = Xml.SubElement(root, "graph", id="symptoms", edgedefault="undirected")
    for name, kind, title in _nodes(graph):
        node = Xml.SubElement(drawn, "node", id=name)
        for key, value in (("kind", kind), ("title", title)):
            Xml.SubElement(node, "data", key=key).text = value
    for symptom, disease in graph.links:
        Xml.SubElement(drawn, "edge", source=symptom, target=disease)
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode") + "\n"


def as_svg(graph: Graph) -> str:
    """A picture: symptoms on the left, diseases on the right, a line per link in its disease's colour."""
    step, left, right = 24, 330, 700
    height = step * (len(graph.symptom) + 1)
    apart = height / (len(graph.disease) + 1)
    rows = {one.name: step * (k + 1) for k, one in enumerate(graph.symptom)}
    columns = {name: round(apart * (k + 1)) for k, name in enumerate(graph.disease)}
    hues = {name: f"hsl({360 * k // len(columns)} 45% 42%)" for k, name in enumerate(columns)}
    svg = Xml.Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {right + 190} {height}",
        style="font: 14px sans-serif; background: white",
        role="img",
    )
    Xml.SubElement(
        svg, "title"
    ).text = f"{len(rows)} symptoms, {len(columns)} diseases, {len(graph.links)} links"
    for symptom, disease in graph.links:
        (y, z), middle = (rows[symptom], columns[disease]), (left + right) // 2
        path = f"M{left + 8} {y} C{middle} {y} {middle} {z} {right - 8} {z}"
        Xml.SubElement(svg, "path", d=path, fill="none", stroke=hues[disease], opacity="0.55")
    for name, kind, title in _nodes(graph):
        x, y = (left, rows[name]) if kind == "symptom" else (right, columns[name])
        anchor = {"text-anchor": "end"} if kind == "symptom" else {"fill": hues[name], "font-weight": "bold"}
        Xml.SubElement(svg, "text", {"x": str(x), "y": str(y + 5), **anchor}).text = title
    return Xml.tostring(svg, encoding="unicode") + "\n"


def _nodes(graph: Graph) -> Iterator[tuple[str, str, str]]:
    yield from ((name, "disease", title) for name, title in graph.disease.items())
    yield from ((one.name, "symptom", one.title) for one in graph.symptom)

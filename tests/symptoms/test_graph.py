"""The symptom graph: as published, readable by other programs, and refused where it contradicts itself."""

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import networkx as nx
import pytest

from process import psycheck
from psycheck.core.errors import BadInput
from psycheck.symptoms.graph import as_graphml, as_json, as_svg, read_graph

# The number of symptoms of each disease in the public graph of PsySym: 81 links.
PUBLISHED = {
    "adhd": 4,
    "anxiety": 19,
    "bipolar_disorder": 14,
    "depression": 14,
    "eating_disorder": 12,
    "ocd": 4,
    "ptsd": 14,
}
OWN = """
extends = {extends}
[disease]
burnout = "Burnout"
[[symptom]]
name = "cynicism"
title = "Cynicism"
diseases = [{diseases}]
clinician = ["Distance from work."]
{more}
"""


def own(folder: Path, extends: str = "false", diseases: str = '"burnout"', more: str = "") -> Path:
    path = folder / "own.toml"
    path.write_text(OWN.format(extends=extends, diseases=diseases, more=more))
    return path


def test_the_shipped_graph_has_the_published_links() -> None:
    graph = read_graph()
    assert (len(graph.disease), len(graph.symptom), len(graph.links)) == (7, 38, 81)
    assert {disease: len(graph.of(disease)) for disease in graph.disease} == PUBLISHED


def test_every_symptom_is_described_in_both_registers() -> None:
    for one in read_graph().symptom:
        assert len(one.clinician) >= 2
        assert len(one.poster) >= 2
        assert len(set(one.descriptions)) >= 5


def test_every_item_of_phq9_and_madrs_asks_about_a_symptom() -> None:
    graph = read_graph()
    assert sorted(graph.asking("phq9")) == [*range(1, 10)]
    assert sorted(graph.asking("madrs")) == [*range(1, 11)]
    assert sorted(graph.asking("gad7")) == [*range(1, 8)]
    assert graph.asking("phq9")[9] == ("suicidal_ideas",)


def test_a_label_names_a_disease_by_its_name_or_title() -> None:
    graph = read_graph()
    for label in ("Eating disorder", "eating_disorder", "Eating_Disorder", "EATING DISORDER"):
        assert graph.named(label) == "eating_disorder"
    assert graph.named("OCD") == "ocd"
    assert graph.named("mood") is None


def test_other_programs_read_the_exports(tmp_path: Path) -> None:
    graph = read_graph()
    (tmp_path / "graph.graphml").write_text(as_graphml(graph), "utf-8")
    read = nx.read_graphml(tmp_path / "graph.graphml")
    assert (read.number_of_nodes(), read.number_of_edges()) == (45, 81)
    assert nx.is_bipartite(read)
    assert read.nodes["ptsd"] == {"kind": "disease", "title": "PTSD"}
    assert len(json.loads(as_json(graph))["links"]) == 81
    svg = Xml.fromstring(as_svg(graph))
    assert len(svg.findall("{http://www.w3.org/2000/svg}path")) == 81


def test_a_graph_of_ones_own_replaces_or_extends(tmp_path: Path) -> None:
    assert read_graph(own(tmp_path)).links == (("cynicism", "burnout"),)
    extended = read_graph(own(tmp_path, "true", '"burnout", "depression"'))
    assert len(extended.links) == 83
    assert extended.of("depression")[-1].title == "Cynicism"


@pytest.mark.parametrize(
    ("diseases", "more", "code", "value"),
    [
        ('"burnuot"', "", "graph.unknown-disease", "did you mean 'burnout'"),
        ('"burnout", "burnout"', "", "graph.duplicate-links", "diseases"),
        ("", "", "settings.wrong-value", "at least one"),
        ('"burnout"', "items = { phq9 = [10] }", "graph.unknown-item", "phq9 has no item 10"),
        ('"burnout"', "items = { phq8 = [1] }", "graph.unknown-scale", "'phq8'"),
        (
            '"burnout"',
            '[[symptom]]\nname = "burnout"\ntitle = "B"\ndiseases = ["burnout"]\nclinician = ["x"]',
            "graph.symptom-is-disease",
            "'burnout'",
        ),
        (
            '"burnout"',
            '[[symptom]]\nname = "cynicism"\ntitle = "C"\ndiseases = ["burnout"]\nclinician = ["x"]',
            "graph.duplicate-symptoms",
            "'cynicism'",
        ),
    ],
)
def test_a_graph_that_contradicts_itself_is_refused(
    tmp_path: Path, diseases: str, more: str, code: str, value: str
) -> None:
    with pytest.raises(BadInput) as error:
        read_graph(own(tmp_path, "false", diseases, more))
    assert value in str(error.value)
    # What the settings reader refuses by itself has codes of its own.
    assert error.value.code == code or code.startswith("settings.")


def test_the_command_line_lists_checks_and_writes_the_graph(tmp_path: Path) -> None:
    assert "suicidal_ideas" in psycheck(tmp_path, "ls", "symptoms").stdout
    done = psycheck(tmp_path, "symptoms", "graph", "--out", "graph.svg")
    assert done.stdout == "7 diseases, 38 symptoms, 81 links; valid\ngraph: graph.svg\n"
    assert (tmp_path / "graph.svg").read_text("utf-8").startswith("<svg")
    refused = psycheck(tmp_path, "symptoms", "graph", "--out", "graph.png")
    assert (refused.returncode, ".graphml" in refused.stderr) == (2, True)
    own(tmp_path, diseases='"burnuot"')
    assert psycheck(tmp_path, "symptoms", "graph", "own.toml").returncode == 2

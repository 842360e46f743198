from psycheck.annotate.web.keywords import symptoms_named
from psycheck.symptoms.graph import Symptom, read_graph

SLEEP = Symptom("sleep", "Sleep", ("depression",), ("Sleeps badly.",), ("I lie awake all night",))
WORRY = Symptom("worry", "Worry", ("depression",), ("Worries at night.",))


def test_a_keyword_of_a_description_names_the_symptom_whatever_its_ending() -> None:
    assert symptoms_named("I am so worried", (SLEEP, WORRY)) == {"worry"}
    assert symptoms_named("I could not sleep, I was awake", (SLEEP, WORRY)) == {"sleep"}


def test_common_words_and_short_words_name_nothing() -> None:
    assert symptoms_named("I lie about all of this", (SLEEP, WORRY)) == frozenset()


def test_a_word_that_many_symptoms_share_names_none() -> None:
    many = tuple(
        Symptom(f"s{k}", "S", ("d",), (f"Trouble {word}.",))
        for k, word in enumerate(("eating", "moving", "walking", "hearing"))
    )
    assert symptoms_named("trouble", many) == frozenset()
    assert symptoms_named("trouble with walking", many) == {"s2"}


def test_each_poster_description_of_the_shipped_graph_names_its_own_symptom_mostly() -> None:
    graph = read_graph()
    pairs = [(one.name, line, d) for d in graph.disease for one in graph.of(d) for line in one.poster]
    own = [name in symptoms_named(line, graph.of(disease)) for name, line, disease in pairs]
    assert sum(own) / len(own) > 0.8

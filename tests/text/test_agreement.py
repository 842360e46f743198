import pytest

from psycheck.text.edits import Edited
from psycheck.text.person import Person, shift_person
from psycheck.text.verb_agreement import third_person


@pytest.mark.parametrize(
    ("to", "text", "expected"),
    [
        ("they", "I am sad, I was late, I wasn’t well", "They are sad, they were late, they weren’t well"),
        ("they", "Am I wrong? So was I.", "Are they wrong? So were they."),
        ("they", "I really am, I have, I don't", "They really are, they have, they don't"),
        ("they", "I AM SAD", "THEY ARE SAD"),
        ("he", "I am, I have, I haven't, I do, I don't", "He is, he has, he hasn't, he does, he doesn't"),
        ("he", "What do I do? Have I lost? Neither do I", "What does he do? Has he lost? Neither does he"),
        ("she", "I feel low, I never sleep, I try", "She feels low, she never sleeps, she tries"),
        ("she", "I sit and cry", "She sits and cries"),
        ("he", "I should go, I did not go, should I go", "He should go, he did not go, should he go"),
        ("he", "I went and I read it", "He went and he read it"),
        ("he", "My wife and I have a dog", "His wife and he have a dog"),
        ("he", "I lost it and I have none", "He lost it and he has none"),
        ("he", "All I do I do well", "All he does he does well"),
        ("I", "he is, she has, they are, he was, they were", "I am, I have, I am, I was, I was"),
        ("I", "he doesn't eat, she feels low, he tries", "I don't eat, I feel low, I try"),
        ("I", "Is he ok? Does she eat? Were they late?", "Am I ok? Do I eat? Was I late?"),
        ("I", "he/she is late, is he or she late", "I am late, am I late"),
        ("I", "they aren't here, isn't he", "I am not here, aren't I"),
        ("I", "he does not feel, he will go", "I do not feel, I will go"),
        ("I", "If she were here, were he here", "If I were here, were I here"),
        ("he", "(am I) \"am I?\" 'am I'", "(is he) \"is he?\" 'is he'"),
        ("he", "I fly, I wash, I fix, I undo, I dare", "He flies, he washes, he fixes, he undoes, he dares"),
        ("he", "I ruminate, I procrastinate, I wake", "He ruminates, he procrastinates, he wakes"),
        ("he", "I cry, I sleep, I work, I go", "He cries, he sleeps, he works, he goes"),
        (
            "he",
            "I fly home, I rely on it, I badly want it",
            "He flies home, he relies on it, he badly wants it",
        ),
    ],
)
def test_verbs_beside_the_subject_are_repaired(to: Person, text: str, expected: str) -> None:
    assert shift_person(to, agreement=True)(text).text == expected


@pytest.mark.parametrize(
    ("to", "text", "expected"),
    [
        ("he", "I feel sad but don't want it", "He feels sad but doesn't want it"),
        ("he", "I feel so sad, but don't want it", "He feels so sad, but doesn't want it"),
        ("he", "I'm tired and don’t want to", "He's tired and doesn’t want to"),
        ("he", "I can't sleep and don't eat", "He can't sleep and doesn't eat"),
        ("they", "I feel sad and am tired", "They feel sad and are tired"),
        ("I", "he's sad and wants to go", "I'm sad and want to go"),
    ],
)
def test_a_second_verb_of_the_same_subject_is_repaired(to: Person, text: str, expected: str) -> None:
    assert shift_person(to, agreement=True)(text).text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am sad but don't worry", "He is sad but don't worry"),
        ("I can't sleep and have fun", "He can't sleep and have fun"),
        ("I know people drink but don't care", "He knows people drink but don't care"),
        ("I like it and love is hard", "He likes it and love is hard"),
    ],
)
def test_a_second_verb_that_may_be_bare_or_anothers_is_left_alone(text: str, expected: str) -> None:
    assert shift_person("he", agreement=True)(text).text == expected


def test_the_repaired_verb_has_its_own_span() -> None:
    assert shift_person("they", agreement=True)("So am I") == Edited("So are they", ((3, 6), (7, 11)))


@pytest.mark.parametrize(
    ("verb", "form"),
    [
        ("feel", "feels"),
        ("try", "tries"),
        ("stay", "stays"),
        ("miss", "misses"),
        ("watch", "watches"),
        ("go", "goes"),
    ],
)
def test_third_person_forms(verb: str, form: str) -> None:
    assert third_person(verb) == form

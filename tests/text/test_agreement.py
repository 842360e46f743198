import pytest

from psycheck.text.agreement import third_person
from psycheck.text.edits import Edited
from psycheck.text.person import Person, shift_person


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
    ],
)
def test_verbs_beside_the_subject_are_repaired(to: Person, text: str, expected: str) -> None:
    assert shift_person(to, agreement=True)(text).text == expected


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

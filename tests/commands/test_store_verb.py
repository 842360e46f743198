"""Forgetting: what is deleted is gone from the file and its log, and nothing else is."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from planted import MODELS, Counting
from psycheck.commands.main import app
from psycheck.commands.store import forget, stored
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.core.model import Reply
from psycheck.scoring.answers import answers
from psycheck.scoring.vectors import encode_once
from refusals import refused
from scoring.test_answers import Talker
from scoring.test_vectors_stored import Counting as CountingEncoder

TEXTS = ["I am so tired.", "The garden is wet.", "She said that nothing helps."]


class Quoting(Talker):
    """Quotes what it was asked about, as models do."""

    def ask(self, items, /):  # type: ignore[no-untyped-def]  # as its parent
        self.asked += items
        for place, text in enumerate(items):
            yield place, Reply(f"depression: 0.{len(text) % 10} because of: {text}")


def bytes_of(path: Path) -> bytes:
    """The file and everything beside it, as it is on the disk while the store is in use."""
    return b"".join(part.read_bytes() for part in path.parent.iterdir() if part.is_file())


def filled(path: Path) -> Quoting:
    model = Quoting()
    with answers([model, MODELS["oracle"]], [(1.0, TEXTS)], store=path):
        assert all(text.encode() in bytes_of(path) for text in TEXTS)
    return model


def test_the_replies_of_a_forgotten_model_are_gone_from_the_file_and_its_log(own_store: Path) -> None:
    model = filled(own_store)
    assert forget("talker") == 3
    assert not any(text.encode() in bytes_of(own_store) for text in TEXTS)
    assert [(one.name, one.items, one.replies) for one in stored()] == [("oracle", 3, 0)]
    with answers([model, oracle := Counting(MODELS["oracle"])], [(1.0, TEXTS)]):
        assert sorted(model.asked) == sorted(TEXTS * 2)
        assert oracle.seen == []


def test_the_texts_of_a_corpus_are_forgotten_and_others_kept(own_store: Path) -> None:
    model = filled(own_store)
    encode_once(CountingEncoder(), TEXTS)
    assert forget(corpus=Corpus.of("c", TEXTS[:2])) == 2 * 2 + 2
    content = bytes_of(own_store)
    assert [text.encode() in content for text in TEXTS] == [False, False, True]
    with answers([model, oracle := Counting(MODELS["oracle"])], [(1.0, TEXTS)]) as found:
        assert found.tallies["talker"].remembered == 1
        assert found.views[0].of(TEXTS[2:])[0, 0] == 0.8
        assert sorted(oracle.seen) == sorted(TEXTS[:2])


def test_edits_of_a_forgotten_text_are_forgotten_too(own_store: Path) -> None:
    edited = "He said that nothing helps."
    with answers([Quoting()], [(1.0, [edited, "other"])]):
        pass
    assert forget(corpus=Corpus.of("c", TEXTS[2:])) == 1
    assert edited.encode() not in bytes_of(own_store)
    assert b"other" in bytes_of(own_store)


def test_a_model_is_found_by_the_beginning_of_its_fingerprint_and_a_corpus_limits_it(own_store: Path) -> None:
    filled(own_store)
    assert forget("talke", Corpus.of("c", TEXTS[:1])) == 1
    assert [(one.name, one.items) for one in stored()] == [("talker", 2), ("oracle", 3)]


@pytest.mark.parametrize(
    ("named", "message"), [({"model": "orakel"}, "nothing of a model 'orakel'"), ({}, "neither a model nor")]
)
def test_nothing_is_forgotten_by_mistake(own_store: Path, named: dict[str, str], message: str) -> None:
    filled(own_store)
    with pytest.raises(BadInput, match=message):
        forget(**named)  # type: ignore[arg-type]  # strings only
    assert sum(one.items for one in stored()) == 6


def test_a_store_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    with refused("store.not-found", where="none.sqlite"):
        stored(tmp_path / "none.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_the_verb_asks_before_it_deletes(own_store: Path) -> None:
    filled(own_store)
    run = CliRunner().invoke
    for answer in ("n\n", ""):  # no, and no terminal
        kept = run(app, ["store", "forget", "--model", "talker"], input=answer).exception
        assert isinstance(kept, BadInput)
    shown = run(app, ["store", "show"]).output
    assert "talker  talker-1  3 texts, replies to 3 of them" in shown
    done = run(app, ["store", "forget", "--model", "talker"], input="y\n")
    assert "Delete what is stored of model 'talker' (talker-1) about all texts?" in done.output
    assert "3 stored answers deleted" in done.output
    assert run(app, ["store", "forget", "-m", "oracle", "--yes"]).output == "3 stored answers deleted\n"

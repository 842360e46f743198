import gzip
import json
import pickle
import struct
import sys
import types
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psycheck.core.arrays import FloatArray
from psycheck.core.model import Encoder
from psycheck.models.opening import open_encoder
from psycheck.models.vectors.fasttext_file import MAGIC, ngram_hash, ngrams
from psycheck.models.vectors.folders import string_hash
from psycheck.models.vectors.index import folder_of, store, stored
from psycheck.models.vectors.static import WordVectors, matched_words
from refusals import refused

NUMBERS: Mapping[str, list[float]] = {
    "the": [0.5, 1.0, -2.0],
    "sad": [1.0, 0.0, 0.25],
    "Mary": [0.0, 3.0, 1.0],
    "falling": [2.0, 2.0, 0.0],
    "asleep": [0.0, -2.0, 4.0],
    "naïve": [7.0, 8.0, 9.0],
    "weight_loss": [1.0, 1.0, 1.0],
}


def text_of(
    numbers: Mapping[str, list[float]] = NUMBERS, *, header: bool = True, end: str = "", apart: str = " "
) -> bytes:
    lines = [f"{word}{apart}{' '.join(map(str, row))}{end}" for word, row in numbers.items()]
    head = [f"{len(numbers)} 3"] if header else []
    return ("\n".join([*head, *lines]) + "\n").encode()


def binary_of(numbers: Mapping[str, list[float]] = NUMBERS, *, feed: bytes = b"") -> bytes:
    rows = [word.encode() + b" " + struct.pack("<3f", *row) + feed for word, row in numbers.items()]
    return f"{len(numbers)} 3\n".encode() + b"".join(rows)


def opened(path: Path) -> WordVectors:
    encoder = open_encoder(f"vectors:{path}")
    assert isinstance(encoder, WordVectors)
    return encoder


def written(path: Path, raw: bytes) -> Path:
    path.write_bytes(raw)
    return path


def check_all(encoder: WordVectors) -> None:
    np.testing.assert_allclose(encoder.vectors(list(NUMBERS)), list(NUMBERS.values()), atol=1e-6)
    assert np.isnan(encoder.vectors(["absent"])).all()


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("word2vec.txt", text_of()),
        ("fasttext.vec", text_of(end=" ")),
        ("windows.txt", text_of(end="\r")),
        ("glove.txt", text_of(header=False)),
        ("tabs.txt", text_of().replace(b" ", b"\t")),
        ("tabs-glove.txt", text_of(header=False).replace(b" ", b"\t")),
        ("tab-after-word.txt", text_of(apart="\t")),
        ("word2vec.bin", binary_of()),
        ("word2vec-c.bin", binary_of(feed=b"\n")),
    ],
)
def test_every_kind_of_file_gives_the_same_vectors(name: str, raw: bytes, tmp_path: Path) -> None:
    check_all(opened(written(tmp_path / name, raw)))
    check_all(opened(written(tmp_path / f"{name}.gz", gzip.compress(raw))))
    with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
        archive.writestr("inside", raw)
    check_all(opened(tmp_path / f"{name}.zip"))


def test_words_with_spaces_as_in_the_large_glove_file(tmp_path: Path) -> None:
    encoder = opened(written(tmp_path / "g.txt", b"the 1 2 3\n. . . 4 5 6\n"))
    np.testing.assert_allclose(encoder.vectors([". . ."]), [[4, 5, 6]])


def test_phrases_in_a_file_with_tabs_keep_their_spaces(tmp_path: Path) -> None:
    encoder = opened(written(tmp_path / "t.txt", b"the\t1\t2\t3\nweight loss 2\t4\t5\t6\n"))
    np.testing.assert_allclose(encoder.vectors(["weight loss 2"]), [[4, 5, 6]])


def test_wink_json_is_ordered_by_its_ranks(tmp_path: Path) -> None:
    vectors = {"1990": [5, 6, 7, 10.5, 1], 'say "the"': [1, 2, 3, 3.7, 0]}
    raw = json.dumps(
        {"dimensions": 3, "words": ["a"], "vectors": vectors, "unkVector": [0]}, separators=(",", ":")
    )
    encoder = opened(written(tmp_path / "wink.json", raw.encode()))
    assert encoder.vocabulary is not None
    assert [encoder.vocabulary.word(row) for row in range(2)] == ['say "the"', "1990"]
    np.testing.assert_allclose(encoder.vectors(["1990"]), [[5, 6, 7]])


@settings(max_examples=30)
@given(
    st.lists(
        st.text(st.characters(exclude_characters=" \n", exclude_categories=["Cs"]), min_size=1), unique=True
    )
)
def test_every_word_is_found_in_its_own_row(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    raw = [word.encode() for word in words]
    rows = np.arange(2 * len(words), dtype=np.float32).reshape(-1, 2)
    found = store([(raw, rows)], tmp_path_factory.mktemp("v") / "v", {})
    assert found.vocabulary.find(words).tolist() == list(range(len(words)))
    assert [found.vocabulary.word(row) for row in range(len(words))] == words
    assert found.vocabulary.find(["a b", ""]).tolist() == [-1, -1]
    assert found.table is None or np.array_equal(found.table, rows)


def test_two_words_with_one_hash_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psycheck.models.vectors.index.word_hash", lambda _: 7)
    rows = np.eye(3, dtype=np.float32)
    found = store([([b"one", b"two", b"one"], rows)], tmp_path / "v", {})
    assert found.vocabulary.find(["two", "one", "three"]).tolist() == [1, 0, -1]


def test_the_second_opening_reads_no_vector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "v.txt", text_of())
    first = opened(path)
    monkeypatch.setattr("psycheck.models.vectors.static.read_vectors", lambda _: pytest.fail("read again"))
    again = opened(path)
    check_all(again)
    assert again.fingerprint == first.fingerprint
    kept = stored(folder_of([path]))
    assert kept is not None
    assert isinstance(kept.table, np.memmap)


def test_a_changed_file_is_converted_anew(tmp_path: Path) -> None:
    path = written(tmp_path / "v.txt", text_of())
    before = opened(path).fingerprint
    written(path, text_of({**NUMBERS, "sad": [9.0, 9.0, 9.0]}))
    again = opened(path)
    np.testing.assert_allclose(again.vectors(["sad"]), [[9, 9, 9]])
    assert again.fingerprint != before


def test_the_fingerprint_is_of_the_content_not_of_the_place(tmp_path: Path) -> None:
    one, other = (written(tmp_path / name, text_of()) for name in ("a.txt", "b.txt"))
    assert opened(one).fingerprint == opened(other).fingerprint


def test_a_broken_conversion_is_made_again(tmp_path: Path) -> None:
    path = written(tmp_path / "v.txt", text_of())
    opened(path)
    folder = folder_of([path])
    (folder / "ends.npy").write_bytes(b"garbage")
    assert stored(folder) is None
    check_all(opened(path))


def test_spellings_and_phrases(tmp_path: Path) -> None:
    encoder = opened(written(tmp_path / "v.txt", text_of()))
    assert encoder.spelled(["SAD", "Mary", "mary", "weight loss", "falling asleep", "sad day"]) == [
        ("sad",), ("Mary",), (), ("weight_loss",), ("falling", "asleep"), (),
    ]  # fmt: skip
    np.testing.assert_allclose(encoder.vectors(["falling asleep"]), [[1, 0, 2]])


def in_glove(tmp_path: Path, words: str) -> WordVectors:
    """A file without header: the k-th word is k, k², 1."""
    lines = (f"{word} {k} {k * k} 1\n" for k, word in enumerate(words.split(), 1))
    return opened(written(tmp_path / "c.txt", "".join(lines).encode()))


@pytest.mark.parametrize("mark", ["'", "’"])
def test_a_contraction_that_the_file_lacks_is_the_mean_of_its_parts(mark: str, tmp_path: Path) -> None:
    encoder = in_glove(tmp_path, "she 's do n't patient ca wo should 've i")
    words = ["she's", "She's", "don't", "DON'T", "patient's", "can't", "won't", "shouldn't've", "I'm"]
    assert encoder.spelled([word.replace("'", mark) for word in words]) == [
        ("she", "'s"), ("she", "'s"), ("do", "n't"), ("do", "n't"), ("patient", "'s"), ("ca", "n't"),
        ("wo", "n't"), ("should", "n't", "'ve"), ("i",),
    ]  # fmt: skip
    # The mean of words 1 and 2: (1.5, 2.5, 1); "patient" is word 5, and "xyz's" is no word.
    text = "She's, a xyz's patient".replace("'", mark)
    np.testing.assert_allclose(encoder.encode([text]), [[(1.5 + 5) / 2, (2.5 + 25) / 2, 1]])


def test_without_nt_and_s_of_its_own_a_file_gives_the_word_before(tmp_path: Path) -> None:
    encoder = in_glove(tmp_path, "she do don can will ca ai is in law mother 's")
    assert encoder.spelled(["don't", "can't", "won't", "ain't", "mother-in-law's", "xyz's", "'s"]) == [
        ("do",), ("can",), ("will",), ("is",), ("mother", "in", "law", "'s"), (), ("'s",),
    ]  # fmt: skip
    assert encoder.spelled(["do" + 2_000 * "'do"]) == [()]


def test_a_contraction_that_the_file_holds_stays_whole_whatever_its_apostrophe(tmp_path: Path) -> None:
    encoder = in_glove(tmp_path, "don't do n't she’s she 's")
    assert encoder.spelled(["don't", "don’t", "Don’t", "she's", "she’s"]) == [
        ("don't",), ("don't",), ("don't",), ("she’s",), ("she’s",),
    ]  # fmt: skip


def test_vectors_remembered_from_before_contractions_are_not_taken(tmp_path: Path) -> None:
    assert opened(written(tmp_path / "v.txt", text_of())).capabilities.parts["encoding"] == "2"


def test_it_is_an_encoder_of_texts_and_spans(tmp_path: Path) -> None:
    encoder = opened(written(tmp_path / "v.txt", text_of()))
    assert isinstance(encoder, Encoder)
    # "the" and "sad" averaged; "xyz" is not known.
    np.testing.assert_allclose(
        encoder.encode(["The sad, xyz!", "", "xyz"]), [[0.75, 0.5, -0.875], [0.0] * 3, [0.0] * 3]
    )
    np.testing.assert_allclose(encoder.encode_spans(["so sad"], [(3, 6)]), [[1.0, 0.0, 0.25]])
    with refused("encoder.span-count"):
        encoder.encode_spans(["a", "b"], [(0, 1)])


def fasttext_of(words: list[str], matrix: FloatArray, buckets: int, *, quantised: bool = False) -> bytes:
    arguments = struct.pack("<12id", matrix.shape[1], 5, 5, 1, 5, 1, 1, 2, buckets, 3, 4, 100, 1e-4)
    sizes = struct.pack("<iiiqq", len(words), len(words), 0, 99, -1)
    entries = b"".join(word.encode() + b"\0" + struct.pack("<qb", 7, 0) for word in words)
    head = MAGIC + struct.pack("<i", 12) + arguments + sizes + entries
    return head + struct.pack("<?qq", quantised, *matrix.shape) + matrix.astype("<f4").tobytes()


def test_fasttext_models_average_a_word_and_its_ngrams(tmp_path: Path) -> None:
    matrix = np.random.default_rng(0).standard_normal((2 + 10, 4)).astype(np.float32).astype(np.float64)
    encoder = opened(written(tmp_path / "m.bin", fasttext_of(["sad", "the"], matrix, 10)))
    grams = [b"<sa", b"<sad", b"sad", b"sad>", b"ad>"]
    assert sorted(ngrams("sad", 3, 4)) == sorted(grams)
    rows = [matrix[2 + ngram_hash(gram) % 10] for gram in grams]
    np.testing.assert_allclose(encoder.vectors(["sad"]), [np.mean([matrix[0], *rows], axis=0)], atol=1e-6)
    # A word that the dictionary lacks is made of its n-grams alone.
    other = [matrix[2 + ngram_hash(gram) % 10] for gram in (b"<it", b"<it>", b"it>")]
    np.testing.assert_allclose(encoder.vectors(["it"]), [np.mean(other, axis=0)], atol=1e-6)


def test_the_hashes_are_the_published_ones() -> None:
    # FNV-1a's own test values; spaCy's documentation names the hash of "coffee".
    assert [ngram_hash(b"a"), ngram_hash(b"foobar")] == [0xE40C292C, 0xBF9CF968]
    assert string_hash("coffee") == 3197928453018144401


def test_broken_fasttext_models_are_refused(tmp_path: Path) -> None:
    raw = fasttext_of(["sad"], np.ones((1, 4)), 0)
    for size in (6, 40, 90, len(raw) - 1):
        with refused("vectors.fasttext-cut-short"):
            opened(written(tmp_path / f"{size}.bin", raw[:size]))
    with refused("vectors.fasttext-quantised"):
        opened(written(tmp_path / "q.bin", fasttext_of(["sad"], np.ones((1, 4)), 0, quantised=True)))


def gensim_file(path: Path, **held: object) -> Path:
    """What gensim saves, made by a class of the same name."""
    module = types.ModuleType("gensim.models.keyedvectors")
    kind = type("KeyedVectors", (), {"__module__": module.__name__})
    vars(module)["KeyedVectors"] = kind
    made = kind()
    vars(made).update(held)
    with pytest.MonkeyPatch.context() as patched:
        for name in ("gensim", "gensim.models", module.__name__):
            patched.setitem(sys.modules, name, module)
        return written(path, pickle.dumps(made, protocol=4))


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Words inside, vectors beside."""
    np.save(tmp_path / "v.kv.vectors.npy", np.array(list(NUMBERS.values()), np.float32))
    counts = {"count": np.arange(7)}
    return gensim_file(tmp_path / "v.kv", index_to_key=list(NUMBERS), expandos=counts, vectors=None)


def test_gensim_files_are_read_without_gensim(saved: Path) -> None:
    check_all(opened(saved))


def test_a_pickle_that_would_act_is_refused(tmp_path: Path) -> None:
    class Act:
        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (tmp_path / "acted",))

    with refused("vectors.gensim-not-data", where="evil.kv"):
        opened(written(tmp_path / "evil.kv", pickle.dumps(Act(), protocol=4)))
    assert not (tmp_path / "acted").exists()
    with refused("vectors.not-gensim"):
        opened(written(tmp_path / "dict.kv", pickle.dumps({"a": 1}, protocol=4)))
    with refused("vectors.gensim-unreadable"):
        opened(written(tmp_path / "cut.kv", pickle.dumps({"a": 1}, protocol=4)[:-4]))


@pytest.mark.parametrize("kind", ["<f4", ">f4", "f8", "f2"])
def test_gensim_vectors_inside_the_file_are_read_from_their_bytes(tmp_path: Path, kind: str) -> None:
    rows = np.array(list(NUMBERS.values()), kind)
    for name, vectors in (("c", rows), ("f", np.asfortranarray(rows))):
        check_all(opened(gensim_file(tmp_path / f"{name}.kv", index_to_key=list(NUMBERS), vectors=vectors)))


@pytest.mark.parametrize("order", ["<", ">"])
def test_gensim_words_may_be_numpy_text(tmp_path: Path, order: str) -> None:
    """wefe ships such a file: each word a scalar of NumPy, with a dtype by its length."""
    words = [np.array(word, f"{order}U{len(word)}")[()] for word in NUMBERS]
    kept = np.array(list(NUMBERS.values()), np.float32)
    check_all(opened(gensim_file(tmp_path / "text.kv", index2word=words, vectors=kept)))
    numbers = gensim_file(tmp_path / "numbers.kv", index2word=list(np.arange(7)), vectors=kept)
    with refused("vectors.gensim-no-words"):
        opened(numbers)


def test_no_array_of_pointers_is_made_of_bytes(tmp_path: Path) -> None:
    class Forged:
        """An object array over eight bytes: NumPy makes it, and following its pointer ends the process."""

        def __reduce__(self) -> tuple[object, ...]:
            return (np.ndarray, ((1,), np.dtype("O"), b"\x01" * 8))

    class Flagged:
        """Eight raw bytes that claim to hold a pointer."""

        def __reduce__(self) -> tuple[object, ...]:
            return (np.dtype, ("V8", False, True), (3, "|", None, None, None, 8, 1, 63))

    for k, forged in enumerate((Forged(), Flagged(), np.array([None, {}], object))):
        path = gensim_file(tmp_path / f"{k}.kv", index_to_key=["a"], vectors=forged)
        with refused("vectors.gensim-mismatch"):
            opened(path)


def test_gensim_vectors_must_be_there_and_fit(saved: Path) -> None:
    beside = saved.with_name("v.kv.vectors.npy")
    with refused("vectors.without-words", do="gensim"):
        opened(beside)
    np.save(beside, np.ones((2, 3), np.float32))
    with refused("vectors.gensim-mismatch"):
        opened(saved)
    beside.unlink()
    with refused("vectors.gensim-no-array", where="v.kv.vectors.npy"):
        opened(saved)


def spacy_folder(folder: Path, *, rows: Mapping[str, int]) -> Path:
    (folder / "vocab").mkdir(parents=True)
    pairs = b"".join(
        b"\xcf" + string_hash(word).to_bytes(8, "big") + bytes([row]) for word, row in rows.items()
    )
    (folder / "vocab" / "key2row").write_bytes(bytes([0x80 + len(rows)]) + pairs)
    (folder / "vocab" / "strings.json").write_text(json.dumps(["unknown", *rows]))
    with (folder / "vocab" / "vectors").open("wb") as file:
        np.save(file, np.array([[1, 2], [3, 4]], np.float32))
    return folder


def test_spacy_pipelines_share_rows_between_words(tmp_path: Path) -> None:
    encoder = opened(spacy_folder(tmp_path / "md", rows={"sad": 1, "the": 0, "Sad": 1}))
    np.testing.assert_allclose(encoder.vectors(["the", "sad", "Sad"]), [[1, 2], [3, 4], [3, 4]])
    assert np.isnan(encoder.vectors(["unknown"])).all()
    with refused("vectors.spacy-mismatch"):
        opened(spacy_folder(tmp_path / "bad", rows={"sad": 2}))
    (tmp_path / "md" / "vocab" / "key2row").write_bytes(b"\xdf\0\0\0\x09\xcf")
    with refused("vectors.spacy-unreadable"):
        opened(tmp_path / "md")


def test_tables_of_word_pieces(tmp_path: Path) -> None:
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece

    pieces = {"[UNK]": 0, "sad": 1, "##der": 2}
    tokenizer = Tokenizer(WordPiece(pieces, unk_token="[UNK]"))
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    table = np.array([[0, 0], [1, 2], [3, 6]], np.float16)
    save_file({"embeddings": table}, tmp_path / "model.safetensors")
    encoder = opened(tmp_path)
    np.testing.assert_allclose(encoder.vectors(["sad", "sadder"]), [[1, 2], [2, 4]])
    assert not encoder.by_frequency
    raw = (tmp_path / "model.safetensors").read_bytes()
    written(tmp_path / "model.safetensors", raw[:-1])
    with refused("vectors.no-single-table"):
        opened(tmp_path)


@pytest.mark.parametrize(
    ("raw", "code", "detail"),
    [
        (b"", "empty-file", ""),
        (b"once upon a time there was a text\n", "unknown-format", ""),
        (b"0 3\n", "empty-header", "line 1"),
        (text_of()[:-30], "bad-line", "a word and 3 numbers"),
        (b"9 3\n" + text_of(header=False), "word-count", "9 words, the file holds 7"),
        (b"7 4\n" + text_of(header=False), "bad-line", "a word and 4 numbers"),
        (b"the 1 2 3\nsad 1 2\n", "bad-line", "line 2"),
        (b"the\t1\t2\t3\nsad\t1\t2\n", "bad-line", "line 2"),
        (b"2\t3\nthe\t1\t2\t3\nsad\t1\tx\t3\n", "bad-line", "line 3"),
        (b"the\tword\tvectors\n", "unknown-format", ""),
        (b"the 1 2 3\nsad 1 x 3\n", "bad-line", "line 2"),
        (b"the 1 2 3\nsad 1 nan 3\n", "not-finite", "word 2"),
        (binary_of()[:-5], "word-count", "7 words, the file holds 6"),
        (binary_of() + b"more", "more-words", "7 words"),
        (b"7 2\n" + binary_of()[4:], "more-words", "7 words"),
        (b"2 3\n" + b"\xff" * 40_000, "endless-word", "word 1"),
        (b'{"dimensions":3,"words":[]}', "wink-no-vectors", ""),
        (b'{"dimensions":3,"vectors":{"a":[1,2,3,4,0],"b":[1,2', "wink-cut-short", "1 words"),
        (b'{"dimensions":3,"vectors":{"a":[1,2]}}', "wink-bad-entry", "word 1"),
    ],
)
def test_broken_files_are_said(raw: bytes, code: str, detail: str, tmp_path: Path) -> None:
    path = written(tmp_path / "v", raw)
    with refused(f"vectors.{code}") as caught:
        opened(path)
    assert detail in str(caught.value)
    assert "sad" not in str(caught.value).replace(str(path), "")
    assert not folder_of([path]).exists()


def test_broken_packing_and_wrong_places_are_said(tmp_path: Path) -> None:
    with refused("vectors.bad-compression"):
        opened(written(tmp_path / "v.txt.gz", gzip.compress(text_of())[:-12]))
    with refused("vectors.bad-compression"):
        opened(written(tmp_path / "v.zip", b"PK no zip"))
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.txt", "x")
        archive.writestr("b.txt", "y")
    with refused("vectors.several-in-archive", do="a.txt, b.txt"):
        opened(tmp_path / "two.zip")
    with refused("vectors.not-there"):
        opened(tmp_path / "absent.txt")
    (tmp_path / "folder").mkdir()
    with refused("vectors.no-vectors-in-folder"):
        opened(tmp_path / "folder")
    with refused("model.unknown-option", allowed="batch, label, name"):
        open_encoder(f"vectors:{tmp_path / 'v.txt.gz'}?dimension=3")


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "blocked", b"a file, no folder")
    monkeypatch.setenv("PSYCHECK_STORE", str(tmp_path / "blocked" / "scores.sqlite"))
    with refused("vectors.cannot-write"):
        opened(written(tmp_path / "v.txt", text_of()))


def ranked_file(path: Path) -> Path:
    words = [
        "the",
        "of",
        "and",
        "to",
        "in",
        *(f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in "bdfgklmnpstvw"),
    ]
    words += ["Not-Plain", "x1"]
    return written(path, "".join(f"{word} {k} 1\n" for k, word in enumerate(words)).encode())


def test_order_of_frequency_is_noticed(tmp_path: Path) -> None:
    assert opened(ranked_file(tmp_path / "ranked.txt")).by_frequency
    lines = sorted(ranked_file(tmp_path / "ranked.txt").read_bytes().splitlines())
    assert not opened(written(tmp_path / "sorted.txt", b"\n".join(lines))).by_frequency


def test_random_words_are_of_like_rank_and_plain(tmp_path: Path) -> None:
    encoder = opened(ranked_file(tmp_path / "ranked.txt"))
    drawn = matched_words(encoder, [("bab",), ("nuw", "nuv")], 30, frozenset({"bad"}), seed=1)
    first = encoder.ranks(drawn[0])
    assert len(drawn[0]) == 30
    assert "bad" not in drawn[0]
    assert max(first) <= encoder.ranks(["bab"])[0] * 1.25 + 251
    assert all(len(phrase.split()) == 2 for phrase in drawn[1])
    later = [rank for phrase in drawn[1] for rank in encoder.ranks(phrase.split())]
    assert min(later) >= encoder.ranks(["nuv"])[0] / 1.25 - 251
    assert not {"Not-Plain", "x1"} & {word for phrase in drawn[1] for word in phrase.split()}
    assert drawn == matched_words(encoder, [("bab",), ("nuw", "nuv")], 30, frozenset({"bad"}), seed=1)

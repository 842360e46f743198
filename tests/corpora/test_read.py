import csv
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import datasets
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.corpora.reading import Columns, read_corpus

datasets.disable_progress_bars()


def write(folder: Path, content: str, name: str = "posts.csv") -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8", newline="")
    return path


def refused(path: Path, columns: Columns | None = None, split: str | None = None) -> str:
    with pytest.raises(BadInput) as caught:
        read_corpus(path, columns or Columns(), split=split)
    return str(caught.value)


def test_a_csv_becomes_a_corpus_and_every_guess_is_said(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "post_id,text,depression,anxiety,author,created_utc,split,gender\n"
        'a,"All is well, thanks",0,,u1,1577836800,train,f\n'
        "b,Nothing helps,1,0.5,u2,1577836801,valid,\n",
    )
    corpus = read_corpus(path)
    assert corpus.name == "posts"
    assert corpus.table.to_dict(as_series=False) == {
        "id": ["a", "b"],
        "text": ["All is well, thanks", "Nothing helps"],
        "author": ["u1", "u2"],
        "time": ["1577836800", "1577836801"],
        "split": ["train", "dev"],
        "label:depression": [0.0, 1.0],
        "label:anxiety": [None, 0.5],
        "group:gender": ["f", None],
    }
    assert corpus.notes == (
        "Guessed that column 'text' holds the texts.",
        "Guessed that column 'post_id' holds the ids.",
        "Guessed that column 'split' holds the splits.",
        "Guessed that column 'author' holds the author.",
        "Guessed that column 'created_utc' holds the time.",
        "Guessed that column 'gender' holds groups.",
        "Guessed that the labels are 'depression', 'anxiety'.",
        "Split 'valid' is read as 'dev'.",
    )


def test_named_columns_names_of_labels_and_a_name_for_the_corpus(tmp_path: Path) -> None:
    path = write(tmp_path, "key,words,mood\n7,a b,low\n8,c d,fine\n")
    columns = Columns(text="words", id="key", labels=("mood=depression",), positive=("low",))
    corpus = read_corpus(path, columns, name="mine")
    assert (corpus.name, corpus.ids, corpus.labels) == ("mine", ["7", "8"], ("depression",))
    assert corpus.targets().tolist() == [[1.0], [0.0]]


def test_a_star_makes_a_label_of_each_class(tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path, "text,mood\na,low\nb,high\nc,\n"), Columns(labels=("mood=*",)))
    assert corpus.labels == ("high", "low")
    assert corpus.table["label:low"].to_list() == [1.0, 0.0, None]


def test_a_guessed_label_of_many_names_is_refused_with_the_way_out(tmp_path: Path) -> None:
    assert "`labels='label=*'`" in refused(write(tmp_path, "text,label\na,mild\nb,severe\nc,none\n"))


def test_empty_texts_are_counted_and_kept_out_and_rows_keep_their_numbers(tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path, 'text,label\na,1\n" \n",0\n,0\nb,0\n'))
    assert corpus.texts == ["a", "b"]
    assert corpus.ids == ["1", "4"]
    assert corpus.left_out == {"empty text": 2}


def test_nothing_but_empty_texts_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, '{"text": "", "label": 1}\n{"text": null, "label": 0}\n', "a.jsonl")
    assert "every text is empty" in refused(path, Columns(text="text"))


def test_one_split_is_kept_under_either_of_its_names(tmp_path: Path) -> None:
    path = write(tmp_path, "text,label,split\na,1,train\nb,0,val\n,0,val\n")
    for split in ("val", "dev"):
        corpus = read_corpus(path, split=split)
        assert (corpus.texts, corpus.left_out) == (["b"], {"empty text": 1})
    assert read_corpus(path, split="train").left_out == {}
    assert "has no split 'test'" in refused(path, split="test")


def test_repeated_ids_are_refused_with_both_rows(tmp_path: Path) -> None:
    path = write(tmp_path, 'key,text\na,"x\ny"\nb,z\na,w\n')
    said = refused(path, Columns(id="key"))
    assert "id 'a' occurs twice: in row 1 (line 2) and in row 3 (line 5)" in said
    assert f"{path}, row 3 (line 5), column 'key'" in said


def test_a_repeated_id_is_refused_though_its_column_was_only_guessed(tmp_path: Path) -> None:
    path = write(tmp_path, "post_id,text\n7,x\n8,y\n7,z\n")
    said = refused(path)
    assert f"{path}, row 3 (line 4), column 'post_id'" in said
    assert "`id=none`" in said
    assert read_corpus(path, Columns(id="none")).ids == ["1", "2", "3"]


def test_an_empty_id_is_refused_though_its_column_was_only_guessed(tmp_path: Path) -> None:
    path = write(tmp_path, '{"id": 7, "text": "x"}\n{"text": "y"}\n', "posts.jsonl")
    assert "row 2, column 'id'" in refused(path)
    assert read_corpus(path, Columns(id="")).ids == ["1", "2"]


def test_repeated_ids_across_the_parts_of_a_dataset_name_the_parts(tmp_path: Path) -> None:
    part = datasets.Dataset.from_dict({"text": ["x"], "id": ["a"]})
    datasets.DatasetDict(train=part, test=part).save_to_disk(tmp_path / "d")
    assert "in train, row 1 and in test, row 1" in refused(tmp_path / "d", Columns(id="id"))


def test_an_empty_id_is_refused(tmp_path: Path) -> None:
    assert "row 2 (line 3), column 'key'" in refused(
        write(tmp_path, "key,text\na,x\n,y\n"), Columns(id="key")
    )


def test_ids_that_may_be_texts_are_not_quoted(tmp_path: Path) -> None:
    path = write(tmp_path, "body,text\nI have not slept since spring,a\nI have not slept since spring,b\n")
    said = refused(path, Columns(id="body", text="text"))
    assert "id of 29 characters" in said
    assert "slept" not in said


def test_a_label_out_of_range_is_refused_with_row_line_and_column(tmp_path: Path) -> None:
    path = write(tmp_path, 'text,label\n"a\nb",0\nc,2\n')
    assert f"label 2 is out of range\n  where: {path}, row 2 (line 4), column 'label'" in refused(path)


def test_a_text_column_of_numbers_is_refused_with_its_row(tmp_path: Path) -> None:
    path = write(tmp_path, '{"text": "a"}\n{"text": 5}\n', "a.jsonl")
    assert "type int" in (said := refused(path, Columns(text="text")))
    assert "row 2, column 'text'" in said


def test_two_labels_of_one_name_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "text,a,b\nx,0,1\n")
    assert "two labels are called 'b'" in refused(path, Columns(labels=("a=b", "b")))


def test_a_positive_value_that_no_label_holds_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    path = write(tmp_path, "text,label\na,1\nb,0\n")
    said = refused(path, Columns(positive=("depressed",)))
    assert "positive value not found in any label column: 'depressed'" in said
    assert "column 'label' holds '0', '1'" in said
    assert "'sever'" in refused(
        write(tmp_path, "text,label\na,mild\nb,severe\nc,none\n"), Columns(positive=("mild", "sever"))
    )


def test_values_of_the_label_that_may_be_a_text_are_not_shown(tmp_path: Path) -> None:
    path = write(tmp_path, "text,label\na,1\nb,I have not slept since the spring\n")
    assert "slept" not in refused(path, Columns(positive=("nope",)))


def test_a_positive_value_of_a_soft_label_is_said_to_be_unused(tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path, "text,label\na,1\nb,0.5\n"), Columns(positive=("0.5",)))
    assert corpus.targets().tolist() == [[1.0], [0.5]]
    assert any("positive values do not apply to it" in note for note in corpus.notes)


def test_texts_as_splits_groups_or_authors_are_refused_and_not_quoted(tmp_path: Path) -> None:
    long = "I have not slept since the spring " * 3
    path = write(tmp_path, f"text,other\na,{long}\nb,c\n")
    for columns in (Columns(split="other"), Columns(groups=("other",))):
        assert "slept" not in refused(path, columns)
    path = write(tmp_path, '{"text": "a", "author": ["slept"]}\n', "a.jsonl")
    assert "holds a list" in refused(path)


def test_cells_become_the_same_strings_from_every_format(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "text": ["a", "b"],
            "user": [7.0, None],
            "time": [1577836800, None],
            "gender": [True, None],
            "id": [1, 2],
        }
    )
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ndjson(tmp_path / "a.jsonl")
    expected = {
        "author": ["7", None],
        "time": ["1577836800", None],
        "group:gender": ["true", None],
        "id": ["1", "2"],
    }
    for name in ("a.parquet", "a.jsonl"):
        table = read_corpus(tmp_path / name, Columns(groups=("gender",))).table
        assert {column: table[column].to_list() for column in expected} == expected


def test_a_saved_dataset_is_read_with_its_splits_and_class_names(tmp_path: Path) -> None:
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["depressed", "not depressed"])}
    )
    parts = {
        split: datasets.Dataset.from_dict(
            {"text": [f"{split} a", f"{split} b"], "label": [0, 1]}, features=features
        )
        for split in ("train", "validation")
    }
    datasets.DatasetDict(parts).save_to_disk(tmp_path / "my.posts")
    corpus = read_corpus(tmp_path / "my.posts", split="dev")
    assert (corpus.name, corpus.texts) == ("my.posts", ["validation a", "validation b"])
    assert corpus.targets().tolist() == [[1.0], [0.0]]
    assert "Label 'label': guessed that 'depressed' means 1 and 'not depressed' means 0." in corpus.notes


def plain(corpus: Corpus) -> pl.DataFrame:
    return corpus.table.rename(
        {c: c.removeprefix("label:").removeprefix("group:") for c in corpus.table.columns}
    )


def write_csv(corpus: Corpus, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
        out.writerow(plain(corpus).columns)
        out.writerows(plain(corpus).rows())


def write_jsonl(corpus: Corpus, path: Path) -> None:
    path.write_text(
        "".join(json.dumps(row) + "\n" for row in plain(corpus).iter_rows(named=True)), encoding="utf-8"
    )


def write_dataset(corpus: Corpus, path: Path) -> None:
    datasets.Dataset.from_dict(plain(corpus).to_dict(as_series=False)).save_to_disk(path)


WRITERS: dict[str, Callable[[Corpus, Path], None]] = {
    "a.csv": write_csv,
    "a.tsv": write_csv,
    "a.jsonl": write_jsonl,
    "a.parquet": lambda corpus, path: plain(corpus).write_parquet(path),
}

marks = st.one_of(st.none(), st.just(0.0), st.just(1.0), st.floats(0, 1))
words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
texts = st.one_of(words, st.text("ab\"\n\r\t,;'🙂é \\", max_size=30)).filter(lambda text: text.strip())
names = st.one_of(st.none(), st.text('abc," \n🙂', min_size=1, max_size=8).filter(lambda name: name.strip()))


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    rows = draw(st.lists(st.tuples(texts, marks, marks, names, names), min_size=1, max_size=8))
    body, low, fear, author, gender = (list(column) for column in zip(*rows, strict=True))
    ids = draw(st.lists(texts, min_size=len(rows), max_size=len(rows), unique=True))
    labels = {"low": low, "fear": fear}
    return Corpus.of("a", body, ids=ids, labels=labels, author=author, groups={"gender": gender})


@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=40, deadline=None)
@given(corpus=corpora())
def test_any_corpus_is_read_back_as_it_was_written(name: str, corpus: Corpus) -> None:
    columns = Columns("text", "id", ("low", "fear"), "author", groups=("gender",))
    with tempfile.TemporaryDirectory() as folder:
        WRITERS[name](corpus, Path(folder) / name)
        back = read_corpus(Path(folder) / name, columns)
    assert back.fingerprint() == corpus.fingerprint()
    assert back.table.equals(corpus.table)
    assert back.left_out == {}


@settings(max_examples=10, deadline=None)
@given(corpus=corpora())
def test_any_corpus_is_read_back_from_a_saved_dataset(corpus: Corpus) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_dataset(corpus, Path(folder) / "a")
        back = read_corpus(
            Path(folder) / "a", Columns("text", "id", ("low", "fear"), "author", groups=("gender",))
        )
    assert back.table.equals(corpus.table)


pieces = st.sampled_from(
    ["text,label\n", "text\tlabel\n", '{"text": "a", "label": ', "1", "0", ",", "\t", "}", '"', "\n", "é"]
)


@settings(max_examples=50, deadline=None)
@given(
    content=st.one_of(
        st.binary(max_size=200), st.lists(pieces, max_size=20).map(lambda some: "".join(some).encode())
    )
)
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.csv.gz", "a.jsonl.zst"])
def test_any_bytes_are_read_whole_or_refused_cleanly(name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        where = ""
        try:
            corpus = read_corpus(path)
        except BadInput as error:
            where = error.where
        else:
            assert len(corpus) > 0
            assert all(text.strip() for text in corpus.texts)
            return
        assert str(path) in where

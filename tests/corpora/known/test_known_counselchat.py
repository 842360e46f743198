from pathlib import Path

from psycheck.corpora.known.opening import open_known
from refusals import refused


def test_a_text_is_one_question_with_the_topics_of_all_its_answers(tmp_path: Path) -> None:
    (tmp_path / "20200325_counsel_chat.csv").write_text(
        ",questionID,questionTitle,questionText,topic,answerText,upvotes,split\n"
        "0,4,How to rest?,I lie awake.,depression,Try this,1,train\n"
        "1,4,How to rest?,I lie awake.,anxiety,Or this,0,train\n"
        "2,2,Is it right?,,marriage,Yes,3,val\n"
        "3,9,No topic,Words,,Yes,3,test\n"
    )
    corpus = open_known("counselchat", tmp_path)
    assert corpus.table.to_dict(as_series=False) == {
        "id": ["4", "2", "9"],
        "text": ["How to rest?\nI lie awake.", "Is it right?", "No topic\nWords"],
        "split": ["train", "dev", "test"],
        "label:depression": [1.0, 0.0, None],
        "label:anxiety": [1.0, 0.0, None],
    }


def test_topics_are_parted_by_commas(tmp_path: Path) -> None:
    path = tmp_path / "counselchat-data.csv"
    path.write_text('questionID,questionTitle,questionText,topics\n1,Title,Words,"Anxiety,Family Conflict"\n')
    corpus = open_known("counselchat", path)
    assert corpus.targets(["depression", "anxiety"]).tolist() == [[0, 1]]
    assert "split" not in corpus.table


def test_a_table_of_texts_and_labels(tmp_path: Path) -> None:
    path = tmp_path / "counselchat.csv"
    path.write_text("text,depression,anxiety,topics\nWords,1,0,Depression\n")
    assert open_known("counselchat", path).targets().tolist() == [[1, 0]]
    path.write_text("question,depression,anxiety\nWords,1,0\n")
    with refused("release.missing-column", what="'text'"):
        open_known("counselchat", path)

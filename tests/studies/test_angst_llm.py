"""LLMs in the study: prompts and rating scales of a server on loopback, what they take, and their limits."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from llm_servers import Asked, Exchange, completion, serving
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, ModelFailure
from psycheck.core.run import Run
from psycheck.report.studies.angst_tables import tables_of
from psycheck.scoring.limits import Limits
from psycheck.studies.angst_study import study_angst

TEXTS = [f"{words} on day {day}" for day in range(5) for words in ("fine", "low", "tense", "low and tense")]


class Low:
    """Finds depression unless anything stands between "low" and the day."""

    name, labels, fingerprint = "low", ("depression",), "low"

    def score(self, texts: Sequence[str], /) -> FloatArray:
        return np.array([[float("low on" in text)] for text in texts])


def posts() -> Corpus:
    marks = {label: [float(word in text) for text in TEXTS] for label, word in (("depression", "low"),)}
    marks["anxiety"] = [float("tense" in text) for text in TEXTS]
    return Corpus.of("posts", TEXTS, labels=marks)


async def by_words(exchange: Exchange, asked: Asked, _: int) -> None:
    """Answer by the words of the post, in the shape that the prompt asks for; "fine on day 0" gets prose."""
    wanted = asked.body["messages"][-1]["content"]
    low, tense = ("yes" if word in asked.post else "no" for word in ("low", "tense"))
    said = json.dumps({"depression": low, "anxiety": tense})
    if "9." in wanted:  # the nine items of the PHQ-9
        said = json.dumps({str(item): low for item in range(1, 10)})
    elif asked.post == "fine on day 0":
        said = "It depends."
    await exchange.send(completion(said))


def studied(out: Path, **more: object) -> tuple[Run, int]:
    with serving(by_words) as server:
        (out / "prices.toml").write_text('[models."m"]\ninput = 10\noutput = 100\n')
        spec = f"llm:m?base_url={server.base_url}&temperature=0&schema=no&logprobs=no"
        pool = ["low 1,1,0", "low 2,1,0", "tense 1,0,1", "tense 2,0,1"]
        (out / "pool.csv").write_text("\n".join(["text,depression,anxiety", *pool]))
        models = [
            f"{spec}&prompt=comorbidity&name=m&prices={out / 'prices.toml'}",
            f"{spec}&prompt=comorbidity-few-shot&name=m&pool={out / 'pool.csv'}",
            f"{spec}&prompt=phq9&name=m",
        ]
        for _ in range(2):
            run = study_angst([posts()], models, out=out / "out", **more)  # type: ignore[arg-type]  # by name
        return run, len(server.asked)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, int]:
    return studied(tmp_path_factory.mktemp("llm"))


def test_prompts_are_told_apart_and_nothing_is_asked_twice(done: tuple[Run, int]) -> None:
    run, asked = done
    assert asked == 3 * len(TEXTS)
    kinds = [(one["type"], one["labels"]) for one in run.plan["models"]]
    both = ["depression", "anxiety"]
    assert kinds == [("zero-shot", both), ("few-shot", both), ("PHQ-9", ["depression"])]


def test_a_rating_scale_is_in_table_10_and_prompts_are_in_table_4(done: tuple[Run, int]) -> None:
    run, _ = done
    tables = {table.caption.partition(":")[0]: table for table in tables_of(run.findings)}
    ours = {name: [row[:3] for row in table.rows if row[0] == "ours"] for name, table in tables.items()}
    assert ours["Table 10"] == [("ours", "m", "PHQ-9, binary")]
    assert ours["Table 4"] == [("ours", "m", f"{kind}-shot, multi-label") for kind in ("zero", "few")]
    assert "Table 11" not in tables


def test_tokens_and_cost_are_those_of_all_replies_also_of_earlier_runs(done: tuple[Run, int]) -> None:
    run, _ = done
    (one,) = run.findings.where(measure="unanswered", experiment="zero-shot", label="anxiety")
    n = len(TEXTS)
    took = {"requests": n, "prompt_tokens": 100 * n, "completion_tokens": 7 * n}
    assert one.counts == {"unanswered": 1, **took}
    (cost,) = run.findings.where(measure="answer_cost")
    assert cost.value == pytest.approx((10 * 100 * n + 100 * 7 * n) / 1e6)
    usage = next(table for table in tables_of(run.findings) if table.caption.startswith("Unanswered"))
    assert usage.rows[0][1:] == (
        *("zero-shot, multi-label", "depression", "1 of 20"),
        *("20", "2,000", "140", "0.03"),
    )
    assert usage.rows[2][-1] == "–"  # no price


def test_limits_hold_for_all_models_together(tmp_path: Path) -> None:
    with pytest.raises((BadInput, ModelFailure), match="max_requests"):
        studied(tmp_path, limits=Limits(max_requests=3 * len(TEXTS) - 1))
    again = tmp_path / "again"
    again.mkdir()
    _, asked = studied(again, limits=Limits(max_requests=3 * len(TEXTS)))
    assert asked == 3 * len(TEXTS)


def test_texts_leave_the_machine_only_if_allowed(tmp_path: Path) -> None:
    spec = "llm:m?base_url=https://api.example.org/v1&prompt=depression"
    with pytest.raises(BadInput, match="another machine"):
        study_angst([posts()], [spec], out=tmp_path)


def test_lengths_of_two_models_are_table_16(tmp_path: Path) -> None:
    with serving(by_words) as server:
        spec = f"llm:m?base_url={server.base_url}&temperature=0&schema=no&logprobs=no&prompt=depression"
        run = study_angst([posts()], [spec, Low()], out=tmp_path)
    # The model that is no LLM comes first; it misses the texts that are both.
    found = {(f.where["outcome"], f.where["gold"]): f for f in run.findings.where(measure="outcome_length")}
    assert {f.where["model"] for f in found.values()} == {"low, as given, binary"}
    assert (found["FT", "1"].n, found["FT", "1"].value) == (5, len("low and tense on day 0"))
    assert (found["TT", "1"].n, found["TT", "1"].value) == (5, len("low on day 0"))
    assert found["all", "0"].n == 9  # one of ten was not answered
    table = next(one for one in tables_of(run.findings) if one.caption.startswith("Table 16"))
    assert [row[0] for row in table.rows] == ["ours"] * 5 + ["published"] * 5

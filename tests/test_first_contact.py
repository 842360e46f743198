"""The first lines that people type in Python: each one runs as it is written here."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

import psycheck
from planted import NEGATIVE, POSITIVE, oracle

ROWS = 40
TEXTS = [f"{text} ({number})" for number in range(ROWS // 10) for text in (*POSITIVE, *NEGATIVE)]
LABELS = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0] * (ROWS // 10)
STATES = ["depressed" if label else "control" for label in LABELS]
FAST = {"audits": ["performance", "behaviour"]}


def posts() -> dict[str, list[Any]]:
    """A small corpus as columns: ten texts of our own, four times with a number."""
    return {
        "text": TEXTS,
        "depression": LABELS,
        "author": [f"a{number % 20}" for number in range(ROWS)],
        "sex": ["f" if number % 3 else "m" for number in range(ROWS)],
        "post_id": [f"p{number}" for number in range(ROWS)],
        "part": ["train" if number < 20 else "dev" if number < 30 else "test" for number in range(ROWS)],
    }


def state_posts() -> datasets.Dataset:
    """The same texts with a ClassLabel."""
    names = datasets.ClassLabel(names=["control", "depressed"])
    features = datasets.Features({"text": datasets.Value("string"), "state": names})
    return datasets.Dataset.from_dict({"text": TEXTS, "state": LABELS}, features=features)


@pytest.fixture(scope="module")
def pipe() -> Pipeline:
    """A pipeline from raw texts to probabilities."""
    fitted: Pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, LABELS)
    return fitted


@pytest.fixture(scope="module")
def named_pipe() -> Pipeline:
    """A pipeline whose classes are words."""
    fitted: Pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, STATES)
    return fitted


def by_text(text: str) -> float:
    return oracle(text)


def by_texts(texts: list[str]) -> list[float]:
    return [oracle(text) for text in texts]


async def asked(text: str) -> float:
    return oracle(text)


class Lengths(torch.nn.Module):
    """A network from texts to logits of two classes."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(1, 2)

    def forward(self, texts: list[str]) -> torch.Tensor:
        lengths = torch.tensor([[len(text) / 100] for text in texts])
        logits: torch.Tensor = self.layer(lengths)
        return logits


@pytest.fixture
def names(
    pipe: Pipeline, named_pipe: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """What a person has in the notebook before the first line."""
    monkeypatch.chdir(tmp_path)
    df = pd.DataFrame(posts())
    df.to_csv("posts.csv", index=False)
    df.to_csv("excel.csv", index=False, sep=";", encoding="cp1252")
    df.to_json("posts.json", orient="records")
    excel = df.assign(state=STATES).drop(columns="depression")
    df[["post_id"]].assign(score=by_texts(TEXTS)).to_csv("scores_by_id.csv", index=False)
    df[["text"]].assign(score=by_texts(TEXTS)).to_csv("scores_by_text.csv", index=False)
    return {
        "psycheck": psycheck,
        "pl": pl,
        "pd": pd,
        "pipe": pipe,
        "named_pipe": named_pipe,
        "df": df,
        "df_a": df.iloc[:20],
        "df_b": df.iloc[20:],
        "words": excel,
        "svm": make_pipeline(TfidfVectorizer(), LinearSVC()).fit(TEXTS, LABELS),
        "polars_df": pl.DataFrame(posts()),
        "arrow_table": pl.DataFrame(posts()).to_arrow(),
        "rows": df.to_dict("records"),
        "columns": posts(),
        "ds": state_posts(),
        "texts": TEXTS,
        "f": by_text,
        "g": by_texts,
        "asked": asked,
        "network": Lengths(),
        "fast": FAST,
        "np": np,
    }


# One line each; `_` is the value of the last expression.
LINES = [
    # Models and data as they are held.
    'run = psycheck.audit(pipe, df, label="depression", author="author", groups=["sex"])',
    'psycheck.audit({"old": f, "new": pipe.predict_proba}, ds, label="state", positive="depressed")',
    'psycheck.audit(pipe, df, text="text", label="depression", id="post_id", **fast)',
    "psycheck.audit(pipe, df, split_column='part', **fast)",
    "psycheck.audit(pipe.predict_proba, df, **fast)",
    "psycheck.audit(named_pipe, words, label='state', positive='depressed', **fast)",
    "psycheck.audit(named_pipe.predict, words, label='state', positive='depressed', **fast)",
    "psycheck.audit(svm.predict, df, **fast)",
    "psycheck.audit(f, df, **fast)",
    "psycheck.audit(f, arrow_table, **fast)",
    "psycheck.audit(f, (row for row in rows), **fast)",
    "psycheck.audit(g, polars_df, **fast)",
    "psycheck.audit(g, polars_df.lazy(), **fast)",
    "psycheck.audit(asked, df, **fast)",
    "psycheck.audit(lambda text: 0.9 if 'sad' in text else 0.1, df, **fast)",
    "psycheck.audit(lambda text: {'depression': 0.7, 'anxiety': 0.2}, df, **fast)",
    "psycheck.audit(network, df, **fast)",
    "psycheck.audit([pipe, f], df, **fast)",
    "psycheck.audit(f, rows, label='depression', **fast)",
    "psycheck.audit(f, columns, label='depression', **fast)",
    "psycheck.audit(f, {'text': texts, 'depression': [1, 0] * 20}, **fast)",
    "psycheck.audit(f, [df_a, df_b], **fast)",
    "psycheck.audit(f, {'here': df_a, 'there': df_b}, **fast)",
    "psycheck.audit(f, ds, label='state', **fast)",
    "psycheck.audit(f, ds.train_test_split(0.5, seed=0), label='state', positive='depressed', **fast)",
    "psycheck.audit(f, 'posts.csv', label='depression', **fast)",
    "psycheck.audit(f, 'excel.csv', label='depression', **fast)",
    "psycheck.audit(f, 'posts.json', label='depression', **fast)",
    "psycheck.audit('scores:scores_by_text.csv', df, audits=['performance'])",
    "psycheck.audit('scores:scores_by_id.csv', df, id='post_id')",
    "psycheck.audit(f, psycheck.open_corpus(df, label='depression', author='author'), **fast)",
    "psycheck.audit(f, df, suites=[psycheck.read_suite('deck')], **fast)",
    "psycheck.audit(f, df, show_texts=True, seed=3, threshold=0.4, out='runs/a', **fast)",
    # Results.
    "run = psycheck.audit(f, df, **fast); run.verdict.strip()",
    "psycheck.audit(f, df, **fast).failures(check='T23')",
    "psycheck.audit(f, df, **fast).failures('T23')",
    "assert psycheck.audit(f, df, **fast).passes('f1>=0.8', 'accuracy>=0.8')",
    "psycheck.audit(f, df, **fast).failures(texts=True).columns.index('text')",
    "psycheck.audit(f, df, **fast).scores",
    "psycheck.audit(f, df, **fast).to_latex()",
    "assert psycheck.audit(f, df, **fast).passes('f1>=0.8')",
    "assert not psycheck.audit(lambda text: 0.1, df, **fast).passes('f1>=0.8')",
    "psycheck.audit(f, df, **fast).findings.where(measure='f1').to_pandas()",
    "psycheck.audit(f, df, **fast)._repr_html_().index('<svg')",
    "psycheck.audit(f, df, out='runs/a', **fast); psycheck.open_run('runs/a').failures(check='T1')",
    # Suites, checks and prompts of one's own.
    "check = {'id': 'T1', 'kind': 'DIR', 'edit': {'append': ['I am sad']}, 'expect': {'not_down': 0.1}};"
    " suite = {'name': 'ours', 'label': 'depression', 'check': [check | {'title': 'adds sadness'}]};"
    " psycheck.audit(f, df, suites=suite, **fast)",
    "prompt = psycheck.read_prompt('depression');"
    " model = psycheck.open_model('llm:ours?base_url=http://127.0.0.1:9/v1', prompt=prompt);"
    " model.labels.index('depression')",
    # The other verbs.
    "a = psycheck.audit(f, df, **fast); b = psycheck.audit(pipe, df, **fast); psycheck.diff(a, b)",
    "psycheck.compare(df_a, df_b)",
    "psycheck.compare(df, by='depression')",
    "psycheck.score(f, df)",
    "psycheck.score(pipe, texts)",
    "model = psycheck.train(df, label='depression', split_column='part', start='tfidf+lr', out='models/a')",
    "model = psycheck.train(df, start='tfidf+lr', out='models/b'); psycheck.audit(model, df, **fast)",
    "psycheck.explain(df, author='author')",
    "psycheck.bias('minilm', random_lists=10)",
]


@pytest.mark.parametrize("line", LINES)
def test_a_first_line_runs_as_it_is_typed(line: str, names: dict[str, Any]) -> None:
    exec(line, names)


Judge = Callable[[str], bool]

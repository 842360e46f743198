"""Tiny transformers, as the tests of models save them."""

from models.conftest import save_model, tokenizers_saved

__all__ = ["save_model", "tokenizers_saved"]  # fixtures

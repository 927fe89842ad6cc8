"""Real models that nobody here made give to the bit what the official module gives."""

from __future__ import annotations

from pathlib import Path

import pytest

import ortcache as oc

from ..support.oracles import need
from .models import find_models, run_both

MODELS = find_models()


def test_the_models_are_there() -> None:
    names = {path.name for path in MODELS}
    assert {"mul_1.onnx", "sigmoid.onnx", "logreg_iris.onnx"} <= names
    need("models", any("PP-OCR" in name for name in names))


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_a_model_gives_what_the_official_module_gives(rt: oc.Runtime, path: Path) -> None:
    equal, outputs = run_both(rt, path)
    assert equal, outputs

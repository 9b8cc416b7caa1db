"""A public name that PyTorch documents is there, or docs/torch-missing-names.md says why not."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_conformance import public_names


@pytest.mark.filterwarnings("ignore")
def test_names_that_are_missing_are_listed():
    assert public_names.listed() == public_names.missing()

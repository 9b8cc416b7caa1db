"""docs/torch-reference.md is what tools/torch_reference.py writes."""

import torch_reference


def test_the_page_is_true():
    written = torch_reference.PAGE.read_text(encoding="utf-8")
    assert torch_reference.page() == written, "tools/torch_reference.py --write makes it anew"


def test_it_lists_what_there_is():
    written = torch_reference.PAGE.read_text(encoding="utf-8")
    for name in ("softmax(input, dim", "TransformerEncoderLayer(", "LBFGS(", "register_full_back"):
        assert name in written
    assert " at 0x" not in written

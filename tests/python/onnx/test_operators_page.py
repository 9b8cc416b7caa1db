"""The page of operators is what tools/onnx_operators.py writes."""

import onnx_operators


def test_the_page_is_up_to_date():
    assert onnx_operators.PAGE.read_text(encoding="utf-8") == onnx_operators.page()

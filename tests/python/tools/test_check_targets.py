"""tools/check_targets.py finds the numbers that sources define."""

import importlib.util
import pathlib

PATH = pathlib.Path(__file__).parents[3] / "tools/check_targets.py"
spec = importlib.util.spec_from_file_location("check_targets", PATH)
check_targets = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_targets)


def test_constants_of():
    text = """
constexpr int64_t least = 16, most = 1 << 20;
    static constexpr std::size_t few = 3;
inline constexpr double share = 0.5;
constexpr std::string_view name = "of 3";
const int64_t plain = 5;
constexpr auto again = other;
"""
    assert check_targets.constants_of(text) == ["least", "most", "few", "share"]


def test_all_numbers_are_listed():
    assert check_targets.main() == 0

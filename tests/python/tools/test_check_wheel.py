"""tools/check_wheel.py names the parts that a wheel lacks."""

from check_wheel import missing_parts

WHOLE = [
    "composit/_core.cpython-311-x86_64-linux-gnu.so",
    "composit/_core/__init__.pyi",
    "composit/libcomposit.so",
    "composit/include/composit/ir/node.h",
    "composit/cmake/composit-config.cmake",
    "composit/py.typed",
    "composit-0.1.0.dist-info/licenses/LICENSE",
    "composit-0.1.0.dist-info/licenses/licenses/NumPy.txt",
]


def test_a_whole_wheel_lacks_nothing():
    assert missing_parts(WHOLE) == []


def test_each_missing_part_is_named():
    assert missing_parts(WHOLE[:2] + WHOLE[3:]) == ["libcomposit.so"]
    assert len(missing_parts([])) == len(WHOLE)

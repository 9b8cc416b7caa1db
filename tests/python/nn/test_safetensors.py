"""safetensors files: beside the library's own, and whatever a hostile file may say."""

import json
import os
import struct
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy
import safetensors.torch
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import composit
import composit.numpy as cnp
from composit import nn

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "bfloat16", "float32", "float64", "complex64", "float8_e4m3fn", "float8_e5m2",
]  # fmt: skip


def some(dtype, shape=(3, 5), seed=0):
    """Any bits that the dtype can have, NaN among them."""
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    random = np.random.default_rng(seed)
    if dtype == np.bool_:
        return random.integers(0, 2, shape).astype(bool)
    count = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer(random.bytes(count), dtype).reshape(shape)


def file_of(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def write(folder, content):
    path = Path(folder) / "file.safetensors"
    path.write_bytes(content)
    return path


def refused(folder, content, message, error=ValueError):
    path = write(folder, content)
    with pytest.raises(error, match=message) as raised:
        nn.load_safetensors(path)
    assert "load_safetensors: " in str(raised.value) and str(path) in str(raised.value)


def info(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("shape", [(3, 5), (), (0, 3), (1,)])
def test_every_dtype_comes_back_to_the_bit(tmp_path, shape, copy):
    arrays = {dtype: some(dtype, shape) for dtype in DTYPES}
    nn.save_safetensors(tmp_path / "w", arrays, {"who": "me", "ü": '"\n\x01'})
    found, metadata = nn.load_safetensors(tmp_path / "w", copy=copy, return_metadata=True)
    assert metadata == {"who": "me", "ü": '"\n\x01'}
    assert sorted(found) == sorted(arrays)
    for name, array in arrays.items():
        assert found[name].name == name
        value = composit.evaluate(found[name])
        assert value.dtype == array.dtype and value.shape == array.shape
        assert value.tobytes() == array.tobytes()


def test_the_library_reads_ours_and_writes_the_same_bytes(tmp_path):
    torchs = {
        name: torch.zeros(3, 4, dtype=getattr(torch, dtype))
        for name, dtype in [("z", "float32"), ("a", "float64"), ("b", "bfloat16"), ("c", "bool"),
                            ("d", "int64"), ("e", "float16"), ("f", "uint8"), ("g", "complex64"),
                            ("h", "float8_e4m3fn"), ("i", "float8_e5m2"), ("j", "int8")]
    }  # fmt: skip
    torchs['ünï "quoted"\t'] = torch.arange(5)
    ours = {name: cnp.zeros(t.shape, str(t.dtype)[6:]) for name, t in torchs.items()}
    ours['ünï "quoted"\t'] = cnp.arange(5)
    nn.save_safetensors(tmp_path / "ours", ours, {"one": "text"})
    assert (tmp_path / "ours").read_bytes() == safetensors.torch.save(torchs, {"one": "text"})
    back = safetensors.torch.load_file(tmp_path / "ours")
    for name, tensor in torchs.items():
        assert back[name].dtype == tensor.dtype and torch.equal(back[name], tensor)


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_files_of_the_library(tmp_path, data):
    names = data.draw(st.lists(st.text(min_size=1, max_size=8), unique=True, max_size=6))
    names = [n for n in names if n != "__metadata__" and n.isprintable()]
    arrays = {}
    for name in names:
        dtype = data.draw(st.sampled_from([d for d in DTYPES if not hasattr(ml_dtypes, d)]))
        shape = data.draw(st.lists(st.integers(0, 4), max_size=4))
        arrays[name] = some(dtype, tuple(shape), data.draw(st.integers(0, 9)))
    theirs = tmp_path / "theirs"
    theirs.write_bytes(safetensors.numpy.save(arrays))
    found = nn.load_safetensors(theirs)
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert composit.evaluate(found[name]).tobytes() == array.tobytes()
    nn.save_safetensors(tmp_path / "ours", found)
    back = safetensors.numpy.load_file(tmp_path / "ours")
    assert all(back[name].tobytes() == array.tobytes() for name, array in arrays.items())


def test_tensors_share_the_file_and_outlive_it(tmp_path):
    path = tmp_path / "w"
    value = np.arange(2**20, dtype="float32")
    nn.save_safetensors(path, {"x": value})

    def kilobytes():
        status = Path("/proc/self/smaps_rollup").read_text()
        return sum(int(line.split()[1]) for line in status.splitlines() if "Anonymous:" in line)

    before = kilobytes()
    x = nn.load_safetensors(path)["x"]
    assert kilobytes() - before < 1024  # of 4096
    nn.save_safetensors(path, {"x": value + 1})  # a new file: the old one stays as it was
    os.remove(path)
    assert np.array_equal(composit.evaluate(x), value)
    result = composit.evaluate(x)
    result += 1  # nobody else's memory
    assert np.array_equal(composit.evaluate(x + 0), value)


def test_lazy_tensors_are_computed_together(tmp_path):
    x = cnp.asarray(np.arange(4.0))
    nn.save_safetensors(tmp_path / "w", {"a": cnp.exp(x), "b": x + 1, "c": 2})
    found = nn.load_safetensors(tmp_path / "w")
    assert np.array_equal(composit.evaluate(found["a"]), composit.evaluate(cnp.exp(x)))
    assert composit.evaluate(found["c"]) == 2


def test_unaligned_tensors_are_copied(tmp_path):
    header = {"a": info("U8", (1,), (0, 1)), "b": info("F64", (2,), (1, 17))}
    data = b"\x07" + np.array([1.5, -2]).tobytes()
    found = nn.load_safetensors(write(tmp_path, file_of(header, data)))
    assert composit.evaluate(found["b"]).tolist() == [1.5, -2]


@pytest.mark.parametrize(
    "header, data, message",
    [
        ({"a": info(offsets=(0, 16))}, bytes(16), "8 bytes are required"),
        ({"a": info(offsets=(8, 0))}, bytes(8), "has bytes 8 to 0"),
        ({"a": info()}, bytes(4), "has bytes 0 to 8 of 4"),
        ({"a": info()}, bytes(9), "bytes 8 to 9 belong to no tensor"),
        ({"a": info(offsets=(4, 12))}, bytes(12), "bytes 0 to 4 belong to no tensor"),
        ({"a": info(), "b": info(offsets=(4, 12))}, bytes(12), "where another one has not ended"),
        ({"a": info(), "b": info()}, bytes(8), "where another one has not ended"),
        ({"a": info(shape=(2**62, 2**62))}, bytes(8), "more than 2\\^63"),
        ({"a": info(shape=(2**62, 0, 2**62), offsets=(0, 0))}, b"", "more than 2\\^63"),
        ({"a": info(shape=(1,) * 65, offsets=(0, 4))}, bytes(4), "has 65 axes"),
        ({"a": info(shape=(-2,))}, bytes(8), "there is no number at byte"),
        ({"a": info(shape=(2.0,))}, bytes(8), "there is no number at byte"),
        ({"a": info(shape=(2**64,))}, bytes(8), "more than 63 bits"),
        ({"a": info("F31")}, bytes(8), "has the dtype 'F31'"),
        ({"a": info("BOOL", (2,), (0, 2))}, b"\x01\x02", "holds the byte 2 for a truth value"),
        ({"a": {"dtype": "F32", "shape": [2]}}, bytes(8), "lacks its dtype, its shape or"),
        ({"a": {**info(), "more": 1}}, bytes(8), "there is the key 'more'"),
        ({"__metadata__": {"a": 1}}, b"", "there is '1' at byte"),
        ({"__metadata__": ["a"]}, b"", "there is '\\['"),
        ([], b"", "there is no object"),
        (b" {}", b"", "there is no object"),
        (b"", b"", "there is no object"),
        (b'{"a":', b"", "the header ends"),
        (b"{} x", b"", "there is more"),
        (b'{"a\xff":1}', b"", "the header is no UTF-8 at byte 3"),
        (b'{"\xed\xa0\x80":1}', b"", "no UTF-8"),
        (b'{"a\\ud800":1}', b"", "half a character"),
        (b'{"a\\x":1}', b"", "no such escape"),
        (b'{"a\\u12g4":1}', b"", "an escape of fewer digits"),
        (b'{"a\n":1}', b"", "a control character"),
        (b'{"a', b"", "the header ends"),
        (b'{"a":{"dtype":"F32","dtype":"F32"}}', b"", "'dtype' comes twice"),
        (b'{"__metadata__":{"a":"1","a":"2"}}', b"", "'a' comes twice"),
        (b'{"__metadata__":{},"__metadata__":{}}', b"", "'__metadata__' comes twice"),
        (b'{"a":{"dtype":"F32","shape":[01],"data_offsets":[0,4]}}', bytes(4), "no number"),
        (b'{"a":{"dtype":"F32","shape":[1,],"data_offsets":[0,4]}}', bytes(4), "no number"),
        (b"{" * 10**6, b"", "there is '{'"),
    ],
)  # fmt: skip
def test_headers_that_lie(tmp_path, header, data, message):
    refused(tmp_path, file_of(header, data), message)


def test_a_name_that_comes_twice(tmp_path):
    one = json.dumps(info())
    refused(tmp_path, file_of(f'{{"a":{one},"a":{one}}}'.encode(), bytes(8)), "'a' comes twice")


def test_lengths_beyond_the_file(tmp_path):
    for length in (3, 100, 2**40, 2**63, 2**64 - 1):
        refused(tmp_path, file_of(b"{}", length=length), "the header has|the header ends")
    for content in (b"", b"1234567"):
        refused(tmp_path, content, "bytes. At least 8 are required")
    with open(tmp_path / "sparse", "wb") as file:  # no byte of it is read
        file.write(struct.pack("<Q", 10**9))
        file.truncate(2 * 10**9)
    with pytest.raises(ValueError, match="At most 100000000 are required"):
        nn.load_safetensors(tmp_path / "sparse")


def test_dtypes_that_one_side_lacks(tmp_path):
    header = {"a": info("F8_E8M0", (8,))}
    refused(tmp_path, file_of(header, bytes(8)), "is F8_E8M0", NotImplementedError)
    with pytest.raises(NotImplementedError, match="tensor 'z' is complex128"):
        nn.save_safetensors(tmp_path / "w", {"z": np.ones(2) * 1j})
    assert not (tmp_path / "w").exists()


def test_files_that_the_system_refuses(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"load_safetensors: .*No such file"):
        nn.load_safetensors(tmp_path / "none")
    with pytest.raises(OSError, match="Is a directory"):
        nn.load_safetensors(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file"):
        nn.load_safetensors(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError, match=r"save_safetensors: .*No such file"):
        nn.save_safetensors(tmp_path / "no" / "where", {})
    with pytest.raises(OSError, match=r"save_safetensors: .*Is a directory"):
        nn.save_safetensors(tmp_path, {})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["pipe"]


def test_links_stay(tmp_path):
    (tmp_path / "there").write_bytes(b"")
    (tmp_path / "link").symlink_to("there")
    nn.save_safetensors(tmp_path / "link", {"x": 1})
    assert (tmp_path / "link").is_symlink()
    assert composit.evaluate(nn.load_safetensors(tmp_path / "there")["x"]) == 1


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "w").symlink_to("../mine")
    with pytest.raises(OSError, match=r"save_safetensors: .*w is a symbolic link out of its fol"):
        nn.save_safetensors(tmp_path / "in" / "w", {"x": 1})
    assert (tmp_path / "mine").read_bytes() == b"mine"


@pytest.mark.parametrize("left", [0, 200, 5000])
@pytest.mark.parametrize("way", ["evaluate", "leaf", "argument", "compiled", "packed", "export"])
def test_a_file_that_becomes_shorter_is_an_error(tmp_path, way, left):
    """Never the end of the process, never zeros: each time that the tensors are read."""
    path = tmp_path / "w"
    array = np.ones((64, 64), "float32")
    nn.save_safetensors(path, {"w": array})
    w = nn.load_safetensors(path)["w"]
    options = {"backend": "interpreter", "name": "f"}
    adds = composit.compile(lambda x: x + w, array, **options)
    function, read = {
        "evaluate": ("evaluate", lambda: composit.evaluate(cnp.exp(w))),
        "leaf": ("values of a constant", lambda: composit.evaluate(w)),
        "argument": ("values of a constant", lambda: adds(w)),
        "compiled": ("f", lambda: adds(array)),
        "packed": (
            "values of a constant",
            lambda: composit.compile(lambda x: x @ w, array, **options)(array),
        ),
        "export": ("values of a constant", lambda: adds.export(tmp_path / "out")),
    }[way]
    read()
    os.truncate(path, left)
    for _ in range(2):
        with pytest.raises(OSError) as caught:
            read()
        assert str(caught.value).startswith(
            f"{function}: the file {path} has become shorter while tensors share its memory. Load "
            "it again; with copy=True they do not share it."
        )
    nn.save_safetensors(path, {"w": array})
    assert composit.evaluate(nn.load_safetensors(path)["w"]).tobytes() == array.tobytes()


VALID = file_of(
    {
        "__metadata__": {"k": "v"},
        "first": info("F32", (2, 3), (0, 24)),
        "second": info("BOOL", (3,), (24, 27)),
        "third": info("I64", (), (27, 35)),
        "empty": info("U8", (0, 7), (35, 35)),
    },
    bytes(24) + b"\x00\x01\x01" + bytes(8),
)


def loads_or_says_why(folder, content):
    path = write(folder, content)
    try:
        tensors = nn.load_safetensors(path)
    except (ValueError, NotImplementedError) as error:
        assert "load_safetensors: " in str(error) and str(error).endswith("]")
        return
    composit.evaluate(*tensors.values(), always_return_tuple=True)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.integers(0, len(VALID) - 1), st.integers(0, 255)), max_size=4),
       st.integers(0, len(VALID)), st.binary(max_size=8))  # fmt: skip
def test_mutated_files(tmp_path, changes, cut, more):
    content = bytearray(VALID)
    for place, byte in changes:
        content[place] = byte
    loads_or_says_why(tmp_path, bytes(content))
    loads_or_says_why(tmp_path, bytes(content[:cut]) + more)


numbers = st.one_of(
    st.integers(-3, 40), st.sampled_from([2**31, 2**32, 2**62, 2**63, 2**64, 1.5, None, "1", [1]])
)
records = st.fixed_dictionaries(
    {},
    optional={
        "dtype": st.sampled_from(["F32", "BOOL", "U8", "C64", "F8_E8M0", "", "f32", 3, None]),
        "shape": st.lists(numbers, max_size=4),
        "data_offsets": st.lists(numbers, max_size=3),
        "other": numbers,
    },
)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.dictionaries(st.text(max_size=5), st.one_of(records, numbers), max_size=4),
    st.binary(max_size=40),
)
def test_generated_headers(tmp_path, header, data):
    loads_or_says_why(tmp_path, file_of(header, data))


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from(["U8", "F16", "BOOL"]),
                          st.lists(st.integers(0, 3), max_size=3)), max_size=5),
       st.integers(-2, 2), st.randoms(use_true_random=False))  # fmt: skip
def test_we_take_what_the_library_takes(tmp_path, kinds, shift, random):
    """Layouts that are right or nearly right: both sides agree."""
    end, header = 0, {}
    for number, (dtype, shape) in enumerate(kinds):
        size = int(np.prod(shape, dtype=int)) * (2 if dtype == "F16" else 1)
        begin = end + (shift if random.random() < 0.2 else 0)
        header[f"t{number}"] = info(dtype, shape, (max(begin, 0), max(begin, 0) + size))
        end += size
    content = file_of(header, bytes(end))
    try:
        theirs = set(safetensors.numpy.load(content))
    except Exception:
        theirs = None
    try:
        ours = set(nn.load_safetensors(write(tmp_path, content)))
    except ValueError:
        ours = None
    assert ours == theirs


def test_all_weights_that_do_not_fit_are_listed(tmp_path):
    names = ["encoder.0.weight", "encoder.0.bias", "head.weight"]
    nn.save_safetensors(tmp_path / "w", {n: np.zeros((2, 3), "float32") for n in names})
    like = {
        "encoder.0.weight": np.zeros((3, 2), "float32"),
        "encoder.0.bais": np.zeros((2, 3), "float32"),
        "head.weight": np.zeros((2, 3)),
        "nothing.like.it.is.there": np.zeros(2),
    }
    with pytest.raises(ValueError) as raised:
        nn.load_safetensors(tmp_path / "w", like)
    text = str(raised.value)
    assert "load_safetensors: 5 of the weights do not fit:" in text
    assert "'encoder.0.bais' is missing (near it: 'encoder.0.bias')" in text
    assert "'encoder.0.bias' is left over (near it: 'encoder.0.bais')" in text
    assert "'encoder.0.weight' is float32(2, 3) in place of float32(3, 2)" in text
    assert "'head.weight' is float32(2, 3) in place of float64(2, 3)" in text
    assert "'nothing.like.it.is.there' is missing\n" in text
    nn.check_weights(like, like)
    many = {f"weight.{i}": np.zeros(1) for i in range(5000)}
    with pytest.raises(ValueError, match="check_weights: 10000 of the weights"):
        nn.check_weights({f"w.{i}": value for i, value in enumerate(many.values())}, many)


def test_arguments_of_wrong_kinds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (3, None, "", b"w", "a\0b", object()):
        for call in (nn.load_safetensors, lambda p: nn.save_safetensors(p, {})):
            with pytest.raises((TypeError, ValueError), match="path"):
                call(path)
    for tensors in (None, [1], {1: 2}, "a"):
        with pytest.raises(TypeError, match="A mapping from names to tensors is required"):
            nn.save_safetensors("w", tensors)
    with pytest.raises(TypeError, match="A mapping from texts to texts"):
        nn.save_safetensors("w", {}, {"a": 1})
    with pytest.raises(ValueError, match="named '__metadata__'"):
        nn.save_safetensors("w", {"__metadata__": 1})
    with pytest.raises((ValueError, TypeError)):
        nn.save_safetensors("w", {"\ud800": 1})
    with pytest.raises(TypeError):
        nn.save_safetensors("w", {"a": "text"})
    assert list(tmp_path.iterdir()) == []

"""Every legal schema gives the bits of the interpreter; impossible ones are refused by name."""

import itertools

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import mosaic
from composit.mosaic import TileLevel


def drawn(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def leaf(name, seed, *shape):
    return cnp.asarray(drawn(seed, *shape), name=name)


def perceptron():
    x, w, v = leaf("x", 0, 24, 16), leaf("w", 1, 16, 32), leaf("v", 2, 32, 8)
    h = cnp.tanh(x @ w + leaf("b", 3, 32))
    return [h @ v, cnp.sum(h * h, axis=0), cnp.argmax(h, axis=1)]


def attention():
    q, k, v = (leaf(name, seed, 2, 12, 16) for seed, name in enumerate("qkv"))
    heads = [cnp.transpose(cnp.reshape(t, (2, 12, 4, 4)), (0, 2, 1, 3)) for t in (q, k, v)]
    scores = heads[0] @ cnp.swapaxes(heads[1], -1, -2) / np.float32(2)
    e = cnp.exp(scores - cnp.max(scores, axis=-1, keepdims=True))
    mixed = e / cnp.sum(e, axis=-1, keepdims=True) @ heads[2]
    return [cnp.reshape(cnp.transpose(mixed, (0, 2, 1, 3)), (2, 12, 16))]


def pieces():
    x, y = leaf("x", 0, 12, 24), leaf("y", 1, 12, 8)
    both = cnp.concatenate([x, y * y, x[:, 4:12]], axis=1)
    return [cnp.cumsum(both, axis=0), both[::2, ::-1] + np.float32(1), cnp.exp(both[1:7].T)]


def lookup():
    table = leaf("table", 0, 20, 16)
    rows = cnp.take(table, cnp.asarray(np.array([[3, 19], [0, 3]]), name="ids"), axis=0)
    changed = cnp.asarray(table)
    changed[np.array([1, 5, 1])] = drawn(1, 3, 16)
    return [cnp.tanh(rows), cnp.sqrt(cnp.abs(changed))]


def images():
    x, filters = leaf("x", 0, 2, 4, 8, 8), leaf("filters", 1, 8, 4, 3, 3)
    y = composit.nn.convolution(x, filters, padding=(1, 1), channels_last=False)
    y = cnp.maximum(y, 0)
    return [composit.nn.max_pool(y, kernel_size=(2, 2), strides=(2, 2), channels_last=False)]


def step():
    x, w = leaf("x", 0, 16, 8), leaf("w", 1, 8, 4)
    loss = cnp.mean(cnp.tanh(x @ w) ** 2)
    (gradient,) = composit.nn.chain_rule({loss: loss}, [w])
    return [loss, w - gradient * np.float32(0.1)]


GRAPHS = [perceptron, attention, pieces, lookup, images, step]


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def random_levels(rng, shape):
    levels = []
    around = shape
    for name in ("outer", "inner"):
        if rng.random() < 0.3:
            continue
        tile = tuple(int(rng.choice(divisors(n))) for n in around)
        order = tuple(int(d) for d in rng.permutation(len(shape))) if rng.random() < 0.3 else None
        levels.append(TileLevel(name, tile, order))
        around = tile
    return levels


def random_schemas(outputs, rng, count, fuse=None):
    """So many schemas that the graph takes, and how many it refused meanwhile."""
    names = {t.name: t.shape for t in mosaic.compile(*outputs, target="interpreter").tiles.values()
             if t.kind in ("input", "constant")}  # fmt: skip
    legal, refused = [], 0
    while len(legal) < count:
        schema = mosaic.Schema({n: random_levels(rng, s) for n, s in names.items()
                                if s and rng.random() < 0.6})  # fmt: skip
        fused = bool(rng.random() < 0.6) if fuse is None else fuse
        try:
            legal.append(mosaic.compile(*outputs, schema=schema, fuse=fused, target="interpreter"))
        except ValueError as error:
            assert "required" in str(error)
            refused += 1
            assert refused < 100 * count
    return legal, refused


def same_bits(got, expected):
    got = got if isinstance(got, list) else [got]
    for one, other in zip(got, expected, strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


@pytest.mark.long_tail
@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.__name__)
def test_random_schemas_return_the_same_bits(graph):
    outputs = graph()
    expected = cnp.evaluate(*outputs, always_return_tuple=True)
    rng = np.random.default_rng(GRAPHS.index(graph))
    programs, _ = random_schemas(outputs, rng, 12)
    assert any(t.levels for p in programs for t in p.tiles.values() if t.kind == "temporary")
    for program in programs:
        same_bits(program(), expected)
    # The same tiles, compiled.
    for program in programs[:2]:
        compiled = mosaic.compile(*outputs, schema=program.schema)
        same_bits(compiled(), expected)
        assert compiled.schema == program.schema


@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.__name__)
def test_kernels_one_by_one_return_the_same_bits(graph, fuse):
    outputs = graph()
    programs, _ = random_schemas(outputs, np.random.default_rng(GRAPHS.index(graph)), 2, fuse)
    for program in [
        mosaic.compile(*outputs, schema={}, target="interpreter", fuse=fuse),
        *programs,
    ]:
        memory = program.constants
        for kernel in program.kernels:
            values = kernel(*[memory[operand.name] for operand in kernel.inputs])
            outs = values if isinstance(values, list) else [values]
            memory.update(zip([operand.name for operand in kernel.outputs], outs, strict=True))
        names = [buffer.name for buffer in program.buffers if buffer.kind == "output"]
        whole = program.evaluate({})
        same_bits([memory[name] for name in names], whole if len(names) > 1 else [whole])


def test_kernels_that_write_parts_go_on_from_what_they_are_given():
    x = composit.placeholder("x", (2, 3))
    program = mosaic.compile(cnp.concatenate([x, x * 2]), fuse=False, schema={})
    first, second = [kernel for kernel in program.kernels if kernel.name.startswith("copy")]
    value = drawn(0, 2, 3)
    assert [operand.name for operand in first.inputs] == ["x"]
    half = first(value)
    assert np.array_equal(half, np.concatenate([value, 0 * value]))
    assert [operand.name for operand in second.inputs] == ["multiply", "concatenate"]
    whole = second(value * 2, half + 1)
    assert np.array_equal(whole, np.concatenate([value + 1, value * 2]))


def test_tiles_reach_every_tensor():
    x = cnp.asarray(drawn(0, 64, 32), name="x")
    w = cnp.asarray(drawn(1, 32, 48), name="w")
    h = cnp.tanh(x @ w)
    program = mosaic.compile(
        cnp.sum(h, axis=1),
        schema={x: [TileLevel("l2", (32, 16)), TileLevel("register", (8, 8))], w: (8, 24)},
        fuse=False,
        target="interpreter",
    )
    assert str(program.tiles).splitlines() == [
        "x (64, 32): l2 (32, 16), register (8, 8)",
        "w (32, 48): tile (8, 24)",
        "contract (64, 48): l2 (32, 48), register (8, 48), tile (8, 24)",
        "tanh (64, 48): l2 (32, 48), register (8, 48), tile (8, 24)",
        "sum (64,): l2 (32,), register (8,)",
    ]
    assert [k.name for k in program.kernels] == ["contract_2", "tanh_2", "sum_2", "untilize_sum"]


def test_orders_of_tiles_are_kept_by_elementwise_operations():
    x = leaf("x", 0, 4, 6)
    program = mosaic.compile(
        cnp.exp(cnp.tanh(x)), schema={x: [TileLevel("tile", (2, 3), (1, 0))]}, fuse=False
    )
    assert program.tiles["tanh"].levels == [TileLevel("tile", (2, 3), (1, 0))]


TILES_OF_X = "mosaic: level 'tile' of 'x'"
REFUSED = [
    ({"x": (24, 16)}, f"{TILES_OF_X}: tiles of 24 do not divide dimension 0, which has 16 elements."
     " A divisor is required."),
    ({"x": (4,)}, f"{TILES_OF_X} has tiles of shape (4,) for a tensor of shape (16, 8). A length "
     "per dimension is required."),
    ({"x": (0, 8)}, f"{TILES_OF_X}: tiles of 0 do not divide dimension 0, which has 16 elements. A "
     "divisor is required."),
    ({"x": [TileLevel("a", (8, 8)), TileLevel("b", (3, 8))]}, "mosaic: level 'b' of 'x': tiles of 3"
     " do not divide dimension 0, which has 8 elements in a tile of level 'a'. A divisor is "
     "required."),
    ({"x": [TileLevel("a", (8, 8)), TileLevel("a", (4, 8))]}, "mosaic: level 'a' of 'x' occurs "
     "twice. Distinct levels are required."),
    ({"x": [TileLevel("a", (8, 8), (0, 0))]}, "mosaic: level 'a' of 'x': the order (0, 0) does not "
     "name each of 2 dimensions once, which is required."),
    ({"x": (16, 4), "w": (2, 4)}, "mosaic: contract (LINE): at level 'tile' dimension 1 of 'x' is "
     "in tiles of 4 and dimension 0 of 'w' is in tiles of 2. Equal tiles, or one of the two whole, "
     "are required where an operation meets both."),
    ({"x": [TileLevel("a", (16, 4)), TileLevel("b", (16, 2))],
      "w": [TileLevel("b", (2, 4)), TileLevel("a", (1, 4))]}, "mosaic: level 'a' of 'w' is inside "
     "'b', but encloses it elsewhere. One order of levels is required."),
    ({"x": [TileLevel("a b", (8, 8))]}, "mosaic: level 'a b' of 'x' has a name that a schema's text"
     " cannot hold. Letters, digits, '_', '-' and '.', one at least, are required."),
    ({"x": [TileLevel("", (8, 8))]}, "mosaic: level '' of 'x' has a name that a schema's text"),
    ({"q": (4, 4)}, "mosaic: the schema has tiles for 'q', which is not among the inputs and "
     "constants that the outputs reach: x, w. One of these is required."),
]  # fmt: skip


@pytest.mark.parametrize("schema, words", REFUSED, ids=itertools.count())
def test_impossible_schemas_are_refused(schema, words):
    y = leaf("x", 0, 16, 8) @ leaf("w", 1, 8, 4)
    with pytest.raises(KeyError if "q" in schema else ValueError) as raised:
        mosaic.compile(y, schema=schema, target="interpreter")
    said = raised.value.args[0]
    start, _, end = words.partition("LINE")
    assert said.startswith(start) and end in said


def test_schemas_are_values(tmp_path):
    x = leaf("x", 0, 16, 8)
    schema = mosaic.Schema({x: [TileLevel("l2", (8, 8)), TileLevel("r", (4, 4), (1, 0))], "w": ()})
    assert str(schema) == "x: l2 (8, 8), r (4, 4) order (1, 0)\nw: whole\n"
    assert mosaic.Schema.parse(str(schema)) == schema
    schema.save(tmp_path / "schema.txt")
    assert mosaic.Schema.load(tmp_path / "schema.txt") == schema
    other = mosaic.Schema({"x": (8, 8), "v": (2,)})
    assert schema.diff(other) == (
        "+ v: tile (2,)\n- w: whole\n- x: l2 (8, 8), r (4, 4) order (1, 0)\n+ x: tile (8, 8)\n"
    )
    assert schema.diff(schema) == "" and schema != other
    with pytest.raises(ValueError, match=r"^Schema\.parse: line 1, column 4: 'x: l2 8, 8'"):
        mosaic.Schema.parse("x: l2 8, 8")
    with pytest.raises(TypeError, match=r"^Schema: 'ab' are no tiles"):
        mosaic.Schema({x: "ab"})
    with pytest.raises(TypeError, match=r"^Schema: 8 are no tiles"):
        mosaic.Schema({x: 8})
    with pytest.raises(TypeError, match=r"^Schema: 'x: whole' is not a mapping"):
        mosaic.compile(x, schema="x: whole")
    with pytest.raises(TypeError, match=r"^diff: 3 is not a Schema"):
        schema.diff(3)
    with pytest.raises(TypeError, match=r"^Schema: 3 is neither a tensor nor a name"):
        mosaic.Schema({3: (4, 4)})
    with pytest.raises(ValueError, match=r"^mosaic: a schema gives tiles to '', which is the re"):
        mosaic.Schema({cnp.exp(x): (4, 4)})


def test_schemas_of_tensors_without_names_are_told_apart():
    a, b = leaf("", 0, 16, 8), leaf("", 1, 8, 4)
    schema = mosaic.Schema({a: (8, 8), b: (8, 4)})
    assert schema == mosaic.Schema({a: (8, 8), b: (8, 4)})
    assert schema != mosaic.Schema({a: (4, 4), b: (8, 4)})
    assert schema.diff(mosaic.Schema({a: (8, 8), b: (8, 2)})).count("\n") == 4
    tiles = mosaic.compile(a @ b, schema=schema, target="interpreter").tiles.values()
    assert [repr(t) for t in tiles if t.kind == "constant"] == [
        "constant (16, 8): tile (8, 8)",
        "constant_2 (8, 4): tile (8, 4)",
    ]


def test_a_chosen_schema_is_a_schema():
    outputs = perceptron()
    program = mosaic.compile(*outputs, target="interpreter")
    again = mosaic.compile(*outputs, schema=program.schema, target="interpreter")
    assert again.schema == program.schema and set(program.schema.tiles) == {"x", "w", "b", "v"}


def test_tilize_and_untilize_are_inverse():
    x = drawn(0, 8, 12)
    levels = [TileLevel("l2", (4, 6), (1, 0)), TileLevel("r", (2, 3))]
    tiles = mosaic.tilize(x, levels)
    assert tiles.shape == (2, 2, 2, 2, 2, 3)
    # The tiles of the first level follow each other down the columns.
    assert np.array_equal(tiles[0, 1, 0, 0], x[4:6, 0:3])
    assert np.array_equal(tiles[1, 0, 1, 1], x[2:4, 9:12])
    assert mosaic.untilize(tiles, x.shape, levels).tobytes() == x.tobytes()
    with pytest.raises(ValueError, match=r"^untilize: the tiles have shape \(8, 12\)"):
        mosaic.untilize(x, x.shape, levels)

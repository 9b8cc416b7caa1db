"""The prototypes' letter: every documented name of composit with its documented arguments."""

import importlib
import inspect

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import multidigraph as md
from composit import nn

networkx = pytest.importorskip("networkx")

A = np.arange(1, 13, dtype="float32").reshape(3, 4)


def drawn(*shape):
    return cnp.asarray(np.random.default_rng(0).normal(size=shape).astype("float32"))


NAMES = {
    "composit": "abs add arange asarray astype broadcast_to concatenate cos divide evaluate exp "
    "get_item hash introspection log matmul max mean multidigraph multiply ndarray nn numpy ones "
    "operations power random reciprocal reshape set_item sin split sqrt square string subtract sum "
    "tanh transpose types var visualize wrap_as_operation zeros",
    "composit.hash": "deterministic_hash",
    "composit.introspection": "class_name get_name_from_args_and_kwargs",
    "composit.string": "random_string",
    "composit.types": "LazyTensor Node visualize",
    "composit.numpy.core": "create_from_numpy_compute_operation create_input get_operands "
    "create_numpy_binary_compute_function create_numpy_compute_function wrap_as_operation "
    "create_numpy_concatenate_function",
    "composit.multidigraph": "MultiDiGraph compose_all default_visualize_edge from_networkx "
    "default_visualize_node merge_graphs to_networkx topological_traversal visualize_graph",
    "composit.nn": "average_pool batch_norm chain_rule convolution embedding evaluate feedforward "
    "gelu layer_norm max_pool multi_head_attention optimize relu resnet_module sigmoid silu "
    "softmax",
    "composit.nn.core": "wrap_as_operation",
    "composit.nn.evaluate": "Cache evaluate",
    "composit.nn.layers": "group_norm multi_head_attention scaled_dot_product_attention",
    "composit.nn.optimize": "sgd_optimizer",
    "composit.model_zoo.bert": "bert bert_encoder bert_for_question_answering create_bert_config "
    "convert_parameters_to_numpy create_parameters create_random_float create_random_long",
    "composit.model_zoo.resnet": "convert_parameters_to_numpy resnet",
    "composit.model_zoo.stable_diffusion.autoencoder_kl": "attention_block decoder interpolate "
    "convert_parameters_to_numpy resnet_block",
}


@pytest.mark.parametrize("module", NAMES)
def test_names(module):
    found = importlib.import_module(module)
    missing = [name for name in NAMES[module].split() if not hasattr(found, name)]
    assert not missing


def test_a_hash_is_the_same_in_every_process():
    from composit.hash import deterministic_hash

    assert deterministic_hash((1, "a")) == 0x23150439
    first, again = (cnp.exp(cnp.ones((2, 3))) for _ in range(2))
    for a, b in ((first.graph, again.graph), (first.node, again.node), ([first], [again])):
        assert deterministic_hash(a) == deterministic_hash(b)
    assert deterministic_hash({"a": first}) != deterministic_hash({"a": cnp.ones(2)})


def test_texts():
    from composit.introspection import class_name, get_name_from_args_and_kwargs
    from composit.string import random_string

    assert class_name(A) == "ndarray"
    text = get_name_from_args_and_kwargs("zeros", (2,), dtype="float32")
    assert text == "zeros((2,), dtype=float32)"
    assert len(random_string()) == 10 and len(random_string(n=7)) == 7


def test_tensors_and_their_graphs():
    x = cnp.exp(cnp.asarray(A, name="a"))
    assert (x.shape, x.dtype, x.rank, x.output_index) == ((3, 4), "float32", 2, 0)
    assert cnp.asarray(A, name="a").name == "a" and x.node.name == "exp"
    assert isinstance(hash(x), int)
    attributes = x.graph.nodes[x.node]
    assert attributes["shapes"] == ((3, 4),) and attributes["dtypes"] == (np.dtype("float32"),)
    assert "operation" in attributes
    for _, _, edge in x.graph.edges(data=True):
        assert edge == {"source_output_index": 0, "sink_input_index": 0}
    y = x.set_item((0, slice(None)), 1.0)
    assert cnp.evaluate(y)[0, 0] == 1 != cnp.evaluate(x)[0, 0]
    assert cnp.ndarray((2, 3), name="x").name == "x"
    made = cnp.create_input("x", lambda: A, (3, 4), "float32")
    assert (cnp.evaluate(made) == A).all()
    picture = composit.visualize(
        x, graphviz_graph=None, visualize_node=md.default_visualize_node,
        visualize_edge=md.default_visualize_edge, render=False, timeout=1,
    )  # fmt: skip
    assert "exp" in picture.source


def test_functions_with_their_arguments():
    a = cnp.asarray(A[:, :3])
    for name in ("add", "subtract", "multiply", "divide", "matmul", "power"):
        assert getattr(cnp, name)(a, a, dtype="float64").dtype == "float64"
    small = cnp.asarray(np.ones((2, 2), "int8"))
    product = cnp.matmul(small, small, dtype="int8")
    assert product.dtype == "int8" and cnp.evaluate(product).tolist() == [[2, 2], [2, 2]]
    assert cnp.astype(a, "int32").dtype == "int32"
    joined = cnp.concatenate([a, a], axis=0, out=None, dtype=None, casting="same_kind")
    assert joined.shape == (6, 3)
    left, right = cnp.split(cnp.asarray(A), 2, axis=1)
    assert (left.output_index, right.output_index) == (0, 1) and left.node == right.node
    assert cnp.get_item(a, cnp.asarray(np.array([0, 2]))).shape == (2, 3)


def test_evaluations_keep_what_they_are_computed_from():
    x = cnp.ones(2)
    y = cnp.exp(x)
    z = y + 1
    assert isinstance(nn.evaluate(z), np.ndarray)
    assert isinstance(nn.evaluate(z, always_return_tuple=True), tuple)
    value, cache = nn.evaluate(z, return_cache=True)
    assert cache[z] is value
    np.testing.assert_allclose(cache[y], np.exp(np.ones(2)), rtol=1e-15)
    assert cache[x].tolist() == [1, 1]
    with pytest.raises(KeyError):
        cache[cnp.ones(2)]


def graph(make, mutate):
    g = make()
    for name, args, kwargs in (
        ("add_node", (1,), {"a": 1}),
        ("add_nodes_from", ([2, (3, {"b": 2})],), {"c": 3}),
        ("add_edge", (1, 2), {"key": None, "w": 1}),
        ("add_edge", (1, 2), {"w": 2}),
        ("add_edges_from", ([(2, 3), (1, 3, {"w": 3}), (3, 1, 7, {"w": 4})],), {"z": 1}),
    ):
        g = mutate(g, getattr(g, name)(*args, **kwargs))
    return g


@pytest.mark.parametrize(
    "question",
    [
        "set(g.nodes)", "list(g.nodes(data=True))", "list(g.nodes(data='a', default=0))",
        "dict(g.nodes)", "list(g.nodes.data())", "list(g.nodes.items())", "g.nodes[1]",
        "g.nodes & {1, 2}", "g.nodes | {9}", "g.nodes - {1}", "g.nodes ^ {1}", "str(g.nodes)",
        "repr(g.nodes)", "repr(g.nodes(data=True))", "str(g.nodes(data=True))", "g.nodes() == {1}",
        "(1, {'a': 1}) in g.nodes(data=True)", "1 in g.nodes.data('a')", "len(g.nodes.data())",
        "g.nodes.data('a', 0)[2]", "type(g.nodes(data=True)).__name__", "g.nodes.isdisjoint({9})",
        "sorted(g.nodes.data('a', 0) & {(1, 1)})", "list(g.edges)", "g.edges & {(1, 2, 0)}",
        "sorted(g.edges | {(9, 9, 0)})", "list(g.edges([1, 2], data=True, keys=True))",
        "list(g.edges(data='w', default=0))", "list(g.out_edges(1, keys=True))",
        "list(g.in_edges(3, data=True))", "g.edges[1, 2, 1]", "dict(g.degree([1, 2], weight='w'))",
        "g.in_degree(3)", "dict(g.out_degree())", "list(g.nbunch_iter([1, 9]))",
        "g.size(weight='w')",
    ],
)  # fmt: skip
def test_views_are_networkxs(question):
    ours = graph(md.MultiDiGraph, lambda _, made: made)
    theirs = graph(networkx.MultiDiGraph, lambda g, _: g)
    assert eval(question, {"g": ours}) == eval(question, {"g": theirs})
    assert ours.nodes == theirs.nodes and ours.nodes(data=True) == theirs.nodes(data=True)
    assert ours.edges == set(theirs.edges)


def test_layers_and_operations():
    for name in ("gelu", "relu", "sigmoid", "silu"):
        getattr(nn, name)(drawn(2, 3))
    image, last = drawn(1, 3, 8, 8), drawn(1, 8, 8, 3)
    filters = drawn(4, 3, 3, 3)
    options = {"strides": (1, 1), "padding": (1, 1)}
    made = nn.convolution(image, filters, channels_last=False, **options)
    assert made.shape == (1, 4, 8, 8)
    assert nn.convolution(last, drawn(4, 3, 3, 3), channels_last=True, **options).shape[-1] == 4
    assert nn.convolution(drawn(1, 3, 8), drawn(4, 3, 3), channels_last=False).shape == (1, 4, 6)
    for pool in (nn.average_pool, nn.max_pool):
        windows = {"kernel_size": (2, 2), "strides": (2, 2), "padding": (0, 0)}
        halved = pool(image, channels_last=False, **windows)
        assert halved.shape == (1, 3, 4, 4)
        assert pool(last, kernel_size=(2, 2), channels_last=True).shape == (1, 7, 7, 3)
    hidden, weight, bias = drawn(2, 5, 8), drawn(8, 8), drawn(8)
    of_heads = (weight, bias) * 4
    mask = cnp.zeros((2, 1, 1, 5), dtype="float32")
    for given in (None, mask):
        attended = nn.multi_head_attention(hidden, given, *of_heads, head_size=4)
        assert attended.shape == (2, 5, 8)
    normed = nn.layers.group_norm(
        drawn(1, 4, 3, 3), drawn(4), drawn(4), channel_axis=1, num_groups=2, epsilon=1e-5
    )
    assert normed.shape == (1, 4, 3, 3)


def test_models_take_the_layout():
    from composit.model_zoo import resnet
    from composit.model_zoo.stable_diffusion import autoencoder_kl

    for function in (
        resnet.resnet, resnet.convert_parameters_to_numpy, autoencoder_kl.decoder,
        autoencoder_kl.convert_parameters_to_numpy,
    ):  # fmt: skip
        assert "channels_last" in inspect.signature(function).parameters

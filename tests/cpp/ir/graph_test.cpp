// Tests of the view of graphs as nodes and edges, and of pictures.
#include "composit/ir/graph.h"

#include "composit/base/error.h"
#include "composit/ir/body.h"
#include "composit/ops/ops.h"

#include <gtest/gtest.h>

#include <memory>

namespace composit::ir {
namespace {

TEST(Graph, NodesAndEdges) {
    const Tensor x = input("x", DType::float32, {2});
    const Tensor e = ops::map("exp", {x});
    const Tensor y = ops::map("add", {e, e});
    const auto parts = ops::split(y, {1, 1}, 0);
    const Graph graph({ops::map("subtract", {parts[1], parts[0]})});
    ASSERT_EQ(graph.node_count(), 5u);
    EXPECT_EQ(graph.node_label(1), "exp");
    EXPECT_EQ(graph.node_label(2), "add");
    EXPECT_EQ(graph.number_of(y.node()), 2u);
    const std::vector<GraphEdge> expected{{0, 0, 1, 0}, {1, 0, 2, 0}, {1, 0, 2, 1},
                                          {2, 0, 3, 0}, {3, 1, 4, 0}, {3, 0, 4, 1}};
    EXPECT_EQ(graph.edges(), expected);
    EXPECT_EQ(graph.in_edges(4), (std::vector<GraphEdge>{{3, 1, 4, 0}, {3, 0, 4, 1}}));
    EXPECT_EQ(graph.out_edges(1), (std::vector<GraphEdge>{{1, 0, 2, 0}, {1, 0, 2, 1}}));
    EXPECT_EQ(graph.successors(1), std::vector<size_t>{2});
    EXPECT_EQ(graph.predecessors(4), std::vector<size_t>{3});
    EXPECT_TRUE(graph.in_edges(0).empty());
    EXPECT_THROW(graph.number_of(ops::map("exp", {x}).node()), KeyError);
}

TEST(Graph, ANodeIsWhatTheUserWrote) {
    const Tensor a = constant(Array::zeros(DType::float32, {3}));
    const Tensor y = ops::map("exp", {ops::map("multiply", {a, weak_scalar(2.0)})});
    EXPECT_EQ(Graph({y}).node_count(), 4u);
}

TEST(Graph, Picture) {
    const Tensor x = input("x", DType::float32, {2, 3});
    const LocationScope scope(intern("a.py:1"));
    EXPECT_EQ(dot({ops::map("add", {x, x})}),
              "digraph composit {\n"
              "  node [shape=box, fontname=\"Helvetica\"];\n"
              "  n0 [label=\"x\\nfloat32[2, 3]\", style=rounded];\n"
              "  n1 [label=\"add\\nfloat32[2, 3]\", penwidth=2, tooltip=\"a.py:1\"];\n"
              "  n0 -> n1 [headlabel=\"0\"];\n"
              "  n0 -> n1 [headlabel=\"1\"];\n"
              "}\n");
}

// Deeper than any stack: bodies that call bodies are freed one after the other.
TEST(Graph, DeeplyNestedBodiesAreFreed) {
    const Tensor argument = input("a", DType::float32, {2});
    auto body = std::make_shared<const Body>(Body{"f", {argument}, {ops::map("exp", {argument})}});
    const std::weak_ptr<const Body> innermost = body;
    for (int depth = 0; depth < 100000; ++depth) {
        const Tensor x = input("x", DType::float32, {2});
        std::vector<Tensor> results = ops::call(body, {x});
        body = std::make_shared<const Body>(Body{"f", {x}, std::move(results)});
    }
    EXPECT_FALSE(innermost.expired());
    body.reset();
    EXPECT_TRUE(innermost.expired());
}

}  // namespace
}  // namespace composit::ir

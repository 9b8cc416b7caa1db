// A read-only view of the graph that tensors reach: nodes and edges by number, and a picture.
#pragma once

#include "composit/ir/node.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace composit::ir {

struct GraphEdge {
    size_t source = 0;
    int source_output_index = 0;
    size_t sink = 0;
    int sink_input_index = 0;

    bool operator==(const GraphEdge&) const = default;
};

class Graph {
  public:
    // Keeps the graph alive.
    explicit Graph(std::vector<Tensor> outputs);

    const std::vector<Tensor>& outputs() const { return outputs_; }
    // In topological order: operands before users; depth first, operands in order.
    size_t node_count() const { return nodes_.size(); }
    const Node& node(size_t i) const { return *nodes_[i]; }
    Ref<Node> node_ref(size_t i) const { return Ref<Node>(nodes_[i]); }
    // "exp", "sum", the value's name for leaves …
    std::string node_label(size_t i) const { return label(i); }
    // The number of a node; KeyError when the graph does not hold it.
    size_t number_of(const Node& node) const;

    // By sink, then by input index.
    const std::vector<GraphEdge>& edges() const { return edges_; }
    std::vector<GraphEdge> in_edges(size_t node) const;
    std::vector<GraphEdge> out_edges(size_t node) const;  // by sink
    std::vector<size_t> successors(size_t node) const;    // each once, ascending
    std::vector<size_t> predecessors(size_t node) const;  // each once, in operand order

  private:
    std::string label(size_t i) const;

    std::vector<Tensor> outputs_;
    std::vector<const Node*> nodes_;
    std::unordered_map<const Node*, size_t> number_;
    std::vector<GraphEdge> edges_;
    std::vector<size_t> first_in_;   // first_in_[i]: where node i's edges begin in edges_
    std::vector<size_t> first_out_;  // the same for out_order_
    std::vector<size_t> out_order_;  // numbers of edges by source
};

// Graphviz text: a box per node with the user's name, the operation and the shape; leaves are
// rounded, results are bold; edges of nodes with several outputs or operands say which.
std::string dot(const std::vector<Tensor>& outputs);

}  // namespace composit::ir

// Numbers nodes, lists edges, draws.
#include "composit/ir/graph.h"

#include "composit/base/error.h"
#include "composit/base/printable.h"
#include "composit/ir/operation.h"

#include <algorithm>

namespace composit::ir {

Graph::Graph(std::vector<Tensor> outputs)
    : outputs_(std::move(outputs)), nodes_(topological_order(outputs_)) {
    for (size_t i = 0; i < nodes_.size(); ++i) number_.emplace(nodes_[i], i);
    first_out_.assign(nodes_.size() + 1, 0);
    for (size_t sink = 0; sink < nodes_.size(); ++sink) {
        first_in_.push_back(edges_.size());
        const auto& operands = nodes_[sink]->operands();
        for (size_t k = 0; k < operands.size(); ++k) {
            const size_t source = number_.at(&operands[k].node());
            edges_.push_back({source, operands[k].output_index(), sink, static_cast<int>(k)});
            ++first_out_[source + 1];
        }
    }
    first_in_.push_back(edges_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) first_out_[i + 1] += first_out_[i];
    std::vector<size_t> next = first_out_;
    out_order_.resize(edges_.size());
    for (size_t e = 0; e < edges_.size(); ++e) out_order_[next[edges_[e].source]++] = e;
}

size_t Graph::number_of(const Node& node) const {
    const auto found = number_.find(&node);
    user_check<KeyError>(found != number_.end(), "graph: the node '", node.name(), "' (",
                         ir::label(node), ") is not in this graph.");
    return found->second;
}

std::vector<GraphEdge> Graph::in_edges(size_t node) const {
    return {edges_.begin() + static_cast<long>(first_in_.at(node)),
            edges_.begin() + static_cast<long>(first_in_.at(node + 1))};
}

std::vector<GraphEdge> Graph::out_edges(size_t node) const {
    std::vector<GraphEdge> result;
    for (size_t e = first_out_.at(node); e < first_out_.at(node + 1); ++e)
        result.push_back(edges_[out_order_[e]]);
    return result;
}

std::vector<size_t> Graph::successors(size_t node) const {
    std::vector<size_t> result;
    for (const GraphEdge& edge : out_edges(node))
        if (result.empty() || result.back() != edge.sink) result.push_back(edge.sink);
    return result;
}

std::vector<size_t> Graph::predecessors(size_t node) const {
    std::vector<size_t> result;
    for (const GraphEdge& edge : in_edges(node))
        if (std::find(result.begin(), result.end(), edge.source) == result.end())
            result.push_back(edge.source);
    return result;
}

std::string Graph::label(size_t i) const { return ir::label(*nodes_[i]); }

namespace {

bool is_leaf(const Node& node) { return is_constant(node) || is_input(node); }

std::string dot_node(const Graph& graph, size_t i, bool is_result) {
    const Node& node = graph.node(i);
    std::string words = node.name();
    if (!is_leaf(node) || words.empty()) words += (words.empty() ? "" : "\n") + label(node);
    const std::string types = join(node.types());
    std::string line = text("  n", i, " [label=\"", in_label(words + "\n" + types), '"');
    if (is_leaf(node)) line += is_constant(node) ? ", style=\"rounded,filled\"" : ", style=rounded";
    if (is_result) line += ", penwidth=2";
    if (!node.location().empty()) line += ", tooltip=\"" + in_label(node.location()) + '"';
    return line + "];\n";
}

std::string dot_edge(const Graph& graph, const GraphEdge& edge) {
    std::vector<std::string> words;
    if (graph.node(edge.source).output_count() > 1)
        words.push_back(text("taillabel=\"", edge.source_output_index, "\""));
    if (graph.node(edge.sink).operands().size() > 1)
        words.push_back(text("headlabel=\"", edge.sink_input_index, "\""));
    return text("  n", edge.source, " -> n", edge.sink,
                words.empty() ? "" : " [" + join(words) + "]", ";\n");
}

}  // namespace

std::string dot(const std::vector<Tensor>& outputs) {
    const Graph graph(outputs);
    std::vector<bool> is_result(graph.node_count(), false);
    for (const Tensor& output : outputs) is_result[graph.number_of(output.node())] = true;
    std::string out = "digraph composit {\n  node [shape=box, fontname=\"Helvetica\"];\n";
    for (size_t i = 0; i < graph.node_count(); ++i) out += dot_node(graph, i, is_result[i]);
    for (const GraphEdge& edge : graph.edges()) out += dot_edge(graph, edge);
    return out + "}\n";
}

}  // namespace composit::ir

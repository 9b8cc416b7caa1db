// The rules by which primitives are written as ONNX's operators, by subject: each file adds its
// own.
#pragma once

#include "composit/ir/body.h"
#include "composit/ir/scalar/row.h"
#include "composit/onnx/graph_writer.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace composit::onnx::saving {

using Node = ir::Node;  // not the file's

// Writes graphs of primitives: what rules talk to.
class GraphSaver {
  public:
    explicit GraphSaver(GraphWriter& writer) : out(writer) {}
    GraphSaver(const GraphSaver&) = delete;
    GraphSaver& operator=(const GraphSaver&) = delete;

    GraphWriter& out;

    // What is known of tensors, by node: all outputs of one.
    using Known = std::unordered_map<const ir::Node*, ManyWritten>;

    // The tensors' values, in order, where `known` are there already; those that are written join
    // them. NotSupported, with the line, where ONNX has no way to say an operation.
    ManyWritten values(const std::vector<ir::Tensor>& tensors, Known& known);
    // A body's results for these arguments.
    ManyWritten inlined(const ir::Body& body, const ManyWritten& arguments);

    // The value of a tensor that is made now, of operands of the node that is being written.
    Written in_place_of(const ir::Tensor& x);

    // What was written of a tensor that the node being written depends on.
    [[nodiscard]] const Written& written(const ir::Tensor& x) const;

  private:
    ManyWritten written(const ir::Node& node, const ManyWritten& operands);

    Known* known_ = nullptr;
    std::vector<ir::Tensor> held_;  // nodes that are written and that nothing else holds
};

// The results of a node whose operands have these values.
using SaveRule = std::function<ManyWritten(GraphSaver&, const ir::Node&, const ManyWritten&)>;
using SaveRules = std::map<std::string_view, SaveRule>;  // by operation

void add_elementwise_rules(SaveRules& rules);
void add_layout_rules(SaveRules& rules);
void add_indexing_rules(SaveRules& rules);
void add_reduction_rules(SaveRules& rules);
void add_product_rules(SaveRules& rules);
void add_layer_rules(SaveRules& rules);

// A row of the scalar table, or an expression of the scalar language, of operands of the dtypes
// that it takes. NotSupported names what has no operator.
Written save_row(GraphWriter& out, const ir::scalar::Row& row, const ManyWritten& x);
Written save_expression(GraphWriter& out, const ir::scalar::Expr& expression,
                        const ManyWritten& arguments);

// The sum within a body that is the mean of its parameter along axes; null for other bodies.
const Node* mean_of(const ir::Body& body);

// A layer that the node ends, as ONNX's operator; nothing where it is none.
ManyWritten save_layer(GraphSaver& saver, const ir::Node& node);

}  // namespace composit::onnx::saving

// The rules by which primitives are written as StableHLO's operations, by subject: each file adds
// its own.
#pragma once

#include "composit/ir/body.h"
#include "composit/ir/scalar/row.h"
#include "composit/mlir/writer.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace composit::mlir {

using ir::Node;
using ir::Tensor;

// Writes graphs of primitives: what rules talk to.
class GraphPrinter {
  public:
    explicit GraphPrinter(Writer& writer) : out(writer) {}
    GraphPrinter(const GraphPrinter&) = delete;
    GraphPrinter& operator=(const GraphPrinter&) = delete;

    Writer& out;

    // What is known of tensors, by node: all outputs of one.
    using Known = std::unordered_map<const Node*, Values>;

    // The tensors' values, in order, where `known` are there already; those that are written join
    // them. NotSupported, with the line, for what StableHLO has no way to say.
    Values values(const std::vector<Tensor>& tensors, Known& known);
    // A body's results for these arguments, written where they are asked for.
    Values inlined(const ir::Body& body, const Values& arguments);
    // The same by a call of a function, which is written once.
    Values called(const std::shared_ptr<const ir::Body>& body, const Values& arguments);
    // A function of its own that `block` writes, under a name by which composit reads it again as
    // the operation that it is.
    Values composite(std::string_view name, std::string_view attributes, const Values& arguments,
                     const Writer::Block& block);
    // What `graph` makes of placeholders that stand for the values. The graph must live as long as
    // the printer.
    Values made_of(const std::vector<Tensor>& graph, const std::vector<Tensor>& placeholders,
                   const Values& values);

  private:
    Values written(const Node& node, const Values& operands);
    Values in_components(const Node& node, const Values& operands);

    Known* known_ = nullptr;
    std::vector<Tensor> held_;  // nodes that are written and that nothing else holds
    std::vector<std::shared_ptr<const ir::Body>> bodies_;
};

// The results of a node whose operands have these values. Short floats come as float32 unless the
// operation moves elements; what is returned is converted to the node's dtypes.
using PrintRule = std::function<Values(GraphPrinter&, const Node&, const Values&)>;
using PrintRules = std::map<std::string_view, PrintRule>;  // by operation

void add_elementwise_rules(PrintRules& rules);
void add_layout_rules(PrintRules& rules);
void add_indexing_rules(PrintRules& rules);
void add_reduction_rules(PrintRules& rules);
void add_product_rules(PrintRules& rules);
void add_matrix_rules(PrintRules& rules);
void add_body_rules(PrintRules& rules);

// Whether the operation is written for complex numbers as it is; others are in components.
[[nodiscard]] bool takes_complex(const Node& node);

// A row of the scalar table of operands of the dtypes that it takes and of one shape; no 16-bit
// floats. Complex ones where `takes_complex` says so.
Value print_row(Writer& out, const ir::scalar::Row& row, const Values& x);
// An expression of the scalar language, of operands of one shape. NotSupported names what has no
// operation.
Value print_expression(Writer& out, const ir::scalar::Expr& expression, const Values& arguments,
                       const Shape& shape);
// The least or the greatest value of a real dtype.
Value extreme(Writer& out, DType dtype, bool is_least);
// " (model.py:12)"; empty where there is no line.
[[nodiscard]] std::string at_line(const Node& node);

}  // namespace composit::mlir

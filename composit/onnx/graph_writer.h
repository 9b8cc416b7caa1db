// An ONNX graph that is being written: values with names, nodes, constants, bodies of loops.
//
// Every function that adds a node returns the value that it makes. Shapes are known, so the writer
// works out those of results, and nothing is added that changes nothing (a cast to the same dtype).
#pragma once

#include "composit/ir/array.h"
#include "composit/onnx/model.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace composit::onnx {

using ir::DType;
using ir::Shape;

// A value of the graph.
struct Written {
    std::string name;
    DType dtype = DType::float32;
    Shape shape;

    [[nodiscard]] int64_t rank() const { return static_cast<int64_t>(shape.size()); }
};
using ManyWritten = std::vector<Written>;

struct OutputType {
    DType dtype;
    Shape shape;
};

// ----- attributes
Attribute integer_attribute(std::string name, int64_t value);
Attribute integers_attribute(std::string name, std::vector<int64_t> values);
Attribute number_attribute(std::string name, double value);
Attribute text_attribute(std::string name, std::string value);

class GraphWriter {
  public:
    // Operators that are newer than opset `most` are refused; 0: none is.
    explicit GraphWriter(int64_t most) : most_(most) { graphs_.emplace_back(); }
    GraphWriter(const GraphWriter&) = delete;
    GraphWriter& operator=(const GraphWriter&) = delete;

    // ----- where nodes come from: stamped on those that are added from now on
    void set_origin(std::string part, std::string line);

    // ----- nodes
    // `since`: the opset that brought the operator, as it is used. NotSupported where that is later
    // than `most`.
    Written add(std::string_view operation, const ManyWritten& inputs, OutputType type,
                std::vector<Attribute> attributes = {}, int64_t since = 1);
    ManyWritten add_all(std::string_view operation, const ManyWritten& inputs,
                        const std::vector<OutputType>& types,
                        std::vector<Attribute> attributes = {}, int64_t since = 1);
    // Whether opset `since` may be used.
    [[nodiscard]] bool may_use(int64_t since) const { return most_ == 0 || since <= most_; }

    // Of x's type.
    Written unary(std::string_view operation, const Written& x, int64_t since = 1);
    // Of a's dtype, broadcast.
    Written binary(std::string_view operation, const Written& a, const Written& b,
                   int64_t since = 1);
    // The same, of dtype bool.
    Written compare(std::string_view operation, const Written& a, const Written& b);
    Written where(const Written& condition, const Written& chosen, const Written& other);

    // The operation that made x, with one operand more; x itself stays.
    Written with_operand(const Written& x, const Written& operand);

    // ----- elements moved, a node each, or none
    Written cast(const Written& x, DType dtype);
    Written reshape(const Written& x, const Shape& shape);
    Written transpose(const Written& x, const std::vector<int64_t>& axes);
    Written broadcast(const Written& x, const Shape& shape);
    Written slice(const Written& x, const std::vector<int64_t>& starts,
                  const std::vector<int64_t>& lengths, const std::vector<int64_t>& steps);
    // low and high elements of `filler` around x; negative ones are cut off.
    Written pad(const Written& x, const Written& filler, const std::vector<int64_t>& low,
                const std::vector<int64_t>& high);
    Written gather(const Written& x, const Written& indices, int64_t axis);

    // ----- leaves
    Written input(std::string_view name, DType dtype, const Shape& shape);
    // Equal small constants are one.
    Written constant(const ir::Array& value, std::string_view name = {});
    Written integers(const std::vector<int64_t>& values);        // int64, one axis
    Written integers(std::vector<int64_t> values, Shape shape);  // int64
    Written scalar(DType dtype, double value);                   // without axes
    // Null where x is no constant.
    [[nodiscard]] const ir::Array* value_of(const Written& x) const;

    // ----- bodies: nodes that are added between go into a graph of their own, in which the values
    // around are seen
    void begin_body() { graphs_.emplace_back(); }
    Attribute end_body(std::string attribute, const ManyWritten& outputs);

    // A value of that name, as far as nothing else has it: the node that made x just now has it.
    Written named(const Written& x, std::string_view name);

    // ----- the end
    // The model, whose outputs have these names; nodes and constants that none of them needs are
    // left out. Its tensors point into arrays that the writer holds.
    Model finish(const std::vector<std::pair<std::string, Written>>& outputs);

  private:
    std::string unique(std::string_view name);
    Graph& graph() { return graphs_.back(); }

    int64_t most_, used_ = 18;
    std::string part_, line_;
    std::deque<Graph> graphs_;              // the model's, then bodies that are being written
    std::deque<ir::Array> arrays_;          // of initializers
    std::map<std::string, size_t> places_;  // of a constant's array, by name
    std::map<std::string, std::string> small_constants_;
    std::set<std::string> names_;
    std::map<std::string, int> counts_;
};

}  // namespace composit::onnx

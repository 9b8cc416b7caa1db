// A module of StableHLO that is being written: values with names, operations as lines, functions,
// constants at the head of each function.
//
//   Writer out("model");
//   out.begin_function("main", {{"x", {DType::float32, {3}}}}, true)
//   const Value y = out.unary("exponential", x);      // %0 = stablehlo.exponential %x :
//   tensor<3xf32> out.end_function({y}); out.text()
//
// Every function that adds an operation returns the value that it makes. Nothing is added that
// changes nothing (a convert to the same dtype).
#pragma once

#include "composit/ir/array.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::mlir {

using ir::DType;
using ir::Shape;
using Axes = std::vector<int64_t>;

// A length that a type of a text leaves open: "?".
inline constexpr int64_t open_length = -1;

struct ValueType {
    DType dtype = DType::float32;
    Shape shape;

    bool operator==(const ValueType&) const = default;
};
// "tensor<2x3xf32>", "tensor<complex<f32>>"
[[nodiscard]] std::string type_text(const ValueType& type);
[[nodiscard]] std::string type_texts(const std::vector<ValueType>& types);  // "a, b"
// "f32", "i1", "ui8", "complex<f64>"
[[nodiscard]] std::string element_type_text(DType dtype);
// "[1, 2]"
[[nodiscard]] std::string list_text(const Axes& values);

// A value of the function that is being written.
struct Value {
    std::string name;  // with its %
    DType dtype = DType::float32;
    Shape shape;

    [[nodiscard]] ValueType type() const { return {dtype, shape}; }
    [[nodiscard]] int64_t rank() const { return static_cast<int64_t>(shape.size()); }
};
using Values = std::vector<Value>;

[[nodiscard]] std::string names_text(const Values& values);  // "%a, %b"
[[nodiscard]] std::vector<ValueType> types_of(const Values& values);

class Writer {
  public:
    // With locations, operations end with the line of the user's that they come from.
    Writer(std::string_view module, bool has_locations);
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    // "model.py:12" or nothing: of the operations that are added from now on.
    void set_origin(std::string_view line) { line_ = line; }

    // ----- functions: those that are begun while another is written stand beside it
    struct Parameter {
        std::string name;
        ValueType type;
    };
    // A name that no other function has; the values of the parameters. Where the function ends,
    // operations and constants are left out that nothing reads, and a function with the text of
    // another is that one.
    Values begin_function(std::string_view name, const std::vector<Parameter>& parameters,
                          bool is_public);
    // The function's name and the types of its results.
    struct Function {
        std::string name;
        std::vector<ValueType> results;
    };
    Function end_function(const Values& results);
    Values call(const Function& function, const Values& arguments);
    // The same, of a function that readers may know by a name, which stands for what it computes;
    // with attributes ("axis = 1 : i64") that belong to the name.
    Values composite(std::string_view name, std::string_view attributes, const Function& function,
                     const Values& arguments);

    // ----- operations
    // "stablehlo.<text> : <types>" with one result; `text` holds the operands.
    Value add(std::string_view text, const ValueType& result);
    // The same where the types of operands stand before those of results.
    Value apply(std::string_view operation, const Values& operands, std::string_view attributes,
                const ValueType& result);
    // "stablehlo.operation"(operands) <{attributes}> : (…) -> …
    Value apply_generic(std::string_view operation, const Values& operands,
                        std::string_view attributes, const ValueType& result);
    Value unary(std::string_view operation, const Value& x);
    Value chlo(std::string_view operation, const Value& x);                    // "chlo.operation"
    Value binary(std::string_view operation, const Value& a, const Value& b);  // equal types
    Value compare(std::string_view direction, const Value& a, const Value& b);
    Value select(const Value& condition, const Value& chosen, const Value& other);
    Value negation(const Value& x) { return unary("not", x); }  // of a bool

    // `text` with all that stands before the types.
    Value convolution(std::string_view text, const Values& operands, const ValueType& result);

    // ----- elements moved or converted, an operation each, or none
    Value convert(const Value& x, DType dtype);  // complex to real: the real part; to bool: x != 0
    Value bitcast(const Value& x, DType dtype);
    Value reshape(const Value& x, const Shape& shape);
    Value transpose(const Value& x, const Axes& axes);
    Value broadcast(const Value& x, const Shape& shape);  // NumPy's
    Value slice(const Value& x, const Axes& starts, const Axes& lengths, const Axes& steps);
    Value reverse(const Value& x, const Axes& axes);
    Value concatenate(const Values& parts, int64_t axis);
    Value pad(const Value& x, const Value& filler, const Axes& low, const Axes& high,
              const Axes& interior);
    Value iota(DType dtype, const Shape& shape, int64_t axis);
    Value complex(const Value& re, const Value& im);
    Value real(const Value& x);
    Value imag(const Value& x);

    // ----- operations with bodies. Values from outside may be read in those of loops alone.
    using Block = std::function<Values(const Values&)>;
    // "operation"(operands) <{attributes}> ({ ^bb0(parameters): … }) : (…) -> (…)
    Values with_block(std::string_view operation, const Values& operands,
                      std::string_view attributes, const std::vector<ValueType>& parameters,
                      const Block& block, const std::vector<ValueType>& results);
    // Along axes, from `initial` on (numbers), by an operation of two numbers.
    Value reduce(std::string_view operation, const Value& x, const Value& initial,
                 const Axes& axes);
    Values loop(const Values& initial, const Block& condition, const Block& body);

    // ----- constants: at the head of the function, equal ones once
    Value constant(const ir::Array& value, std::string_view name = {});
    Value splat(const ir::Array& one, const Shape& shape);  // one element, everywhere
    Value number(DType dtype, double value);
    Value number(const ValueType& type, double value);  // all elements

    // x under that name, as far as nothing else of the function has it, if the operation that was
    // added last made it; else x.
    Value named(const Value& x, std::string_view name);

    // Functions that were written before are found again under a key of whoever wrote them.
    const Function* find(const std::string& key) const;
    void keep(const std::string& key, Function function);

    [[nodiscard]] std::string text() const;

  private:
    struct Open {
        std::string name, heading;
        bool is_public = false;
        std::vector<std::string> constants, lines;  // without their ends
        size_t depth = 2;
        std::set<std::string> names;
        std::map<std::string, Value> known_constants;
        std::map<std::string, ir::Array> elements;  // of constants that have one value, by name
        std::map<std::string, Value> reshaped;      // what was reshaped, by the result's name
        int next = 0;
    };
    Open& open() { return open_.back(); }
    std::string fresh();
    std::string unique(std::string_view name);
    void line(const std::string& text);
    [[nodiscard]] std::string location() const;
    Values results(std::string_view text, const std::vector<ValueType>& types);
    Value kept_constant(const std::string& literal, const ValueType& type, std::string_view name,
                        const ir::Array* element);
    // The constant x in another dtype and shape, if it has one value, which the dtype has, too.
    std::optional<Value> changed(const Value& x, DType dtype, const Shape& shape);

    std::string module_, line_;
    bool has_locations_;
    std::vector<Open> open_;
    std::vector<std::string> done_;
    std::set<std::string> function_names_;
    std::map<std::string, std::string> written_;  // names of functions by all that follows them
    std::map<std::string, Function> kept_;
};

}  // namespace composit::mlir

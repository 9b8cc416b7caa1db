// The text of one function of MLIR while it is written: names, lines, constants at its head.
#pragma once

#include "composit/ir/dtype.h"
#include "composit/ir/scalar/expr.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::mlir {

// "f64", "i1", "i64": integers have no sign in `arith`. There is none for complex numbers and
// floats of 16 bits.
[[nodiscard]] std::string scalar_type(ir::DType dtype);
// "0.5", "-3", "true", "0x7FF0000000000000"
[[nodiscard]] std::string scalar_literal(ir::DType dtype, ir::scalar::Bits bits);

struct LineStyle {
    std::string file;        // of the user's lines, "model.py"; "": they are not said
    bool locations = false;  // loc("model.py":12:0) behind operations, in place of comments
};

class FunctionText {
  public:
    explicit FunctionText(LineStyle style) : style_(std::move(style)) {}

    // "%total", "%total_2", …; "%0", "%1", … for no name.
    std::string fresh(std::string_view wanted);
    // %wanted = operation; returns %wanted.
    std::string add(std::string_view wanted, const std::string& operation);
    void line(const std::string& text);
    // "^bb0(%x: f64):", which stands a step further left.
    void label(const std::string& text);
    // A line that ends with "{", and what stands within, until `close` writes "}" or
    // "} else {", "} do {", behind which lines stand within again.
    void open(const std::string& text);
    void close(const std::string& text = "}");

    // Constants at the head of the function, equal ones once.
    std::string constant(ir::DType dtype, ir::scalar::Bits bits);
    std::string index_constant(int64_t value);
    // The value of an int64 constant of that name.
    [[nodiscard]] std::optional<int64_t> integer_of(const std::string& name) const;

    // Which line of the user's the lines are of that are written from now on.
    void set_source_line(int number) { source_line_ = number; }

    // What an assertion says, in quotes: whose it is, and the line.
    [[nodiscard]] std::string failure(const std::string& function) const;

    // All of it: `head`, "func.func @f(%x: f64) -> f64 {", constants, lines, "}".
    [[nodiscard]] std::string whole(const std::string& head) const;

  private:
    std::string unique(std::string_view wanted);
    std::string kept(const std::string& wanted, const std::string& value);
    [[nodiscard]] bool is_read(const std::string& name) const;
    void put(const std::string& text, size_t depth, bool is_operation);

    LineStyle style_;
    std::set<std::string> names_;
    int64_t next_ = 0;
    int source_line_ = 0, said_line_ = 0;
    size_t depth_ = 2;
    std::map<std::string, std::string> known_constants_;
    std::map<std::string, int64_t> integers_;                     // by name
    std::vector<std::pair<std::string, std::string>> constants_;  // names, values
    std::vector<std::string> lines_;
};

}  // namespace composit::mlir

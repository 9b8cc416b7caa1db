// The table's parts, one function per file, and the shorthand they share. registry.cpp indexes
// them; everyone else asks row.h.
#pragma once

#include "composit/ir/scalar/row.h"

#include <vector>

namespace composit::ir::scalar {

std::vector<Row> table_rows();  // all of them, in table order

std::vector<Row> arithmetic_rows();
std::vector<Row> comparison_rows();
std::vector<Row> rounding_rows();
std::vector<Row> bit_rows();
std::vector<Row> divisor_rows();
std::vector<Row> parts_rows();
std::vector<Row> extremum_rows();
std::vector<Row> exponential_rows();
std::vector<Row> power_rows();
std::vector<Row> hyperbolic_rows();
std::vector<Row> special_rows();
std::vector<Row> random_rows();
std::vector<Row> remark_rows();
std::vector<Row> trigonometric_rows();
std::vector<Row> complex_rows();
// Gives rows what they mean for complex operands.
void add_complex_rules(std::vector<Row>& rows);
// Says which errors of floating point they report.
void add_signals(std::vector<Row>& rows);

// ----- shorthand for rows
using X = const std::vector<Expr>&;
using Y = const Expr&;
using Exprs = std::vector<Expr>;

inline Expr call(std::string_view name, Exprs operands) {
    return Expr::call(row(name), std::move(operands));
}
inline Expr one_like(const Expr& x) { return Expr::constant(x.dtype(), 1); }
inline Expr zero_like(const Expr& x) { return Expr::constant(x.dtype(), 0); }
inline bool is_bool(const Expr& x) { return x.dtype() == DType::boolean; }
inline bool is_float(const Expr& x) { return is_floating(x.dtype()); }

// f(x) for a function of the library: short floats are computed in float32 and rounded.
template <class Function, class... More>
Expr in_library(Function f, const Expr& x, const More&... more) {
    if (!is_float(x) || size_of(x.dtype()) > 2) return f(x, more...);
    return Expr::cast(f(Expr::cast(x, DType::float32), Expr::cast(more, DType::float32)...),
                      x.dtype());
}

// A row of one operand whose definition is a function of the library.
inline Row library_row(std::string name, std::vector<std::string> aliases, const TypeRule& types,
                       Interval domain, std::string doc, Expr (*f)(const Expr&),
                       Expr (*slope)(const Expr& x, const Expr& y)) {
    return {std::move(name),
            std::move(aliases),
            1,
            types,
            {domain},
            std::move(doc),
            [f](X x) { return in_library(f, x[0]); },
            [slope](X x, Y y) { return Exprs{slope(x[0], y)}; }};
}

// The signed integer dtype of a float's size.
inline DType integer_like(const Expr& x) {
    const int size = size_of(x.dtype());
    return size == 2 ? DType::int16 : size == 4 ? DType::int32 : DType::int64;
}
// The unsigned dtype of an integer's size.
inline DType unsigned_like(const Expr& x) {
    const int size = size_of(x.dtype());
    return size == 1   ? DType::uint8
           : size == 2 ? DType::uint16
           : size == 4 ? DType::uint32
                       : DType::uint64;
}

}  // namespace composit::ir::scalar

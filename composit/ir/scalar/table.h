// The table's parts, one function per file, and the shorthand they share. registry.cpp indexes them; everyone else
// asks row.h.
#pragma once

#include <vector>

#include "composit/ir/scalar/row.h"

namespace composit::ir::scalar {

std::vector<Row> table_rows();  // all of them, in table order

std::vector<Row> arithmetic_rows();
std::vector<Row> comparison_rows();
std::vector<Row> rounding_rows();
std::vector<Row> bit_rows();
std::vector<Row> extremum_rows();

// ----- shorthand for rows
using X = const std::vector<Expr>&;
using Y = const Expr&;
using Exprs = std::vector<Expr>;

inline Expr call(std::string_view name, Exprs operands) { return Expr::call(row(name), std::move(operands)); }
inline Expr one_like(const Expr& x) { return Expr::constant(x.dtype(), 1); }
inline Expr zero_like(const Expr& x) { return Expr::constant(x.dtype(), 0); }
inline bool is_bool(const Expr& x) { return x.dtype() == DType::boolean; }
inline bool is_float(const Expr& x) { return is_floating(x.dtype()); }

// The signed integer dtype of a float's size.
inline DType integer_like(const Expr& x) {
    const int size = size_of(x.dtype());
    return size == 2 ? DType::int16 : size == 4 ? DType::int32 : DType::int64;
}

}  // namespace composit::ir::scalar

// Single operations of the scalar language as operations of `arith` and `math`.
#pragma once

#include "composit/exporters/mlir_kernels/function_text.h"
#include "composit/ir/scalar/expr.h"

#include <string>
#include <string_view>
#include <vector>

namespace composit::mlir {

// An operation on operands with these names: what it is called if something is written for it.
// Of calls, lookups and operations alone; leaves and loops are said elsewhere. `index` is the type
// of integers that are places of elements: operands have it then, in place of int64.
std::string write_operation(FunctionText& out, const ir::scalar::Expr& expr,
                            const std::vector<std::string>& operands, std::string_view wanted,
                            bool is_of_index = false);

// The function @next_after_float64 of an operation that MLIR has none for, and its name.
std::string next_after_symbol(ir::DType dtype);
ir::scalar::Expr next_after(ir::DType dtype);

// "memref<?xf64>" of a table.
std::string table_type(const ir::scalar::Expr& lookup);

}  // namespace composit::mlir

// The table's arithmetic.
#include "composit/ir/scalar/table.h"

namespace composit::ir::scalar {

using X = const std::vector<Expr>&;

std::vector<Row> arithmetic_rows() {
    return {
        {.name = "add", .arity = 2, .types = types::any, .doc = "x1 + x2",
         .value = [](X x) { return x[0].dtype() == DType::boolean ? x[0] | x[1] : x[0] + x[1]; }},
        {.name = "multiply", .arity = 2, .types = types::any, .doc = "x1 * x2",
         .value = [](X x) { return x[0].dtype() == DType::boolean ? x[0] & x[1] : x[0] * x[1]; }},
    };
}

}  // namespace composit::ir::scalar

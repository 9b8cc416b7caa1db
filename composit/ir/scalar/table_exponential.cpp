// The table's exponentials and logarithms, and the functions of machine learning made of them.
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/table.h"

namespace composit::ir::scalar {
namespace {

constexpr double ln2 = 0.693147180559945309417;
constexpr double ln10 = 2.30258509299404568402;

// d logaddexp(a, b) / da. Equal operands share, infinite ones, too, of which no difference tells.
Expr share(const Expr& a, const Expr& b, Expr (*exponential)(const Expr&)) {
    const Expr is_same_infinity = equal(a, b) & call("isinf", {a});
    return select(is_same_infinity, 0.5, 1.0 / (1.0 + exponential(b - a)));
}
Expr call_exp(const Expr& x) { return call("exp", {x}); }
Expr call_exp2(const Expr& x) { return call("exp2", {x}); }

Expr slope_of_silu(const Expr& x, const Expr&) {
    const Expr s = call("sigmoid", {x});
    return s * (1.0 + x * (1.0 - s));
}

}  // namespace

std::vector<Row> exponential_rows() {
    using namespace types;
    return {
        library_row("exp", {}, inexact, {-3, 3}, "e^x", exp_of, [](Y, Y y) { return y; }),
        library_row("exp2", {}, inexact, {-3, 3}, "2^x", exp2_of, [](Y, Y y) { return y * ln2; }),
        library_row("expm1", {}, inexact, {-3, 3}, "e^x - 1", expm1_of,
                    [](Y, Y y) { return y + 1.0; }),
        library_row("log", {}, inexact, {0.1, 5}, "the natural logarithm", log_of,
                    [](Y x, Y) { return 1.0 / x; }),
        library_row("log10", {}, inexact, {0.1, 5}, "the logarithm to base 10", log10_of,
                    [](Y x, Y) { return 1.0 / (x * ln10); }),
        library_row("log1p", {}, inexact, {-0.9, 5}, "log(1 + x)", log1p_of,
                    [](Y x, Y) { return 1.0 / (1.0 + x); }),
        library_row("log2", {}, inexact, {0.1, 5}, "the logarithm to base 2", log2_of,
                    [](Y x, Y) { return 1.0 / (x * ln2); }),
        {"logaddexp",
         {},
         2,
         floating,
         {},
         "log(exp(x1) + exp(x2))",
         [](X x) { return in_library(logaddexp_of, x[0], x[1]); },
         [](X x, Y) { return Exprs{share(x[0], x[1], call_exp), share(x[1], x[0], call_exp)}; }},
        {"logaddexp2",
         {},
         2,
         floating,
         {},
         "log2(2^x1 + 2^x2)",
         [](X x) { return in_library(logaddexp2_of, x[0], x[1]); },
         [](X x, Y) { return Exprs{share(x[0], x[1], call_exp2), share(x[1], x[0], call_exp2)}; }},
        library_row("sigmoid", {"expit"}, floating, {-3, 3}, "1 / (1 + exp(-x))", sigmoid_of,
                    [](Y, Y y) { return y * (1.0 - y); }),
        library_row("silu", {"swish"}, floating, {-3, 3}, "x sigmoid(x)", silu_of, slope_of_silu),
        library_row("softplus", {}, floating, {-3, 3}, "log(1 + exp(x))", softplus_of,
                    [](Y x, Y) { return call("sigmoid", {x}); }),
    };
}

}  // namespace composit::ir::scalar

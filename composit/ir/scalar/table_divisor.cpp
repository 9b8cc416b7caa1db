// The table's greatest common divisor and least common multiple.
#include "composit/ir/scalar/table.h"

namespace composit::ir::scalar {
namespace {

// Numbers below 2^64 take fewer divisions (Lamé, 1844).
constexpr int64_t most_divisions = 93;

// |x|; that of the least integer fits, too.
Expr magnitude(const Expr& x) { return Expr::cast(absolute(x), unsigned_like(x)); }

// Euclid's algorithm on unsigned integers.
Expr divisor(const Expr& a, const Expr& b) {
    return loop(
        {a.named("a"), b.named("b")}, [](X s) { return not_equal(s[1], 0); },
        [](X s) { return Exprs{s[1], Expr::make(Op::remainder, {s[0], s[1]})}; },
        most_divisions)[0];
}

Expr multiple(const Expr& a, const Expr& b) {
    const Expr common = divisor(a, b).named("common");
    const Expr is_zero = equal(common, 0);
    const Expr quotient = Expr::make(Op::divide, {a, select(is_zero, one_like(a), common)});
    return quotient * b;
}

}  // namespace

std::vector<Row> divisor_rows() {
    return {
        {"gcd",
         {},
         2,
         types::integer_only,
         {},
         "the greatest common divisor of |x1| and |x2|; gcd(0, 0) = 0",
         [](X x) { return Expr::cast(divisor(magnitude(x[0]), magnitude(x[1])), x[0].dtype()); },
         {},
         true},
        {"lcm",
         {},
         2,
         types::integer_only,
         {},
         "the least common multiple of |x1| and |x2|, wrapping; lcm(0, x) = 0",
         [](X x) { return Expr::cast(multiple(magnitude(x[0]), magnitude(x[1])), x[0].dtype()); },
         {},
         true},
    };
}

}  // namespace composit::ir::scalar

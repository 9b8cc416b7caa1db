// Where compilers would lose the sign of a zero.
#include "composit/backends/c_family/scalar_printer.h"

#include <algorithm>
#include <unordered_set>

namespace composit::c_family {

using ir::scalar::Expr;
using ir::scalar::Op;

namespace {

// All that they compute, in functions that they call too.
std::vector<Expr> with_functions(const std::vector<Expr>& values) {
    std::vector<Expr> all = ir::scalar::all_expressions(values);
    std::unordered_set<const ir::scalar::Specialisation*> seen;
    for (size_t i = 0; i < all.size(); ++i) {
        if (all[i].op() != Op::call) continue;
        const ir::scalar::Specialisation& called = specialisation_of(all[i]);
        if (!seen.insert(&called).second) continue;
        for (const Expr& expr : ir::scalar::all_expressions({called.body})) all.push_back(expr);
    }
    return all;
}

}  // namespace

// Where floating-point operations may not trap, g++ 12 takes trunc(x) for double(int64_t(x)), which
// is -0.0 in place of 0.0 for -1 < x <= -0.0. It sees through variables, choices and calls, so that
// nothing in an expression could tell where that happens.
std::string zeros_pragma(const std::vector<Expr>& values) {
    const std::vector<Expr> all = with_functions(values);
    const auto has_casts = [&all](auto is_from, auto is_to) {
        return std::any_of(all.begin(), all.end(), [&](const Expr& expr) {
            return expr.op() == Op::cast && is_from(expr.operands()[0].dtype()) &&
                   is_to(expr.dtype());
        });
    };
    if (!has_casts(ir::is_floating, ir::is_integer) || !has_casts(ir::is_integer, ir::is_floating))
        return "";
    return R"(#if defined(__GNUC__) && !defined(__clang__)
// Else g++ makes a truncation of an integer and back, whose zeros are signed.
#pragma GCC optimize("trapping-math")
#endif

)";
}

}  // namespace composit::c_family

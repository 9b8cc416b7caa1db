#include "composit/backends/c_family/loop_questions.h"

#include "composit/backends/c_family/scalar_printer.h"

#include <algorithm>

namespace composit::c_family {
namespace {

using ir::scalar::Expr;

bool has_own_long_loop(const std::vector<Expr>& values) {
    const std::vector<Expr> all = ir::scalar::all_expressions(values);
    return std::any_of(all.begin(), all.end(), [](const Expr& expr) {
        return expr.op() == ir::scalar::Op::loop && may_take_long(*expr.loop());
    });
}

}  // namespace

int64_t steps_between_questions(const ir::scalar::Loop& loop) {
    std::vector<Expr> inner = loop.steps;
    inner.push_back(loop.condition);
    return std::any_of(inner.begin(), inner.end(), ir::scalar::reaches_loop) ? 64 : 1 << 16;
}

bool may_take_long(const ir::scalar::Loop& loop) {
    return loop.limit > steps_between_questions(loop);
}

bool has_long_loop(const std::vector<Expr>& values) {
    if (has_own_long_loop(values)) return true;
    const auto used = functions_used(values);
    return std::any_of(used.begin(), used.end(), [](const ir::scalar::Specialisation* function) {
        return has_own_long_loop({function->body});
    });
}

}  // namespace composit::c_family

// Expressions as terms.
#include "composit/knossos/terms.h"

#include "composit/ir/scalar/row.h"

#include <unordered_set>

namespace composit::knossos {
namespace {

bool same_or_equal(const Expr& a, const Expr& b) {
    if (a.op() == Op::constant && b.op() == Op::constant) return a.value() == b.value();
    return same(a, b);
}

// Calls it with the expression and all that it is made of, each once, until it says true.
template <class Function>
void until(const Expr& value, Function&& function) {
    std::vector<Expr> waiting{value};
    std::unordered_set<const ir::scalar::ExprNode*> seen;
    while (!waiting.empty()) {
        const Expr each = waiting.back();
        waiting.pop_back();
        if (!seen.insert(each.id()).second) continue;
        if (function(each)) return;
        waiting.insert(waiting.end(), each.operands().begin(), each.operands().end());
    }
}

int64_t whole(const Expr& constant) { return static_cast<int64_t>(constant.value()); }

}  // namespace

bool same(const Value& a, const Value& b) {
    if (!a.expr() || !b.expr()) {
        const auto x = a.integer(), y = b.integer();
        return x && y ? *x == *y : a.number() && a.number() == b.number();
    }
    const Expr &x = *a.expr(), &y = *b.expr();
    if (x.op() == Op::argument || y.op() == Op::argument)
        return x.op() == y.op() && x.index() == y.index();
    if (x.op() == Op::constant || y.op() == Op::constant || x.op() != y.op()) return false;
    if (x.operands().size() != y.operands().size()) return false;
    if (x.op() == Op::call && x.row() != y.row()) return false;
    for (size_t i = 0; i < x.operands().size(); ++i)
        if (!same_or_equal(x.operands()[i], y.operands()[i])) return false;
    return true;
}

std::string function_in(const Expr& value) {
    std::string name;
    until(value, [&](const Expr& each) {
        if (each.op() == Op::square_root) name = "sqrt";
        if (each.op() == Op::call) name = each.row()->name;
        return !name.empty();
    });
    return name;
}

std::set<int> variables_of(const Expr& value) {
    std::set<int> found;
    until(value, [&](const Expr& each) {
        if (each.op() == Op::argument) found.insert(each.index());
        return false;
    });
    return found;
}

Linear linear(const Value& value) {
    int64_t constant = 0;
    Value rest = value;
    while (rest.expr()) {
        const Expr now = *rest.expr();
        if (now.op() == Op::constant) return {Expr(), constant + whole(now)};
        if (now.op() == Op::add && now.operand(0).op() == Op::constant) {
            constant += whole(now.operand(0));
            rest = now.operand(1);
            continue;
        }
        const bool is_sum = now.op() == Op::add || now.op() == Op::subtract;
        if (!is_sum || now.operand(1).op() != Op::constant) return {now, constant};
        const int64_t moved = whole(now.operand(1));
        constant += now.op() == Op::add ? moved : -moved;
        rest = now.operand(0);
    }
    const double number = rest.number().value_or(0);
    return {Expr(), constant + rest.integer().value_or(static_cast<int64_t>(number))};
}

}  // namespace composit::knossos

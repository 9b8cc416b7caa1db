// Loops: making them, with every dtype checked, and what lies inside them.
#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/row.h"

#include <algorithm>
#include <set>

namespace composit::ir::scalar {
namespace {

void check_reads(const Loop& loop) {
    std::vector<Expr> bodies = loop.steps;
    bodies.push_back(loop.condition);
    for (const Expr& expr : topological_order(bodies)) {
        if (expr.op() != Op::argument) continue;
        user_check<TypeError>(
            std::find(loop.state.begin(), loop.state.end(), expr) != loop.state.end(),
            "loop: ", expr.name().empty() ? text("argument ", expr.index()) : expr.name(),
            " is read inside the loop, but not part of its state. What a loop reads is required to "
            "be: give it a value of the state that does not change.");
    }
}

void check_steps(const Loop& loop) {
    user_check<TypeError>(loop.condition && loop.condition.dtype() == DType::boolean,
                          "loop: the condition has dtype ",
                          loop.condition ? name(loop.condition.dtype()) : "none",
                          ". bool is required.");
    user_check<TypeError>(loop.steps.size() == loop.state.size(), "loop: the step returns ",
                          loop.steps.size(), " values. ", loop.state.size(),
                          " are required, one for each value of the state.");
    for (size_t i = 0; i < loop.steps.size(); ++i)
        user_check<TypeError>(loop.steps[i] && loop.steps[i].dtype() == loop.state[i].dtype(),
                              "loop: the step of value ", i, " has dtype ",
                              loop.steps[i] ? name(loop.steps[i].dtype()) : "none", ". ",
                              loop.state[i].dtype(), " is required, that of the initial value.");
}

}  // namespace

Expr Expr::loop(std::shared_ptr<const Loop> loop, std::vector<Expr> initial, int index) {
    internal_check(loop && initial.size() == loop->state.size(), "a loop on ", initial.size(),
                   " values");
    internal_check(index >= 0 && static_cast<size_t>(index) < initial.size(), "value ", index,
                   " of a loop");
    for (size_t i = 0; i < initial.size(); ++i)
        internal_check(initial[i] && initial[i].dtype() == loop->state[i].dtype(),
                       "the initial value ", i, " of a loop");
    auto* node = new ExprNode;
    node->op = Op::loop;
    node->dtype = initial[static_cast<size_t>(index)].dtype();
    node->bits = {static_cast<uint64_t>(index), 0};
    node->operands = std::move(initial);
    node->loop = std::move(loop);
    return Expr(node);
}

const std::shared_ptr<const Loop>& Expr::loop() const {
    internal_check(op() == Op::loop, "loop of a scalar ", scalar::name(op()));
    return node_->loop;
}

std::vector<Expr> loop(const std::vector<Expr>& initial,
                       const std::function<Expr(const std::vector<Expr>&)>& condition,
                       const std::function<std::vector<Expr>(const std::vector<Expr>&)>& step,
                       int64_t limit) {
    user_check<ValueError>(!initial.empty(),
                           "loop: the state is empty. At least one value is "
                           "required.");
    user_check<ValueError>(limit >= 0, "loop: limit is ", limit, ". 0 or more is required.");
    auto made = std::make_shared<Loop>();
    for (size_t i = 0; i < initial.size(); ++i) {
        internal_check(static_cast<bool>(initial[i]), "loop on an empty expression");
        made->state.push_back(
            Expr::argument(static_cast<int>(i), initial[i].dtype(), initial[i].name()));
    }
    made->condition = condition(made->state);
    made->steps = step(made->state);
    made->limit = limit;
    check_steps(*made);
    check_reads(*made);
    std::vector<Expr> values = made->steps;
    values.push_back(made->condition);
    values = simplify(values);
    made->condition = values.back();
    values.pop_back();
    made->steps = std::move(values);
    std::vector<Expr> results;
    for (size_t i = 0; i < initial.size(); ++i)
        results.push_back(Expr::loop(made, initial, static_cast<int>(i)));
    return results;
}

LoopRun run_of(const Expr& loop) {
    LoopRun run{loop.loop().get(), {}};
    for (const Expr& operand : loop.operands()) run.second.push_back(operand.id());
    return run;
}

std::vector<Expr> all_expressions(const std::vector<Expr>& results) {
    std::vector<Expr> all = topological_order(results);
    std::vector<const Loop*> seen;
    for (size_t i = 0; i < all.size(); ++i) {
        if (all[i].op() != Op::loop) continue;
        const Loop* loop = all[i].loop().get();
        if (std::find(seen.begin(), seen.end(), loop) != seen.end()) continue;
        seen.push_back(loop);
        std::vector<Expr> bodies = loop->steps;
        bodies.push_back(loop->condition);
        for (Expr& expr : topological_order(bodies)) all.push_back(std::move(expr));
    }
    return all;
}

bool reaches_loop(const Expr& value) {
    std::vector<Expr> open{value};
    std::set<const ExprNode*> seen{value.id()};  // bodies
    while (!open.empty()) {
        const std::vector<Expr> all = topological_order({open.back()});
        open.pop_back();
        for (const Expr& expr : all) {
            if (expr.op() == Op::loop) return true;
            if (expr.op() != Op::call) continue;
            std::vector<DType> dtypes;
            for (const Expr& operand : expr.operands()) dtypes.push_back(operand.dtype());
            const Expr& body = specialise(expr.row(), dtypes).body;
            if (seen.insert(body.id()).second) open.push_back(body);
        }
    }
    return false;
}

}  // namespace composit::ir::scalar

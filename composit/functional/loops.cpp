// Traces the body of a loop, and takes out of it what is the same in all iterations.
#include "composit/functional/loops.h"

#include "composit/base/error.h"
#include "composit/ir/body.h"
#include "composit/numpy/operand.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <memory>
#include <unordered_set>

namespace composit {
namespace {

using ir::Body;
using ir::Node;

// What the body makes of Python's scalars, as weak as they are, decides on their dtypes.
void settle_dtypes(const LoopBody& f, Tensors& init) {
    Tensors state;
    bool any = false;
    for (const Tensor& x : init) {
        any = any || x.type().weak;
        state.push_back(x.type().weak ? x : ir::input("x", x.dtype(), x.shape()));
    }
    if (!any) return;
    const Tensors made = f(ir::input("i", DType::int64, {}), state);
    for (size_t k = 0; k < init.size() && k < made.size(); ++k)
        if (init[k].type().weak) init[k] = ops::astype(init[k], made[k].dtype());
}

Body traced(const LoopBody& f, const Tensors& init, const std::string& name) {
    Body body;
    body.name = name;
    body.parameters = {ir::input("i", DType::int64, {})};
    for (size_t k = 0; k < init.size(); ++k) {
        const Tensor& x = init[k];
        body.parameters.push_back(
            ir::input(x.name().empty() ? text("x", k) : x.name(), x.dtype(), x.shape()));
    }
    for (const Tensor& x :
         f(body.parameters[0], {body.parameters.begin() + 1, body.parameters.end()}))
        body.results.push_back(numpy::strong(x));
    user_check<TypeError>(body.results.size() == init.size(), "fori_loop: the body returned ",
                          body.results.size(), " tensors for a state of ", init.size(),
                          ". As many are required.");
    return body;
}

// Tensors that are computed before the loop: nothing on the way to them is the counter or the
// state. Scalars stay where they are, as they become literals of the code.
Tensors fixed_tensors(const Body& body) {
    std::unordered_set<const Node*> moving, found;
    for (const Tensor& parameter : body.parameters) moving.insert(&parameter.node());
    Tensors fixed;
    const auto look_at = [&](const Tensor& x) {
        const bool is_scalar = ir::is_constant(x.node()) && x.size() == 1;
        if (moving.contains(&x.node()) || x.type().weak || is_scalar) return;
        for (const Tensor& known : fixed)
            if (found.contains(&x.node()) && known == x) return;
        found.insert(&x.node());
        fixed.push_back(x);
    };
    for (const Node* node : ir::topological_order(body.results)) {
        bool moves = moving.contains(node);
        for (const Tensor& operand : node->operands())
            moves = moves || moving.contains(&operand.node());
        if (moves) moving.insert(node);
    }
    for (const Node* node : ir::topological_order(body.results))
        if (moving.contains(node))
            for (const Tensor& operand : node->operands()) look_at(operand);
    for (const Tensor& result : body.results) look_at(result);
    return fixed;
}

}  // namespace

Tensors fori_loop(int64_t lower, int64_t upper, const LoopBody& f, const Tensors& given,
                  const std::string& name) {
    Tensors init = given;
    settle_dtypes(f, init);
    for (Tensor& x : init) x = numpy::strong(x);
    Body body = traced(f, init, name);
    for (size_t k = 0; k < init.size(); ++k)
        user_check<TypeError>(body.results[k].shape() == init[k].shape() &&
                                  body.results[k].dtype() == init[k].dtype(),
                              "fori_loop: the body takes part ", k, " of the state as ",
                              init[k].type(), " and returns it as ", body.results[k].type(),
                              ". Equal types are required.");
    Tensors operands = init, parameters;
    for (const Tensor& x : fixed_tensors(body)) {
        operands.push_back(x);
        parameters.push_back(ir::input(
            x.name().empty() ? text("fixed_", parameters.size()) : x.name(), x.dtype(), x.shape()));
    }
    body.results = ir::substitute(
        body.results, {operands.begin() + static_cast<long>(init.size()), operands.end()},
        parameters);
    body.parameters.insert(body.parameters.end(), parameters.begin(), parameters.end());
    return transforms::loop(std::make_shared<const Body>(std::move(body)), operands, lower, upper);
}

}  // namespace composit

// Traces the body of a loop, and takes out of it what is the same in all iterations.
#include "composit/functional/loops.h"

#include "composit/base/error.h"
#include "composit/functional/captured.h"
#include "composit/ir/body.h"
#include "composit/numpy/operand.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <memory>

namespace composit {
namespace {

using ir::Body;

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
    // What is computed before the loop. Scalars stay, as they become literals of the code.
    Tensors operands = init;
    const Tensors fixed = take_out_captured(body, ScalarConstants::stay);
    operands.insert(operands.end(), fixed.begin(), fixed.end());
    return transforms::loop(std::make_shared<const Body>(std::move(body)), operands, lower, upper);
}

}  // namespace composit

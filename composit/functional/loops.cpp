// Traces the body of a loop, and takes out of it what is the same in all iterations.
#include "composit/functional/loops.h"

#include "composit/base/error.h"
#include "composit/functional/captured.h"
#include "composit/functional/loop_body.h"
#include "composit/ir/tracing.h"
#include "composit/numpy/operand.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <memory>

namespace composit {
using ir::Body;

Tensors settled(const LoopBody& f, const Tensors& init) {
    Tensors state, result = init;
    bool any = false;
    for (const Tensor& x : init) {
        any = any || x.type().weak;
        state.push_back(x.type().weak ? x : ir::input("x", x.dtype(), x.shape()));
    }
    // What the body makes of Python's scalars, as weak as they are, decides on their dtypes.
    const ir::TraceScope scope;
    const Tensors made = any ? f(ir::input("i", DType::int64, {}), state) : Tensors();
    for (size_t k = 0; k < init.size() && k < made.size(); ++k)
        if (init[k].type().weak) result[k] = ops::astype(init[k], made[k].dtype());
    for (Tensor& x : result) x = numpy::strong(x);
    return result;
}

Body traced_body(const LoopBody& f, const Tensors& init, const std::string& name) {
    const ir::TraceScope scope;
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
    return body;
}

void check_part(std::string_view function, std::string_view words, size_t k, const Tensor& init,
                const Tensor& result) {
    user_check<TypeError>(result.shape() == init.shape() && result.dtype() == init.dtype(),
                          function, ": the body takes part ", k, " of the ", words, " as ",
                          init.type(), " and returns it as ", result.type(),
                          ". Equal types are required.");
}

Tensors loop_of(Body body, Tensors operands, int64_t lower, int64_t upper) {
    // What is computed before the loop. Scalars stay, as they become literals of the code.
    const Tensors fixed = take_out_captured(body, ScalarConstants::stay);
    operands.insert(operands.end(), fixed.begin(), fixed.end());
    return transforms::loop(std::make_shared<const Body>(std::move(body)), operands, lower, upper);
}

Tensors fori_loop(int64_t lower, int64_t upper, const LoopBody& f, const Tensors& given,
                  const std::string& name) {
    const Tensors init = settled(f, given);
    Body body = traced_body(f, init, name);
    user_check<TypeError>(body.results.size() == init.size(), "fori_loop: the body returned ",
                          body.results.size(), " tensors for a state of ", init.size(),
                          ". As many are required.");
    for (size_t k = 0; k < init.size(); ++k)
        check_part("fori_loop", "state", k, init[k], body.results[k]);
    return loop_of(std::move(body), init, lower, upper);
}

}  // namespace composit

// remat: a call whose derivative is that of the body over arguments that wait for the gradients.
#include "composit/nn/remat.h"

#include "composit/base/error.h"
#include "composit/functional/captured.h"
#include "composit/ir/body.h"
#include "composit/numpy/operand.h"
#include "composit/ops/call_rules.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <memory>
#include <string>
#include <utility>

namespace composit::nn {
namespace {

using ir::Body;
using ir::Node;
using Tensors = std::vector<Tensor>;

Tensors strong(const Tensors& tensors) {
    Tensors result;
    for (const Tensor& x : tensors) result.push_back(numpy::strong(x));
    return result;
}

// Of the body alone, whose size does not grow with what comes before it: over its parameters, and
// placeholders for what flows in.
Tensors gradients(const Node& node, const Tensors& incoming, const std::vector<bool>& wanted) {
    const Body& body = *ops::body_of_call(node);
    Tensors outputs, cotangents, given, sources;
    for (size_t i = 0; i < incoming.size(); ++i) {
        if (!incoming[i]) continue;
        outputs.push_back(body.results[i]);
        cotangents.push_back(ir::input("g", incoming[i].dtype(), incoming[i].shape()));
        given.push_back(incoming[i]);
    }
    for (size_t k = 0; k < wanted.size(); ++k)
        if (wanted[k]) sources.push_back(body.parameters[k]);
    const Tensors traced = transforms::vjp(outputs, cotangents, sources);

    // The arguments wait for the gradients: the body is not computed again before they are there,
    // and is another computation than that of the forward pass.
    Tensors from = body.parameters, to = ops::after(strong(node.operands()), given);
    from.insert(from.end(), cotangents.begin(), cotangents.end());
    to.insert(to.end(), given.begin(), given.end());
    // All gradients are computed before any of them is used: then what was computed again goes,
    // before the layer below computes its own.
    const Tensors back = ops::after(ir::substitute(traced, from, to), {});
    Tensors result(wanted.size());
    for (size_t k = 0, next = 0; k < wanted.size(); ++k)
        if (wanted[k]) result[k] = back[next++];
    return result;
}

// Forward mode keeps nothing for later: it is that of the body.
Tensors tangents_of(const Node& node, const Tensors& given) {
    const Body& body = *ops::body_of_call(node);
    Tensors sources, directions, from = body.parameters, to = strong(node.operands());
    for (size_t k = 0; k < given.size(); ++k) {
        if (!given[k]) continue;
        sources.push_back(body.parameters[k]);
        directions.push_back(ir::input("tangent", given[k].dtype(), given[k].shape()));
        from.push_back(directions.back());
        to.push_back(given[k]);
    }
    return ir::substitute(transforms::jvp(body.results, sources, directions), from, to);
}

constexpr const char* rules_name = "remat";

}  // namespace

void register_remat() {
    ops::register_call_rules(rules_name, {.of = {.vjp = gradients, .jvp = tangents_of}});
}

TensorFunction remat(TensorFunction function, std::string_view name) {
    return [function = std::move(function), name = std::string(name)](const Tensors& arguments) {
        Body body;
        body.name = name;
        for (size_t i = 0; i < arguments.size(); ++i) {
            const Tensor& x = arguments[i];
            body.parameters.push_back(
                ir::input(x.name().empty() ? text("x", i) : x.name(), x.dtype(), x.shape()));
        }
        const Tensors results = function(body.parameters);
        user_check(!results.empty(), "remat: ", name, " returned nothing. A tensor is required.");
        body.results = strong(results);
        const Tensors captured = take_out_captured(body, ScalarConstants::come_out);
        Tensors operands = strong(arguments);
        operands.insert(operands.end(), captured.begin(), captured.end());
        register_remat();
        return ops::call_with_rules(rules_name, std::make_shared<const Body>(body), operands);
    };
}

}  // namespace composit::nn

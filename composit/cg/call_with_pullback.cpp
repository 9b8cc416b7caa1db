// call_with_pullback: a call whose derivative is a graph of its own.
#include "composit/base/error.h"
#include "composit/cg/jacobians.h"
#include "composit/ir/check.h"
#include "composit/ir/operation.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

namespace composit::cg {

using ir::Attributes;
using ir::Body;
using ir::Node;
using ir::TensorType;
using BodyRef = std::shared_ptr<const Body>;
using Flags = std::vector<bool>;

namespace {

Tensors strong(const Tensors& tensors) {
    Tensors result;
    for (const Tensor& x : tensors) result.push_back(ops::astype(x, x.dtype()));
    return result;
}

bool is_alike(const Tensor& a, const Tensor& b) {
    return a.shape() == b.shape() && a.dtype() == b.dtype();
}

void check(const Tensors& arguments, const Attributes& attributes) {
    const char* name = "call_with_pullback";
    const Body& body = *ir::checked_attribute<BodyRef>(name, attributes, "body");
    const Body& pullback = *ir::checked_attribute<BodyRef>(name, attributes, "pullback");
    Tensors needed = body.parameters;
    needed.insert(needed.end(), body.results.begin(), body.results.end());
    bool fits = arguments.size() == body.parameters.size() &&
                pullback.parameters.size() == needed.size() &&
                pullback.results.size() == arguments.size();
    for (size_t i = 0; fits && i < needed.size(); ++i)
        fits = is_alike(needed[i], pullback.parameters[i]);
    for (size_t i = 0; fits && i < arguments.size(); ++i)
        fits = is_alike(pullback.results[i], body.parameters[i]);
    user_check<TypeError>(fits, body.name, ": the pullback has ", pullback.parameters.size(),
                          " parameters and ", pullback.results.size(), " results for ",
                          arguments.size(), " arguments and ", body.results.size(),
                          " results. A parameter for each argument and each result, and a result "
                          "for each argument, of their types, are required.");
}

std::vector<TensorType> infer(const Tensors& arguments, const Attributes& attributes) {
    const Body& body = *attributes.get<BodyRef>("body");
    for (size_t i = 0; i < arguments.size(); ++i)
        user_check(is_alike(arguments[i], body.parameters[i]), body.name, ": argument ", i,
                   " has type ", arguments[i].type(), ". ", body.parameters[i].type(),
                   " is required.");
    std::vector<TensorType> types;
    for (const Tensor& result : body.results) types.push_back({result.shape(), result.dtype()});
    return types;
}

Tensors vjp(const Node& node, const Tensors& gradients, const Flags& wanted) {
    Tensors arguments = strong(node.operands());
    for (size_t i = 0; i < gradients.size(); ++i) {
        const TensorType& type = node.types()[i];
        const Tensor zero = ir::constant(ir::Array::zeros(type.dtype, {}));
        arguments.push_back(gradients[i] ? gradients[i] : ops::full(type.shape, zero));
    }
    Tensors result = ir::inline_body(*node.attributes().get<BodyRef>("pullback"), arguments);
    for (size_t i = 0; i < result.size(); ++i)
        if (!wanted[i]) result[i] = {};
    return result;
}

// A body over parameters with a leading axis where batched[i]; with which all results have it.
Body batched_body(const Body& body, const Flags& batched, int64_t size) {
    Body result{body.name, {}, {}};
    Tensors from, to;
    for (size_t i = 0; i < body.parameters.size(); ++i) {
        const Tensor& old = body.parameters[i];
        ir::Shape shape = old.shape();
        if (batched[i]) shape.insert(shape.begin(), size);
        result.parameters.push_back(batched[i] ? ir::input(old.name(), old.dtype(), shape) : old);
        if (!batched[i]) continue;
        from.push_back(old);
        to.push_back(result.parameters.back());
    }
    result.results = transforms::vmap(body.results, from, to);
    return result;
}

Tensors batch(const Node& node, const Tensors& operands, const Flags& batched, int64_t size) {
    const Body& old = *node.attributes().get<BodyRef>("pullback");
    Flags flags = batched;
    flags.resize(old.parameters.size(), true);
    Body pullback = batched_body(old, flags, size);
    // What is the same for all gets the sum of what comes back.
    for (size_t i = 0; i < operands.size(); ++i)
        if (!batched[i])
            pullback.results[i] = ir::is_inexact(pullback.results[i].dtype())
                                      ? ops::reduce(ops::Combiner::sum, pullback.results[i], {0})
                                      : ops::zeros_like(operands[i]);
    Body body = batched_body(*node.attributes().get<BodyRef>("body"), batched, size);
    return call_with_pullback(std::make_shared<const Body>(std::move(body)),
                              std::make_shared<const Body>(std::move(pullback)), operands);
}

const ir::Operation& operation() {
    static const ir::Operation& registered = ir::register_operation({
        .name = "call_with_pullback",
        .doc = "A named graph applied to arguments, and the graph of its derivative.",
        .infer = infer,
        .vjp = vjp,
        .batch = batch,
        .decompose =
            [](const Node& node) {
                return ir::inline_body(*node.attributes().get<BodyRef>("body"),
                                       strong(node.operands()));
            },
        .label = [](const Node& node) { return node.attributes().get<BodyRef>("body")->name; },
        .check = check,
    });
    return registered;
}

}  // namespace

Tensors call_with_pullback(BodyRef body, BodyRef pullback, const Tensors& arguments) {
    const Attributes attributes{{"body", std::move(body)}, {"pullback", std::move(pullback)}};
    check(arguments, attributes);
    return ir::outputs_of(ir::make_node(operation(), arguments, attributes));
}

void register_operations() { operation(); }

}  // namespace composit::cg

// Calls whose derivative is a graph of its own, and values that refuse to have one.
#include "composit/base/error.h"
#include "composit/cg/jacobians.h"
#include "composit/functional/captured.h"
#include "composit/ir/check.h"
#include "composit/ir/operation.h"
#include "composit/ops/call_rules.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

namespace composit::cg {

using ir::Attributes;
using ir::Body;
using ir::Node;
using ir::TensorType;
using ops::BodyRef;
using Flags = std::vector<bool>;

namespace {

Tensors strong(const Tensors& tensors) {
    Tensors result;
    for (const Tensor& x : tensors) result.push_back(ops::astype(x, x.dtype()));
    return result;
}

constexpr const char* rules_name = "call_with_pullback";

bool is_alike(const Tensor& a, const Tensor& b) {
    return a.shape() == b.shape() && a.dtype() == b.dtype();
}

void check(const Tensors& arguments, const Attributes& attributes) {
    const char* name = rules_name;
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
    if (attributes.has("differentiable"))
        (void)ir::checked_attribute<int64_t>(name, attributes, "differentiable");
}

int64_t differentiable_of(const Node& node) {
    return node.attributes().has("differentiable")
               ? node.attributes().get<int64_t>("differentiable")
               : static_cast<int64_t>(node.operands().size());
}

Tensors vjp(const Node& node, const Tensors& gradients, const Flags& wanted) {
    Tensors arguments = strong(node.operands());
    for (size_t i = 0; i < gradients.size(); ++i) {
        const TensorType& type = node.types()[i];
        const Tensor zero = ir::constant(ir::Array::zeros(type.dtype, {}));
        arguments.push_back(gradients[i] ? gradients[i] : ops::full(type.shape, zero));
    }
    Tensors result = ir::inline_body(*node.attributes().get<BodyRef>("pullback"), arguments);
    const auto differentiable = static_cast<size_t>(differentiable_of(node));
    for (size_t i = 0; i < result.size(); ++i)
        if (!wanted[i] || i >= differentiable) result[i] = {};
    return result;
}

Tensors batch(const Node& node, const Tensors& operands, const Flags& batched, int64_t size) {
    const Body& old = *node.attributes().get<BodyRef>("pullback");
    Flags flags = batched;
    flags.resize(old.parameters.size(), true);
    Body pullback = transforms::batched_body(old, flags, size);
    // What is the same for all gets the sum of what comes back.
    for (size_t i = 0; i < operands.size(); ++i)
        if (!batched[i])
            pullback.results[i] = ir::is_inexact(pullback.results[i].dtype())
                                      ? ops::reduce(ops::Combiner::sum, pullback.results[i], {0})
                                      : ops::zeros_like(operands[i]);
    Body body = transforms::batched_body(*ops::body_of_call(node), batched, size);
    return call_with_pullback(std::make_shared<const Body>(std::move(body)),
                              std::make_shared<const Body>(std::move(pullback)), operands,
                              differentiable_of(node));
}

void register_rules() {
    ops::register_call_rules(rules_name, {.of = {.vjp = vjp, .batch = batch}, .check = check});
}

const ir::Operation& refusing_operation() {
    static const ir::Operation& registered = ir::register_operation({
        .name = "refuse_gradient",
        .doc = "The operand; an error with a message where it is differentiated.",
        .infer =
            [](const Tensors& x, const Attributes&) {
                return std::vector<TensorType>{{x[0].shape(), x[0].dtype()}};
            },
        .vjp = [](const Node& node, const Tensors&, const Flags&) -> Tensors {
            fail<NotSupported>(node.attributes().get<std::string>("message"));
        },
        .batch =
            [](const Node& node, const Tensors& x, const Flags&, int64_t) {
                return Tensors{
                    refuse_gradient(x[0], node.attributes().get<std::string>("message"))};
            },
        .decompose = [](const Node& node) { return strong(node.operands()); },
        .check =
            [](const Tensors& x, const Attributes& attributes) {
                ir::check_operand_count("refuse_gradient", x, 1);
                (void)ir::checked_attribute<std::string>("refuse_gradient", attributes, "message");
            },
    });
    return registered;
}

}  // namespace

Tensors call_with_pullback(BodyRef body, BodyRef pullback, const Tensors& arguments,
                           std::optional<int64_t> differentiable) {
    Attributes attributes{{"pullback", std::move(pullback)}};
    if (differentiable && *differentiable < static_cast<int64_t>(arguments.size()))
        attributes = {{"differentiable", *differentiable}, attributes.items()[0]};
    register_rules();
    return ops::call_with_rules(rules_name, std::move(body), arguments, std::move(attributes));
}

// The call takes the inputs, which have the gradients, the values, which it returns, and whatever
// the gradients need beside the cotangents.
Tensors with_pullback(const std::string& name, const Tensors& inputs, const Tensors& values,
                      const Tensors& cotangents, const Tensors& gradients) {
    Body gradient{name + "_back", cotangents, strong(gradients)};
    const Tensors needed = take_out_captured(gradient, ScalarConstants::stay);
    Body body{name, {}, {}}, pullback{gradient.name, {}, gradient.results};
    Tensors arguments;
    const auto add = [&](const Tensor& x, const Tensor& parameter) {
        arguments.push_back(ops::astype(x, x.dtype()));
        body.parameters.push_back(parameter);
        pullback.parameters.push_back(parameter);
    };
    const auto placeholder = [](const char* what, const Tensor& x) {
        return ir::input(what, x.dtype(), x.shape());
    };
    for (const Tensor& x : inputs) add(x, placeholder("input", x));
    for (const Tensor& y : values) {
        add(y, placeholder("value", y));
        body.results.push_back(body.parameters.back());
    }
    for (size_t i = 0; i < needed.size(); ++i)
        add(needed[i], gradient.parameters[cotangents.size() + i]);
    for (size_t i = inputs.size(); i < arguments.size(); ++i)
        pullback.results.push_back(ops::zeros_like(body.parameters[i]));
    pullback.parameters.insert(pullback.parameters.end(), cotangents.begin(), cotangents.end());
    return call_with_pullback(std::make_shared<const Body>(std::move(body)),
                              std::make_shared<const Body>(std::move(pullback)), arguments,
                              static_cast<int64_t>(inputs.size()));
}

Tensor refuse_gradient(const Tensor& x, const std::string& message) {
    return ir::make(refusing_operation(), {x}, {{"message", message}});
}

void register_operations() {
    register_rules();
    refusing_operation();
}

}  // namespace composit::cg

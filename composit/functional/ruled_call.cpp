#include "composit/functional/ruled_call.h"

#include "composit/base/error.h"
#include "composit/functional/captured.h"
#include "composit/ir/body.h"
#include "composit/ir/check.h"
#include "composit/ir/operation.h"
#include "composit/ops/call_rules.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_set>

namespace composit {
namespace {

using ir::Attributes;
using ir::Body;
using ir::Node;
using ir::Tensor;
using ir::TensorType;
using Tensors = std::vector<Tensor>;
using Flags = std::vector<bool>;
using ops::BodyRef;

constexpr const char* rules_name = "ruled_call";

// The bodies with rules that are alive: text that was parsed has bodies without.
struct Known {
    std::mutex mutex;
    std::unordered_set<const Body*> bodies;
};

Known& known() {
    static auto* all = new Known;  // bodies may outlive what is static
    return *all;
}

// Attributes hold bodies, so rules are part of one.
struct RuledBody : Body {
    RuledBody(Body body, size_t count, std::shared_ptr<const Rules> given)
        : Body(std::move(body)), input_count(count), rules(std::move(given)) {
        const std::lock_guard lock(known().mutex);
        known().bodies.insert(this);
    }
    RuledBody(const RuledBody&) = delete;
    RuledBody& operator=(const RuledBody&) = delete;
    ~RuledBody() {
        const std::lock_guard lock(known().mutex);
        known().bodies.erase(this);
    }

    size_t input_count;  // what follows was captured
    std::shared_ptr<const Rules> rules;
};

const RuledBody& body_of(const Node& node) {
    return static_cast<const RuledBody&>(*node.attributes().get<BodyRef>("body"));
}

Tensors strong(Tensors tensors) {
    for (Tensor& x : tensors) x = ops::astype(x, x.dtype());
    return tensors;
}

Tensors inputs_of(const Node& node) {
    const auto begin = node.operands().begin();
    return strong({begin, begin + static_cast<long>(body_of(node).input_count)});
}

bool is_any(const Tensors& tensors) {
    for (const Tensor& x : tensors)
        if (x) return true;
    return false;
}

void check_made(const Node& node, const char* what, const Tensors& made, const Tensors& like) {
    const std::string& name = body_of(node).name;
    user_check<TypeError>(made.size() == like.size(), name, ": the rule of ", what, " gave ",
                          made.size(), " tensors. ", like.size(), " are required.");
    for (size_t i = 0; i < made.size(); ++i)
        user_check(
            !made[i] || (made[i].shape() == like[i].shape() && made[i].dtype() == like[i].dtype()),
            name, ": the rule of ", what, " gave ", made[i] ? made[i].type() : TensorType{},
            " in place ", i, ". ", like[i].type(), " is required.");
}

Tensors vjp(const Node& node, const Tensors& gradients, const Flags&) {
    Tensors made(node.operands().size());
    if (!is_any(gradients)) return made;
    const Tensors inputs = inputs_of(node);
    const Tensors outputs = ir::outputs_of(Ref<Node>(&node));
    Tensors found = body_of(node).rules->vjp(inputs, outputs, gradients);
    check_made(node, "vjp", found, inputs);
    std::move(found.begin(), found.end(), made.begin());
    return made;
}

Tensors jvp(const Node& node, const Tensors& tangents) {
    const size_t count = body_of(node).input_count;
    const Tensors of_inputs(tangents.begin(), tangents.begin() + static_cast<long>(count));
    if (!is_any(of_inputs)) return Tensors(static_cast<size_t>(node.output_count()));
    const Tensors outputs = ir::outputs_of(Ref<Node>(&node));
    Tensors made = body_of(node).rules->jvp(inputs_of(node), outputs, of_inputs);
    check_made(node, "jvp", made, outputs);
    return made;
}

Tensors made_call(Body body, size_t input_count, const Tensors& arguments,
                  std::shared_ptr<const Rules> rules);

Tensors batch(const Node& node, const Tensors& operands, const Flags& batched, int64_t size) {
    const RuledBody& old = body_of(node);
    const auto count = static_cast<long>(old.input_count);
    const Tensors inputs(operands.begin(), operands.begin() + count);
    const Flags of_inputs(batched.begin(), batched.begin() + count);
    if (Tensors made = old.rules->batch(strong(inputs), of_inputs, size); !made.empty())
        return made;
    Body body = transforms::batched_body(old, batched, size);
    return made_call(std::move(body), old.input_count, operands,
                     old.rules->rules_of_batch(of_inputs, size));
}

void check(const Tensors& operands, const Attributes& attributes) {
    const auto& body = attributes.get<BodyRef>("body");
    (void)ir::checked_attribute<int64_t>(rules_name, attributes, "number");
    user_check(body->parameters.size() == operands.size(), rules_name, ": ", operands.size(),
               " operands. ", body->parameters.size(), " are required.");
    const std::lock_guard lock(known().mutex);
    user_check<NotSupported>(known().bodies.contains(body.get()), rules_name, ": the rules of ",
                             body->name,
                             " are functions, which no text holds. A graph that was "
                             "built, or one without rules, is required.");
}

Tensors made_call(Body body, size_t input_count, const Tensors& arguments,
                  std::shared_ptr<const Rules> rules) {
    static std::atomic<int64_t> number{0};  // two calls with equal bodies may have other rules
    const BodyRef ruled =
        std::make_shared<const RuledBody>(std::move(body), input_count, std::move(rules));
    ops::register_call_rules(rules_name,
                             {.of = {.vjp = vjp, .jvp = jvp, .batch = batch}, .check = check});
    return ops::call_with_rules(rules_name, ruled, arguments, {{"number", number++}});
}

}  // namespace

std::vector<Tensor> ruled_call(const std::string& name, const std::vector<Tensor>& parameters,
                               const std::vector<Tensor>& results,
                               const std::vector<Tensor>& arguments,
                               std::shared_ptr<const Rules> rules) {
    user_check<TypeError>(arguments.size() == parameters.size(), name, ": ", arguments.size(),
                          " arguments given. ", parameters.size(), " are required.");
    Body body{name, parameters, strong(results)};
    Tensors all = strong(arguments);
    const Tensors captured = take_out_captured(body, ScalarConstants::stay);
    all.insert(all.end(), captured.begin(), captured.end());
    return made_call(std::move(body), parameters.size(), all, std::move(rules));
}

std::vector<Tensor> without_rules(const std::vector<Tensor>& tensors) {
    return transforms::inline_calls(
        tensors, [](const Node& node) { return ops::rules_of_call(node) != rules_name; });
}

}  // namespace composit

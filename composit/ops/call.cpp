// call: a named body applied to arguments, which may follow rules of its own; and the list of all
// operations.
#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ir/print.h"
#include "composit/ops/call_rules.h"
#include "composit/ops/ops.h"
#include "composit/ops/rules.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace composit::ops {

using ir::Body;

void register_after();
void register_transfer();
void register_map();
void register_bitcast();
void register_reduce();
void register_contract();
void register_convolve();
void register_layout();
void register_pad();
void register_element();
void register_with_slice();
void register_with_values();
void register_sort();
void register_search();
void register_windows();
void register_gather();
void register_foreign_calls();
void register_forgotten();
void register_procedure();
void register_solve();
void register_least_squares();
void register_decompositions();

namespace {

struct KnownRules {
    std::mutex mutex;
    std::map<std::string, CallRules> by_name;  // for good: nodes point to them
};
KnownRules& known_rules() {
    static auto* all = new KnownRules;
    return *all;
}

// Null: there are none of that name.
const CallRules* find_rules(const std::string& name) {
    KnownRules& known = known_rules();
    const std::lock_guard lock(known.mutex);
    const auto found = known.by_name.find(name);
    return found == known.by_name.end() ? nullptr : &found->second;
}

const Body& body_of(const Attributes& attributes) { return *attributes.get<BodyRef>("body"); }

std::vector<TensorType> infer(const std::vector<Tensor>& arguments, const Attributes& attributes) {
    const Body& body = body_of(attributes);
    user_check<TypeError>(arguments.size() == body.parameters.size(), body.name, ": ",
                          arguments.size(), " arguments given. ", body.parameters.size(),
                          " required.");
    for (size_t i = 0; i < arguments.size(); ++i)
        user_check(arguments[i].shape() == body.parameters[i].shape() &&
                       arguments[i].dtype() == body.parameters[i].dtype(),
                   body.name, ": argument ", i, " has type ", arguments[i].type(), ". ",
                   body.parameters[i].type(), " is required.");
    const bool is_strong = attributes.has("rules");
    std::vector<TensorType> types;
    for (const Tensor& result : body.results)
        types.push_back(is_strong ? TensorType{result.shape(), result.dtype()} : result.type());
    return types;
}

// Parameters are strong, even where a Python scalar is given.
std::vector<Tensor> decompose(const Node& node) {
    std::vector<Tensor> arguments;
    for (const Tensor& argument : node.operands())
        arguments.push_back(astype(argument, argument.dtype()));
    return ir::inline_body(body_of(node.attributes()), arguments);
}

void check(const std::vector<Tensor>& arguments, const Attributes& attributes) {
    ir::checked_attribute<BodyRef>("call", attributes, "body");
    if (!attributes.has("rules")) return;
    const auto& name = ir::checked_attribute<std::string>("call", attributes, "rules");
    const CallRules* const rules = find_rules(name);
    user_check(rules != nullptr, "call: there are no rules ", ir::quoted(name),
               ". Rules that were registered are required.");
    if (rules->check) rules->check(arguments, attributes);
}

bool may_fail(const Node& node) {
    const auto& results = body_of(node.attributes()).results;
    return std::any_of(results.begin(), results.end(),
                       [](const Tensor& result) { return result.node().may_fail(); });
}

const ir::TransformRules* rules_of(const Node& node) {
    const std::string name = rules_of_call(node);
    return name.empty() ? nullptr : &find_rules(name)->of;
}

const ir::Operation& call_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "call",
        .doc = "A named graph applied to arguments; kept whole in pictures, inlined when lowered.",
        .infer = infer,
        .rules = rules_of,
        .decompose = decompose,
        .label = [](const Node& node) { return body_of(node.attributes()).name; },
        .check = check,
        .may_fail = may_fail,
    });
    return operation;
}

}  // namespace

void register_call_rules(const std::string& name, CallRules rules) {
    KnownRules& known = known_rules();
    const std::lock_guard lock(known.mutex);
    known.by_name.try_emplace(name, std::move(rules));
}

const Body* body_of_call(const Node& node) {
    return &node.operation() == &call_operation() ? &body_of(node.attributes()) : nullptr;
}

std::string rules_of_call(const Node& node) {
    return body_of_call(node) && node.attributes().has("rules")
               ? node.attributes().get<std::string>("rules")
               : std::string();
}

std::vector<Tensor> call_with_rules(const std::string& rules, BodyRef body,
                                    const std::vector<Tensor>& arguments, Attributes more) {
    auto items = more.items();
    items.emplace_back("body", std::move(body));
    items.emplace_back("rules", rules);
    const auto attributes = Attributes::from(std::move(items));
    check(arguments, attributes);
    return ir::outputs_of(ir::make_node(call_operation(), arguments, attributes));
}

std::vector<Tensor> call(BodyRef body, const std::vector<Tensor>& arguments) {
    return ir::outputs_of(ir::make_node(call_operation(), arguments, {{"body", std::move(body)}}));
}

void register_operations() {
    register_after();
    register_transfer();
    register_map();
    register_bitcast();
    register_reduce();
    register_contract();
    register_convolve();
    register_layout();
    register_pad();
    register_element();
    register_with_slice();
    register_with_values();
    register_sort();
    register_search();
    register_windows();
    register_gather();
    register_foreign_calls();
    register_forgotten();
    register_procedure();
    register_solve();
    register_least_squares();
    register_decompositions();
    call_operation();
    ir::constant(Array::scalar(DType::float32, 0));  // leaves register themselves when first made
    ir::input("x", DType::float32, {});
}

}  // namespace composit::ops

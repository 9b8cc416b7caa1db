// call: a named body applied to arguments; and the list of all operations.
#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ir/operation.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::ops {

using ir::Attributes;
using ir::Body;
using ir::Node;
using ir::TensorType;
using BodyRef = std::shared_ptr<const Body>;

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

const ir::Operation& call_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "call",
        .doc = "A named graph applied to arguments; kept whole in pictures, inlined when lowered.",
        .infer =
            [](const std::vector<Tensor>& arguments, const Attributes& attributes) {
                const Body& body = *attributes.get<BodyRef>("body");
                user_check<TypeError>(arguments.size() == body.parameters.size(), body.name, ": ",
                                      arguments.size(), " arguments given. ",
                                      body.parameters.size(), " required.");
                for (size_t i = 0; i < arguments.size(); ++i)
                    user_check(arguments[i].shape() == body.parameters[i].shape() &&
                                   arguments[i].dtype() == body.parameters[i].dtype(),
                               body.name, ": argument ", i, " has type ", arguments[i].type(), ". ",
                               body.parameters[i].type(), " is required.");
                std::vector<TensorType> types;
                for (const Tensor& result : body.results) types.push_back(result.type());
                return types;
            },
        .decompose =
            [](const Node& node) {
                std::vector<Tensor>
                    arguments;  // parameters are strong, even where a Python scalar is given
                for (const Tensor& argument : node.operands())
                    arguments.push_back(astype(argument, argument.dtype()));
                return ir::inline_body(*node.attributes().get<BodyRef>("body"), arguments);
            },
        .label = [](const Node& node) { return node.attributes().get<BodyRef>("body")->name; },
        .check =
            [](const std::vector<Tensor>&, const Attributes& attributes) {
                ir::checked_attribute<BodyRef>("call", attributes, "body");
            },
        .may_fail =
            [](const Node& node) {
                const auto& results = node.attributes().get<BodyRef>("body")->results;
                return std::any_of(results.begin(), results.end(),
                                   [](const Tensor& result) { return result.node().may_fail(); });
            },
    });
    return operation;
}

}  // namespace

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

// Tensors of dtypes that no kernel has, replaced by their components: complex ones by two real
// ones, short floats by float32 of the same values.
//
// In memory, what comes from outside and what goes there, complex numbers lie as pairs, 16-bit
// floats as their bits.
#include "composit/transforms/represent.h"

#include "composit/base/error.h"
#include "composit/ir/body.h"
#include "composit/ir/operation.h"
#include "composit/ops/components.h"
#include "composit/ops/storage.h"
#include "composit/transforms/loop.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace composit::transforms {

using ir::Array;
using ir::Body;
using ir::Components;
using ir::DType;
using ir::Node;
using ir::TensorType;
using ops::has_components;
using BodyRef = std::shared_ptr<const Body>;
using Tensors = std::vector<Tensor>;

namespace {

bool needs_components(const Tensors& tensors) {
    for (const Node* node : ir::topological_order(tensors)) {
        if (has_components(*node)) return true;
        if (is_loop(*node) && needs_components(LoopParts(*node).body.results)) return true;
    }
    return false;
}

// Constants that will not change: of one element the components themselves, which the code may
// hold; else the same memory.
Components constant_components(const Node& node) {
    const TensorType& type = node.types()[0];
    const Array value = ir::constant_value(node);
    if (value.size() != 1 || ir::is_short_float(type.dtype)) {
        const TensorType stored = ops::storage_type(type);
        const Array memory = value.is_remote() ? Array(stored.dtype, stored.shape, value.remote())
                                               : Array(stored.dtype, stored.shape, value.owner(),
                                                       value.mutable_data(), value.is_borrowed());
        return ops::from_storage(ir::constant(memory, node.name()), type);
    }
    const auto part = [&](size_t which) {
        Array number(ir::real_part_of(type.dtype), type.shape);
        const auto bytes = static_cast<size_t>(number.bytes());
        std::memcpy(number.mutable_data(), value.data_as<char>() + which * bytes, bytes);
        return ir::constant(number);
    };
    return {part(0), part(1)};
}

class Representation {
  public:
    explicit Representation(bool constants_are_inputs)
        : constants_are_inputs_(constants_are_inputs) {}

    void bind(const Tensor& tensor, const Components& components) {
        done_[&tensor.node()] = {components};
    }

    std::vector<Components> run(const Tensors& tensors) {
        for (const Node* node : ir::topological_order(tensors)) {
            if (done_.contains(node)) continue;
            const ir::LocationScope scope(*node);
            done_[node] = components_of(*node);
        }
        std::vector<Components> result;
        for (const Tensor& x : tensors) result.push_back(current(x));
        return result;
    }

  private:
    Components current(const Tensor& x) const {
        return done_.at(&x.node())[static_cast<size_t>(x.output_index())];
    }

    static std::vector<Components> as_they_are(const Tensors& tensors) {
        std::vector<Components> result;
        for (const Tensor& x : tensors) result.push_back({x, {}});
        return result;
    }

    std::vector<Components> components_of(const Node& node) {
        if (node.operands().empty()) return leaf(node);
        std::vector<Components> operands;
        Tensors real;
        bool differs = false;
        for (const Tensor& x : node.operands()) {
            operands.push_back(current(x));
            real.push_back(operands.back().re);
            differs = differs || !(operands.back().re == x);
        }
        if (is_loop(node)) return loop_components(node, operands);
        if (has_components(node))
            return node.operation().by_components ? node.operation().by_components(node, operands)
                                                  : ops::each_component(node, operands);
        if (!differs) return as_they_are(ir::outputs_of(Ref<Node>(&node)));
        return as_they_are(ir::outputs_of(ir::with_operands(node, real)));
    }

    std::vector<Components> leaf(const Node& node) const {
        const Tensor tensor(Ref<Node>(&node), 0);
        if (node.output_count() != 1 || !has_components(tensor.dtype()))
            return as_they_are(ir::outputs_of(tensor.node_ref()));
        if (ir::is_constant(node) && !constants_are_inputs_) return {constant_components(node)};
        return {ops::from_storage(ops::stored(tensor), tensor.type())};
    }

    // The state in components: a complex one is two.
    std::vector<Components> loop_components(const Node& node,
                                            const std::vector<Components>& operands) const {
        const LoopParts parts(node);
        Body body{parts.body.name, {parts.counter()}, {}};
        Tensors flat;
        Representation inner(constants_are_inputs_);
        for (size_t k = 0; k < parts.operands(); ++k) {
            const Tensor& parameter = parts.parameter(k);
            const auto fresh = [&](const Tensor& operand, const char* ending) {
                flat.push_back(operand);
                body.parameters.push_back(
                    ir::input(parameter.name() + ending, operand.dtype(), parameter.shape()));
                return body.parameters.back();
            };
            if (!has_components(parameter.dtype())) {
                flat.push_back(operands[k].re);
                body.parameters.push_back(parameter);
                inner.bind(parameter, {parameter, {}});
                continue;
            }
            const Tensor re = fresh(operands[k].re, operands[k].im ? "_re" : "");
            inner.bind(parameter, {re, operands[k].im ? fresh(operands[k].im, "_im") : Tensor()});
        }
        for (const Components& result : inner.run(parts.body.results)) {
            body.results.push_back(result.re);
            if (result.im) body.results.push_back(result.im);
        }
        const Tensors last =
            loop(std::make_shared<const Body>(std::move(body)), flat, parts.begin, parts.end);
        std::vector<Components> result;
        for (size_t k = 0, next = 0; k < parts.states; ++k) {
            result.push_back({last[next++], {}});
            if (operands[k].im) result.back().im = last[next++];
        }
        return result;
    }

    bool constants_are_inputs_;
    std::unordered_map<const Node*, std::vector<Components>> done_;
};

}  // namespace

Tensors represent(const Tensors& outputs, bool constants_are_inputs) {
    if (!needs_components(outputs)) return outputs;
    Tensors result;
    const auto components = Representation(constants_are_inputs).run(outputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
        const ir::LocationScope scope(outputs[i].node());
        result.push_back(ops::to_storage(components[i], outputs[i].type()));
    }
    return result;
}

}  // namespace composit::transforms

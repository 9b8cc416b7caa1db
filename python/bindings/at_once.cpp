// Graphs that are evaluated while they are made, over the values that are known already.
#include "at_once.h"

#include "composit/execute/execute.h"
#include "composit/ir/body.h"
#include "interpreter_lock.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

struct Known {
    Tensor tensor;
    Tensor value;  // a constant
    const LazyTensor* owner = nullptr;
};

// By node. Each owner has one entry at most. Guarded by the interpreter's lock.
std::unordered_map<const ir::Node*, Known>& known() {
    static auto* values = new std::unordered_map<const ir::Node*, Known>;
    return *values;
}

void keep_value(const Tensor& tensor, Tensor value, const LazyTensor& owner) {
    forget_value(owner);
    known()[&tensor.node()] = {tensor, std::move(value), &owner};
    owner.known_node = &tensor.node();
}

// What `tensor` is made of, as far as it is not known; nothing where a placeholder is among it.
struct Ground {
    bool is_complete = true;
    std::vector<Tensor> tensors = {}, values = {};
};

Ground ground_of(const Tensor& tensor) {
    Ground ground;
    std::unordered_set<const ir::Node*> seen;
    std::vector<Tensor> open{tensor};
    while (!open.empty()) {
        const Tensor x = std::move(open.back());
        open.pop_back();
        const auto found = known().find(&x.node());
        const bool is_known = found != known().end() && found->second.tensor == x;
        if (!seen.insert(&x.node()).second && !is_known) continue;
        if (ir::is_input(x.node())) return {.is_complete = false};
        if (is_known) {
            ground.tensors.push_back(x);
            ground.values.push_back(found->second.value);
            continue;
        }
        for (const Tensor& operand : x.node().operands()) open.push_back(operand);
    }
    return ground;
}

}  // namespace

void evaluate_at_once(const Tensor& tensor, const LazyTensor& owner) {
    if (ir::is_constant(tensor.node())) return;
    const Ground ground = ground_of(tensor);
    if (!ground.is_complete) return;
    const Tensor rest = ir::substitute({tensor}, ground.tensors, ground.values)[0];
    std::vector<ir::Array> values;
    {
        const Released released;
        values = execute::evaluate({rest});
    }
    keep_value(tensor, ir::constant(std::move(values[0])), owner);
}

void forget_value(const LazyTensor& owner) {
    const auto found = known().find(std::exchange(owner.known_node, nullptr));
    if (found == known().end() || found->second.owner != &owner) return;
    const Known dying = std::move(found->second);  // freed when the table is as it will be
    known().erase(found);
}

}  // namespace composit::python

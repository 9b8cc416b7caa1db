#include "composit/eager/tape_gradients.h"

#include "composit/ir/body.h"
#include "composit/ir/graph.h"
#include "composit/ir/operation.h"
#include "composit/nn/training.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_map>
#include <utility>

namespace composit::eager {

using Tensors = std::vector<Tensor>;

Tensors chain_rule(const Tensors& outputs, const Tensors& flows, const Tensors& ends) {
    std::vector<std::pair<Tensor, Tensor>> incoming;
    for (size_t i = 0; i < outputs.size(); ++i) {
        // An output that flows into itself would be read as ones.
        const bool is_itself = &flows[i].node() == &outputs[i].node();
        incoming.emplace_back(outputs[i], is_itself ? flows[i] * 1 : flows[i]);
    }
    return nn::chain_rule(incoming, ends);
}

GradientRule chain_rule_of(Tensors flows) {
    return [flows = std::move(flows)](const Tensors& outputs, const Tensors& ends) {
        return chain_rule(outputs, flows, ends);
    };
}

namespace {

// What was saved: the tensors then, and what is there now.
struct Saved {
    Tensors before, now;
    // A detached name of a leaf holds the leaf's node, of which operations read a stop_gradient.
    // Where the leaf was given other data the name shows what it did.
    Tensors detached, shown;
    bool may_differ = false;

    explicit Saved(const std::vector<Ref<Record>>& records) {
        std::unordered_map<const ir::Node*, const SavedValue*> leaves;
        const auto each = [&](const auto& use) {
            for (const Ref<Record>& record : records)
                for (const SavedValue& value : record->saved()) use(value);
        };
        each([&](const SavedValue& value) {
            may_differ = may_differ || value.may_differ();
            if (value.leaf() && value.may_differ()) leaves[&value.before().node()] = &value;
        });
        if (!may_differ) return;
        each([&](const SavedValue& value) {
            const auto leaf = leaves.find(&value.before().node());
            const Tensor here = value.now();
            const bool is_detached =
                !value.leaf() && leaf != leaves.end() && !(leaf->second->now() == here);
            (is_detached ? detached : before).push_back(value.before());
            (is_detached ? shown : now).push_back(here);
        });
    }

    // The tensors that gradients read, with what is there now in place of what was saved as the
    // tensors `then` and `names`.
    Tensors put_into(const Tensors& found, Tensors then, const Tensors& names) const {
        Tensors there = now;
        const auto look_at = [&](const Tensor& read) {
            if (read.node().operation().name != "stop_gradient") return;
            const auto at = std::find(names.begin(), names.end(), read.node().operand(0));
            if (at == names.end()) return;
            then.push_back(read);
            there.push_back(shown[static_cast<size_t>(at - names.begin())]);
        };
        if (!names.empty()) {
            for (const Tensor& tensor : found) look_at(tensor);
            for (const ir::Node* node : ir::topological_order(found))
                for (const Tensor& operand : node->operands()) look_at(operand);
        }
        return ir::substitute(found, then, there);
    }
};

}  // namespace

Tensors with_what_is_there(const GradientRule& rule, const Tensors& outputs, const Tensors& ends,
                           const std::vector<Ref<Record>>& records, bool is_cut) {
    const Saved saved(records);
    if (!saved.may_differ) return rule(outputs, ends);
    if (is_cut) return saved.put_into(rule(outputs, ends), saved.before, saved.detached);
    // Composed functions are opened first: what was saved are nodes of the graph that results.
    const std::array<const Tensors*, 4> parts{&outputs, &ends, &saved.before, &saved.detached};
    Tensors all;
    for (const Tensors* part : parts) all.insert(all.end(), part->begin(), part->end());
    const Tensors open = transforms::open_for_derivatives(all);
    std::array<Tensors, 4> opened;
    auto at = open.begin();
    for (size_t i = 0; i < parts.size(); ++i) {
        const auto end = at + static_cast<std::ptrdiff_t>(parts[i]->size());
        opened[i] = Tensors(at, end);
        at = end;
    }
    return saved.put_into(rule(opened[0], opened[1]), std::move(opened[2]), opened[3]);
}

Tensors gradients(const GradientRule& rule, const Tensors& outputs,
                  const std::vector<GradientInput>& inputs, const std::vector<Ref<Record>>& records,
                  const Tensors& more, bool is_cut) {
    Tensors ends, starts = outputs;
    for (const GradientInput& input : inputs) ends.push_back(input.now);
    starts.insert(starts.end(), more.begin(), more.end());
    std::vector<size_t> owners;  // of the ends behind those of the inputs
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].leaf) continue;
        const Tensors earlier = inputs[i].leaf->readings().before(inputs[i].now);
        for (Tensor& read : reached(starts, earlier)) {
            ends.push_back(std::move(read));
            owners.push_back(i);
        }
    }
    Tensors found = with_what_is_there(rule, outputs, ends, records, is_cut);
    for (size_t k = 0; k < owners.size(); ++k)
        found[owners[k]] = found[owners[k]] + found[inputs.size() + k];
    found.resize(inputs.size());
    return found;
}

}  // namespace composit::eager

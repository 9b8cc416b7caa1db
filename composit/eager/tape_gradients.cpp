#include "composit/eager/tape_gradients.h"

#include "composit/ir/body.h"
#include "composit/nn/training.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <iterator>

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

Tensors with_what_is_there(const GradientRule& rule, const Tensors& outputs, const Tensors& ends,
                           const std::vector<Ref<Record>>& records, bool is_cut) {
    bool may_differ = false;
    Tensors before, now;
    for (const Ref<Record>& record : records)
        for (const SavedValue& value : record->saved()) {
            before.push_back(value.before());
            now.push_back(value.now());
            may_differ = may_differ || value.may_differ();
        }
    if (!may_differ) return rule(outputs, ends);
    if (is_cut) return ir::substitute(rule(outputs, ends), before, now);
    // Composed functions are opened first: what was saved are nodes of the graph that results.
    Tensors all = outputs;
    all.insert(all.end(), ends.begin(), ends.end());
    all.insert(all.end(), before.begin(), before.end());
    const Tensors open = transforms::open_for_derivatives(all);
    const auto part = [&](size_t from, size_t count) {
        const auto begin = open.begin() + static_cast<std::ptrdiff_t>(from);
        return Tensors(begin, begin + static_cast<std::ptrdiff_t>(count));
    };
    const Tensors found = rule(part(0, outputs.size()), part(outputs.size(), ends.size()));
    return ir::substitute(found, part(outputs.size() + ends.size(), before.size()), now);
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

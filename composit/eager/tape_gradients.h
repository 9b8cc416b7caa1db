// Gradients through a tape: of leaves as they were when operations read them, made of the values
// that are where the operations saved some.
#pragma once

#include "composit/eager/tape.h"

#include <functional>
#include <utility>
#include <vector>

namespace composit::eager {

// How gradients go back through a graph: those of `ends`, in order, for what flows into `outputs`.
// Both may be versions of the tensors that the caller named, in which composed functions were
// opened.
using GradientRule = std::function<std::vector<Tensor>(const std::vector<Tensor>& outputs,
                                                       const std::vector<Tensor>& ends)>;

// The rule of graphs (nn::chain_rule), where an output that flows into itself is that output.
[[nodiscard]] std::vector<Tensor> chain_rule(const std::vector<Tensor>& outputs,
                                             const std::vector<Tensor>& flows,
                                             const std::vector<Tensor>& ends);
// The same for these flows, one for each output.
[[nodiscard]] GradientRule chain_rule_of(std::vector<Tensor> flows);

// Of what a gradient is wanted: what is there now, and whose it is.
struct GradientInput {
    Tensor now;
    Ref<Leaf> leaf;  // null: of no leaf, so that nobody noted what operations read
};

// The gradients by `rule`, made of the values that are now where the records' operations saved some
// (SavedValue::now). `is_cut`: the rule cuts the graph at nodes that it knows, so it must not be
// given another graph.
[[nodiscard]] std::vector<Tensor> with_what_is_there(const GradientRule& rule,
                                                     const std::vector<Tensor>& outputs,
                                                     const std::vector<Tensor>& ends,
                                                     const std::vector<Ref<Record>>& records,
                                                     bool is_cut = false);

// The same for leaves, each of which gets the sum over what operations read of it (Readings).
// `more` are nodes beside the outputs that gradients start from.
[[nodiscard]] std::vector<Tensor> gradients(const GradientRule& rule,
                                            const std::vector<Tensor>& outputs,
                                            const std::vector<GradientInput>& inputs,
                                            const std::vector<Ref<Record>>& records,
                                            const std::vector<Tensor>& more = {},
                                            bool is_cut = false);

}  // namespace composit::eager

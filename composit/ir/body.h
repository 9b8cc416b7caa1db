// A named graph with parameters: what a `call` node holds.
#pragma once

#include "composit/ir/node.h"

#include <string>
#include <vector>

namespace composit::ir {

struct Body {
    std::string name;
    std::vector<Tensor> parameters;  // `input` nodes that occur in `results`
    std::vector<Tensor> results;
};

// `results` with each parameter replaced by the argument in its place; nodes that do not depend on
// a parameter are shared.
std::vector<Tensor> inline_body(const Body& body, const std::vector<Tensor>& arguments);
// The general form: any tensors replaced. Iterative.
std::vector<Tensor> substitute(const std::vector<Tensor>& results, const std::vector<Tensor>& from,
                               const std::vector<Tensor>& to);
// The same operations, attributes, types and sharing from roots to leaves; `first` are roots that
// come before the others. Leaves correspond by position; their values and names may differ.
bool same_structure(const std::vector<Tensor>& a, const std::vector<Tensor>& a_first,
                    const std::vector<Tensor>& b, const std::vector<Tensor>& b_first);
uint64_t structural_hash(const Body& body);
bool structurally_equal(const Body& a, const Body& b);

}  // namespace composit::ir

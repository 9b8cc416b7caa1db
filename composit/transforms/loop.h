// A loop node, taken apart.
#pragma once

#include "composit/ir/body.h"
#include "composit/ir/node.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace composit::transforms {

// Valid as long as the node, which must be a loop (is_loop in transforms.h).
struct LoopParts {
    const ir::Body& body;
    int64_t begin, end;
    size_t states;

    explicit LoopParts(const ir::Node& node);

    const ir::Tensor& counter() const { return body.parameters[0]; }
    // Of operand k: the states, then what is the same in all iterations.
    const ir::Tensor& parameter(size_t k) const { return body.parameters[k + 1]; }
    size_t operands() const { return body.parameters.size() - 1; }
    // The operand whose parameter that is; operands() where it is none.
    size_t number_of(const ir::Tensor& x) const {
        size_t k = 0;
        while (k < operands() && !(parameter(k) == x)) ++k;
        return k;
    }
    bool is_state(const ir::Tensor& x) const { return number_of(x) < states; }
    int64_t iterations() const { return std::max<int64_t>(0, end - begin); }
};

// ----- loop_activity.cpp
// The states that gradients come through: those of results that have one, and what these read.
std::vector<bool> useful_states(const LoopParts& parts, const std::vector<ir::Tensor>& gradients);
// The states that tangents of operands reach.
std::vector<bool> moving_states(const LoopParts& parts, const std::vector<ir::Tensor>& tangents);

// ----- loop_saving.cpp
// Products and convolutions of an iteration that its derivative, `back`, reads as well, in the
// order in which it does, as long as they take no more than so many bytes together.
std::vector<ir::Tensor> products_to_save(const LoopParts& parts,
                                         const std::vector<ir::Tensor>& back, int64_t most_bytes);

}  // namespace composit::transforms

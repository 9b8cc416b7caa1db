// The signature of a graph: its structure as plain words, and its leaves in order.
#pragma once

#include "composit/ir/node.h"

#include <cstdint>
#include <vector>

namespace composit::execute {

// `words` are equal for two graphs exactly when the operations, attributes, types and sharing of
// the graphs are equal from roots to leaves; names, source lines and values of constants do not
// count. The words hold no references: a plan keeps them without keeping the user's arrays.
struct Signature {
    uint64_t hash = 0;  // of the roots' structural hashes: picks candidates
    std::vector<uint64_t> words;
    uint8_t reported = 0;  // kinds of errors that any node wants reported; no part of the structure
    std::vector<const ir::Node*> leaves;  // constants and placeholders, alive while the graph is
};

// One iterative walk. Bodies of calls are walked too: constants inside them are leaves like others.
Signature signature_of(const std::vector<ir::Tensor>& outputs);

}  // namespace composit::execute

// The signature of a graph: its structure as plain words, and its leaves in order.
#pragma once

#include "composit/ir/node.h"

#include <cstdint>
#include <vector>

namespace composit::execute {

// Constants, placeholders, and tensors whose value is kept: like constants, whose words they have.
struct Leaf {
    const ir::Node* node;  // alive while the graph is
    int output;
    ir::ConstantArray kept;  // empty for constants and placeholders
};

// `words` are equal for two graphs exactly when the operations, attributes, types and sharing of
// the graphs are equal from roots to leaves; names, source lines and values of constants do not
// count. The words hold no references: a plan keeps them without keeping the user's arrays.
struct Signature {
    uint64_t hash = 0;  // of the words: picks candidates
    std::vector<uint64_t> words;
    uint8_t reported = 0;  // kinds of errors that any node wants reported; no part of the structure
    bool is_cut = false;   // there are more nodes than were asked for
    std::vector<Leaf> leaves;
};

// One iterative walk down to the leaves. Bodies of calls are walked too: constants inside them are
// leaves like others. Where there are more nodes than `most_nodes`, it ends and says so: the rest
// is of no use then. The words are written into the memory of `words`.
Signature signature_of(const std::vector<ir::Tensor>& outputs, size_t most_nodes = SIZE_MAX,
                       std::vector<uint64_t> words = {});

}  // namespace composit::execute

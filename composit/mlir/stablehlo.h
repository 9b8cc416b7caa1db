// Graphs as programs of StableHLO, the dialect of MLIR that XLA and IREE take
// (docs/decisions/0061-stablehlo-and-jax.md).
//
//   std::cout << mlir::stablehlo_text({{"scores", scores}});
#pragma once

#include "composit/ir/node.h"

#include <string>
#include <vector>

namespace composit::mlir {

struct NamedTensor {
    std::string name;
    ir::Tensor tensor;
};

struct TextOptions {
    // Placeholders, which become the parameters of @main in this order, under these names. Empty:
    // those that the outputs depend on, as they are met, under their own.
    std::vector<NamedTensor> inputs = {};
    std::string name = "composit";  // of the module
    // The user's line behind each operation: loc("model.py":12:0).
    bool locations = false;
};

// A module whose function @main computes the outputs. Constants are within. NotSupported, with the
// line of the node, for what StableHLO has no operation for; ValueError for no outputs, names that
// are empty or are given twice, and placeholders that are not among the inputs.
[[nodiscard]] std::string stablehlo_text(const std::vector<NamedTensor>& outputs,
                                         const TextOptions& options = {});

}  // namespace composit::mlir

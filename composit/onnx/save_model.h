// Graphs as models in ONNX's format (docs/decisions/0051-graphs-as-onnx.md).
//
//   onnx::save("digits.onnx", {{"scores", scores}});
#pragma once

#include "composit/onnx/model.h"

#include <filesystem>
#include <string>
#include <vector>

namespace composit::onnx {

struct NamedTensor {
    std::string name;
    ir::Tensor tensor;
};

struct SaveOptions {
    // Of the domain ai.onnx, from 18 on; 0: the least that has every operator that is used.
    int64_t opset = 0;
    // Placeholders, which become the model's inputs in this order, under these names. Empty: those
    // that the outputs depend on, as they are met, under their own.
    std::vector<NamedTensor> inputs = {};
};

// The bytes of a model that computes the outputs, under these names. Constants are its
// initializers. NotSupported, with the line of the node, for what ONNX has no operator for, or none
// in the opset that was asked for. ValueError for no outputs, names that are empty or are given
// twice, a placeholder that is not among the inputs, an opset before 18, and models of 2 GiB and
// more.
[[nodiscard]] std::string model_bytes(const std::vector<NamedTensor>& outputs,
                                      const SaveOptions& options = {});
// The same in a file, which is there as a whole or not at all. InputOutputError.
void save(const std::filesystem::path& path, const std::vector<NamedTensor>& outputs,
          const SaveOptions& options = {});

}  // namespace composit::onnx

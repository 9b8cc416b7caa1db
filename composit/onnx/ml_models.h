// What the classifiers and regressors of ai.onnx.ml share.
#pragma once

#include "composit/onnx/call.h"

namespace composit::onnx {

// Scores (batch, targets) after the node's post_transform.
[[nodiscard]] Tensor post_transformed(const Call& call, const Tensor& scores);

// The labels of classes at places (int64): integers or strings.
[[nodiscard]] Value labels_of(const Call& call, const Tensor& places);
[[nodiscard]] size_t label_count(const Call& call);

}  // namespace composit::onnx

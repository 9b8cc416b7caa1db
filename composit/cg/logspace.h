// logspace: a computation of numbers from 0 on, done with their logarithms.
#pragma once

#include "composit/ir/node.h"

#include <vector>

namespace composit::cg {

// The logarithms of `outputs`, computed in log space: products become sums, sums logsumexp, powers
// products, and whatever only moves elements moves logarithms. So a product of many probabilities,
// which underflows to 0, keeps its value, and so do its gradients. What has no rule is computed as
// it is and its logarithm taken. Logarithms have the widest dtype on their way to an output.
// Numbers on the way must be >= 0; logarithms of others are NaN. TypeError for complex outputs.
//
//   logspace({prod(p)})   // {sum(log(p))}
[[nodiscard]] std::vector<ir::Tensor> logspace(const std::vector<ir::Tensor>& outputs);

}  // namespace composit::cg

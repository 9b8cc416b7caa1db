// The parts of PyTorch's LBFGS: its direction, and the line search for a length along it that
// satisfies the strong Wolfe conditions.
#pragma once

#include "composit/ir/node.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace composit::aten {

// A length along the direction, the loss there and its slope along the direction.
struct LinePoint {
    double length = 0, loss = 0, slope = 0;
    int64_t call =
        -1;  // the call of `at` that computed it, from 0; -1: none, where the line starts
};
struct LineSearch {
    LinePoint found;
    int64_t calls = 0;  // how often the loss was computed
};

// Where the cubic through two values and slopes is least, within the bounds, or between the two.
[[nodiscard]] double cubic_minimum(const LinePoint& a, const LinePoint& b,
                                   std::optional<std::pair<double, double>> bounds = {});

// A point that satisfies the strong Wolfe conditions (Nocedal and Wright, 3.5 and 3.6), or the best
// one after `most` steps. `at` computes the point of a length; `first` is the length to begin with,
// `size` the largest element of the direction: points nearer than `change` are the same.
[[nodiscard]] LineSearch strong_wolfe(const std::function<LinePoint(double)>& at, double first,
                                      double size, const LinePoint& start, double change = 1e-9,
                                      int64_t most = 25);

// Minus the estimate of the inverse Hessian times the gradient, by the recursion of two loops
// (Nocedal), of vectors: `changes` of the gradient in the steps `moves`, the oldest first, and
// `scale` of the first estimate. Products are evaluated (NotSupported under placeholders).
[[nodiscard]] ir::Tensor lbfgs_direction(const ir::Tensor& gradient,
                                         const std::vector<ir::Tensor>& changes,
                                         const std::vector<ir::Tensor>& moves, double scale);

}  // namespace composit::aten

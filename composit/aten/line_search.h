// The line search of PyTorch's LBFGS: a length along a direction that satisfies the strong Wolfe
// conditions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

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

}  // namespace composit::aten

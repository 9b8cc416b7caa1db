// PyTorch's LBFGS: the quasi-Newton method of limited memory, whose step computes the loss again
// and again.
//
//   aten::LbfgsState state;
//   const aten::LbfgsProblem problem{compute, begin, move};  // over the caller's parameters
//   aten::lbfgs(state, problem, {.searches = true});
#pragma once

#include "composit/ir/node.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace composit::aten {

struct LbfgsOptions {
    double lr = 1;
    int64_t max_iter = 20, max_eval = 25;
    double tolerance_grad = 1e-7, tolerance_change = 1e-9;
    int64_t history_size = 100;
    bool searches = false;  // for a length that satisfies the strong Wolfe conditions
};

// What is kept between steps. Tensors are vectors, null before the first iteration.
struct LbfgsState {
    int64_t func_evals = 0, n_iter = 0;
    ir::Tensor direction, gradient;          // of the last iteration, and where it began
    double length = 0, scale = 1, loss = 0;  // of that; of the estimate; where it began
    std::vector<ir::Tensor> changes, moves;  // of the gradient; of the parameters
};

struct LbfgsProblem {
    // The loss where the parameters are, and its gradient as a vector of all.
    std::function<std::pair<double, ir::Tensor>()> compute;
    std::function<void()> begin;  // lines go out from where the parameters are now
    std::function<void(double length, const ir::Tensor& direction)> move;  // along a line
};

// Several iterations, until max_iter, max_eval or a tolerance is reached; how often the loss was
// computed. Values are evaluated
// (NotSupported under placeholders).
int64_t lbfgs(LbfgsState& state, const LbfgsProblem& problem, const LbfgsOptions& options = {});

}  // namespace composit::aten

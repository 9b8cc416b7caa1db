#include "composit/aten/lbfgs.h"

#include "composit/aten/line_search.h"
#include "composit/aten/number.h"
#include "composit/aten/products.h"
#include "composit/execute/execute.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"

#include <algorithm>
#include <cmath>

namespace composit::aten {
namespace {

using ir::Tensor;

Tensor known_vector(const Tensor& x) { return ir::constant(execute::evaluate({x})[0]); }
double product_of(const Tensor& a, const Tensor& b) { return Number(dot(a, b)).value(); }
Tensor sizes(const Tensor& x) { return numpy::apply("absolute", {x}); }
double largest(const Tensor& x) { return Number(numpy::max(sizes(x))).value(); }

class Steps {
  public:
    Steps(LbfgsState& state, const LbfgsProblem& problem, const LbfgsOptions& options)
        : state_(state), problem_(problem), options_(options) {}

    void run() {
        compute();
        if (is_flat()) return;
        for (int64_t count = 1; count <= options_.max_iter; ++count) {
            ++state_.n_iter;
            choose_direction();
            state_.gradient = gradient_;
            state_.loss = loss_;
            double length = options_.lr;
            if (state_.n_iter == 1)
                length *= std::min(1.0, 1.0 / Number(numpy::sum(sizes(gradient_))).value());
            state_.length = length;
            const double slope = product_of(gradient_, state_.direction);
            if (slope > -options_.tolerance_change) return;
            const bool is_last = count == options_.max_iter;
            const bool is_done = options_.searches ? search(slope) : go(is_last);
            if (is_last || calls_ >= options_.max_eval || is_done) return;
            if (largest(state_.direction * state_.length) <= options_.tolerance_change) return;
            if (std::abs(loss_ - state_.loss) < options_.tolerance_change) return;
        }
    }

    int64_t calls() const { return calls_; }

  private:
    void compute() {
        auto [loss, gradient] = problem_.compute();
        loss_ = loss;
        gradient_ = known_vector(gradient);
        ++calls_;
        ++state_.func_evals;
    }

    bool is_flat() const { return largest(gradient_) <= options_.tolerance_grad; }

    void choose_direction() {
        if (state_.n_iter == 1) {
            state_.direction = known_vector(numpy::apply("negative", {gradient_}));
            state_.changes.clear();
            state_.moves.clear();
            state_.scale = 1;
            return;
        }
        const Tensor change = known_vector(gradient_ - state_.gradient);
        const Tensor moved = known_vector(state_.direction * state_.length);
        const double curvature = product_of(change, moved);
        if (curvature > 1e-10) {  // PyTorch's bound
            if (static_cast<int64_t>(state_.changes.size()) == options_.history_size) {
                state_.changes.erase(state_.changes.begin());
                state_.moves.erase(state_.moves.begin());
            }
            state_.changes.push_back(change);
            state_.moves.push_back(moved);
            state_.scale = curvature / product_of(change, change);
        }
        state_.direction =
            known_vector(lbfgs_direction(gradient_, state_.changes, state_.moves, state_.scale));
    }

    // To the length that a search along the line finds. Whether the loss is flat there.
    bool search(double slope) {
        problem_.begin();
        std::vector<Tensor> gradients;
        const Tensor before = gradient_;
        const auto at = [&](double length) {
            problem_.move(length, state_.direction);
            compute();
            gradients.push_back(gradient_);
            return LinePoint{.loss = loss_, .slope = product_of(gradient_, state_.direction)};
        };
        const LinePoint found = strong_wolfe(at, state_.length, largest(state_.direction),
                                             {.loss = loss_, .slope = slope})
                                    .found;
        state_.length = found.length;
        loss_ = found.loss;
        gradient_ = found.call < 0 ? before : gradients.at(static_cast<size_t>(found.call));
        problem_.move(found.length, state_.direction);
        return is_flat();
    }

    // To the learning rate. Whether the loss is flat there, of which nobody asks after the last.
    bool go(bool is_last) {
        problem_.begin();
        problem_.move(state_.length, state_.direction);
        if (is_last) return false;
        compute();
        return is_flat();
    }

    LbfgsState& state_;
    const LbfgsProblem& problem_;
    const LbfgsOptions& options_;
    double loss_ = 0;
    Tensor gradient_;
    int64_t calls_ = 0;
};

}  // namespace

int64_t lbfgs(LbfgsState& state, const LbfgsProblem& problem, const LbfgsOptions& options) {
    Steps steps(state, problem, options);
    steps.run();
    return steps.calls();
}

}  // namespace composit::aten

// Bracketing, then zooming into the bracket.
#include "composit/aten/line_search.h"

#include "composit/aten/number.h"
#include "composit/aten/products.h"
#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/ir/node.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/operators.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace composit::aten {
namespace {

constexpr double decrease = 1e-4, curvature = 0.9;

class Search {
  public:
    Search(const std::function<LinePoint(double)>& at, double size, const LinePoint& start,
           double change, int64_t most)
        : at_(at), size_(size), start_(start), change_(change), most_(most) {}

    LineSearch run(double first) {
        bracket(first);
        if (!is_done_) zoom();
        return {ends_[best_], calls_};
    }

  private:
    LinePoint computed(double length) {
        LinePoint made = at_(length);
        made.length = length;
        made.call = calls_++;
        return made;
    }

    bool is_too_high(const LinePoint& x) const {
        return x.loss > start_.loss + decrease * x.length * start_.slope;
    }
    bool is_flat(const LinePoint& x) const {
        return std::abs(x.slope) <= -curvature * start_.slope;
    }

    void enclose(const LinePoint& a, const LinePoint& b) {
        ends_ = {a, b};
        best_ = a.loss <= b.loss ? 0 : 1;
    }

    // Goes on until two points have a minimum between them.
    void bracket(double first) {
        LinePoint before = start_, now = computed(first);
        for (; count_ < most_; ++count_) {
            if (is_too_high(now) || (count_ > 1 && now.loss >= before.loss))
                return enclose(before, now);
            if (is_flat(now)) {
                is_done_ = true;
                return enclose(now, now);
            }
            if (now.slope >= 0) return enclose(before, now);
            const double low = now.length + 0.01 * (now.length - before.length);
            const double next = cubic_minimum(before, now, std::pair{low, now.length * 10});
            before = now;
            now = computed(next);
        }
        enclose(start_, now);
    }

    // Makes the bracket smaller around its best end.
    void zoom() {
        bool is_slow = false;
        while (!is_done_ && count_ < most_) {
            const auto [low, high] = std::minmax(ends_[0].length, ends_[1].length);
            if (std::abs(ends_[1].length - ends_[0].length) * size_ < change_) return;
            double next = cubic_minimum(ends_[0], ends_[1]);
            const double margin = 0.1 * (high - low);
            const bool is_near_end = std::min(high - next, next - low) < margin;
            const bool is_moved = is_near_end && (is_slow || next >= high || next <= low);
            if (is_moved)
                next = std::abs(next - high) < std::abs(next - low) ? high - margin : low + margin;
            is_slow = is_near_end && !is_moved;
            narrow(computed(next));
            ++count_;
        }
    }

    void narrow(const LinePoint& now) {
        const size_t other = 1 - best_;
        if (is_too_high(now) || now.loss >= ends_[best_].loss) {
            ends_[other] = now;
            best_ = ends_[0].loss <= ends_[1].loss ? 0 : 1;
            return;
        }
        if (is_flat(now))
            is_done_ = true;
        else if (now.slope * (ends_[other].length - ends_[best_].length) >= 0)
            ends_[other] = ends_[best_];
        ends_[best_] = now;
    }

    const std::function<LinePoint(double)>& at_;
    double size_;
    LinePoint start_;
    double change_;
    int64_t most_, calls_ = 0, count_ = 0;
    std::array<LinePoint, 2> ends_;
    size_t best_ = 0;
    bool is_done_ = false;
};

}  // namespace

double cubic_minimum(const LinePoint& a, const LinePoint& b,
                     std::optional<std::pair<double, double>> bounds) {
    const auto [low, high] =
        bounds.value_or(std::pair{std::min(a.length, b.length), std::max(a.length, b.length)});
    const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.length - b.length);
    const double square = d1 * d1 - a.slope * b.slope;
    if (square < 0) return (low + high) / 2;
    const double d2 = std::sqrt(square);
    const double found = a.length <= b.length
                             ? b.length - (b.length - a.length) *
                                              ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
                             : a.length - (a.length - b.length) *
                                              ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2));
    return std::min(std::max(found, low), high);
}

LineSearch strong_wolfe(const std::function<LinePoint(double)>& at, double first, double size,
                        const LinePoint& start, double change, int64_t most) {
    return Search(at, size, start, change, most).run(first);
}

ir::Tensor lbfgs_direction(const ir::Tensor& gradient, const std::vector<ir::Tensor>& changes,
                           const std::vector<ir::Tensor>& moves, double scale) {
    user_check(changes.size() == moves.size(), "lbfgs_direction: ", changes.size(), " changes for ",
               moves.size(), " moves. As many are required.");
    const auto product = [](const ir::Tensor& a, const ir::Tensor& b) {
        return Number(dot(a, b)).value();
    };
    // Each product asks for the values so far, which are computed once.
    const auto known = [](const ir::Tensor& x) { return ir::constant(execute::evaluate({x})[0]); };
    std::vector<double> weights, factors(changes.size());
    for (size_t i = 0; i < changes.size(); ++i)
        weights.push_back(1.0 / product(changes[i], moves[i]));
    ir::Tensor q = numpy::apply("negative", {gradient});
    for (size_t i = changes.size(); i-- > 0;) {
        factors[i] = product(moves[i], q) * weights[i];
        q = known(q - changes[i] * factors[i]);
    }
    ir::Tensor direction = q * scale;
    for (size_t i = 0; i < changes.size(); ++i)
        direction = known(direction +
                          moves[i] * (factors[i] - product(changes[i], direction) * weights[i]));
    return direction;
}

}  // namespace composit::aten

// Draws of distributions and orders.
#include "composit/numpy/random/stream.h"

#include "composit/base/default_floating_point.h"
#include "composit/base/error.h"
#include "composit/ir/dtype_traits.h"
#include "composit/numpy/random/npyrandom.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace composit::numpy::random {

Stream::Stream(std::shared_ptr<BitGenerator> bits) : bits_(std::move(bits)) {
    user_check(bits_ != nullptr, "Generator: there is no bit generator. One is required.");
    static_cast<Bits&>(source_) = bits_->bits();
}

Tensor Stream::draw(const Distribution& distribution, std::initializer_list<Operand> parameters,
                    const Size& size, std::string_view name) {
    Draw draw(distribution, parameters, size);
    run(draw);
    return draw.result(name);
}

void Stream::run(Draw& draw) {
    const DefaultFloatingPoint floating_point;
    const Locked locked(*bits_);
    draw.run(source_);
}

namespace {

// Fisher and Yates from the end.
void shuffle(Bits* bits, int64_t* items, int64_t n, int64_t step = 1) {
    for (int64_t i = n - 1; i > 0; --i) {
        const auto j = static_cast<int64_t>(random_interval(bits, static_cast<uint64_t>(i)));
        std::swap(items[i * step], items[j * step]);
    }
}

std::vector<double> cumulated(const std::vector<double>& p) {
    std::vector<double> sums(p.size());
    std::partial_sum(p.begin(), p.end(), sums.begin());
    const double all = sums.empty() ? 1 : sums.back();
    for (double& sum : sums) sum /= all;
    return sums;
}

}  // namespace

Array Stream::order(int64_t n) {
    user_check(n >= 0, "permutation: n is ", n, ". At least 0 is required.");
    Array result(DType::int64, {n});
    auto* items = static_cast<int64_t*>(result.mutable_data());
    std::iota(items, items + n, int64_t{0});
    const Locked locked(*bits_);
    shuffle(&source_, items, n);
    return result;
}

Array Stream::orders(const Shape& shape, size_t axis) {
    Array result(DType::int64, shape);
    auto* items = static_cast<int64_t*>(result.mutable_data());
    const int64_t length = shape[axis];
    const int64_t step =
        ir::element_count({shape.begin() + static_cast<int64_t>(axis) + 1, shape.end()});
    const int64_t outer =
        ir::element_count({shape.begin(), shape.begin() + static_cast<int64_t>(axis)});
    const Locked locked(*bits_);
    for (int64_t row = 0; row < outer * step; ++row) {
        int64_t* start = items + row / step * step * length + row % step;
        for (int64_t i = 0; i < length; ++i) start[i * step] = i;
        shuffle(&source_, start, length, step);
    }
    return result;
}

Array Stream::weighted_places(const std::vector<double>& p, const Shape& shape,
                              bool with_replacement) {
    const int64_t count = ir::element_count(shape);
    const auto positive = std::count_if(p.begin(), p.end(), [](double x) { return x > 0; });
    user_check(with_replacement || positive >= count,
               "choice: Fewer non-zero entries in p than size: ", positive, " and ", count, ".");
    Array result(DType::int64, shape);
    auto* places = static_cast<int64_t*>(result.mutable_data());
    std::vector<double> draws(static_cast<size_t>(count)), weights = p;
    const Locked locked(*bits_);
    int64_t found = 0;
    do {  // what was found is not found again
        std::vector<double> sums = cumulated(weights);
        draws.resize(static_cast<size_t>(count - found));
        random_standard_uniform_fill(&source_, count - found, draws.data());
        std::set<int64_t> seen;
        for (const double draw : draws) {
            const auto place = static_cast<int64_t>(
                std::upper_bound(sums.begin(), sums.end(), draw) - sums.begin());
            if (with_replacement || seen.insert(place).second) places[found++] = place;
        }
        if (!with_replacement)
            for (const int64_t place : seen) weights[static_cast<size_t>(place)] = 0;
    } while (found < count);
    return result;
}

double compensated_sum(const double* numbers, int64_t count) {
    if (count <= 0) return 0.0;
    double sum = numbers[0], error = 0.0;
    for (int64_t i = 1; i < count; ++i) {
        const double corrected = numbers[i] - error;
        const double next = sum + corrected;
        error = (next - sum) - corrected;
        sum = next;
    }
    return sum;
}

std::vector<double> checked_probabilities(const Tensor& p, int64_t population) {
    const bool is_float = ir::is_floating(p.dtype());
    const double tolerance =
        std::sqrt(ir::float_format(is_float ? p.dtype() : DType::float64).epsilon());
    const Array values = known("choice", "p", p, DType::float64);
    user_check(values.shape().size() == 1, "choice: p must be 1-dimensional, not of shape ",
               values.shape(), ".");
    user_check(values.size() == population, "choice: a and p must have same size: ", population,
               " and ", values.size(), ".");
    const auto* first = values.data_as<double>();
    const double sum = compensated_sum(first, values.size());
    user_check(!std::isnan(sum), "choice: Probabilities contain NaN.");
    user_check(std::all_of(first, first + values.size(), [](double x) { return !(x < 0); }),
               "choice: Probabilities are not non-negative.");
    user_check(std::abs(sum - 1.0) <= tolerance, "choice: Probabilities do not sum to 1: ", sum,
               ".");
    return {first, first + values.size()};
}

}  // namespace composit::numpy::random

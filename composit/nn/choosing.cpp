// The likeliest tokens in order, then the first whose likelihoods add up to more than is drawn.
#include "composit/nn/choosing.h"

#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/numpy/manipulation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace composit::nn {
namespace {

std::vector<double> logits_as_numbers(const ir::Array& logits) {
    const ir::Array wide =
        logits.dtype() == ir::DType::float64
            ? logits
            : execute::evaluate({numpy::astype(ir::constant(logits), ir::DType::float64)})[0];
    return {wide.data_as<double>(), wide.data_as<double>() + wide.size()};
}

// The places of the greatest, the first of equals first; NaN stands last.
std::vector<size_t> greatest_first(const std::vector<double>& numbers, size_t count) {
    std::vector<size_t> order(numbers.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return numbers[a] > numbers[b] || (std::isnan(numbers[b]) && !std::isnan(numbers[a]));
    });
    order.resize(std::min(count, order.size()));
    return order;
}

// As NumPy's argmax: the first NaN, if there is one, else the first of the greatest.
int64_t greatest(const std::vector<double>& numbers) {
    auto found =
        std::find_if(numbers.begin(), numbers.end(), [](double each) { return std::isnan(each); });
    if (found == numbers.end()) found = std::max_element(numbers.begin(), numbers.end());
    return found - numbers.begin();
}

// Divides the numbers by their sum.
void divide_by_sum(std::vector<double>& likely) {
    const double sum = std::accumulate(likely.begin(), likely.end(), 0.0);
    for (double& each : likely) each /= sum;
}

std::vector<double> sums_so_far(const std::vector<double>& numbers) {
    std::vector<double> sums(numbers.size());
    std::partial_sum(numbers.begin(), numbers.end(), sums.begin());
    return sums;
}

}  // namespace

int64_t choose_token(const ir::Array& logits, const std::function<double()>& draw,
                     const TokenChoice& how) {
    user_check(how.temperature >= 0 && std::isfinite(how.temperature), "choose: temperature is ",
               number_text(how.temperature), ". It must be 0 or more, and finite.");
    user_check(!how.top_k || *how.top_k >= 1, "choose: top_k is ", how.top_k.value_or(0),
               ". It must be at least 1.");
    user_check(!how.top_p || (*how.top_p > 0 && *how.top_p <= 1), "choose: top_p is ",
               number_text(how.top_p.value_or(0)), ". It must be above 0 and at most 1.");
    user_check(logits.shape().size() == 1 && logits.size() > 0, "choose: logits have shape ",
               logits.shape(), ". (tokens,) is required.");
    const std::vector<double> numbers = logits_as_numbers(logits);
    if (how.temperature == 0 || how.top_k == 1) return greatest(numbers);
    const auto most = static_cast<size_t>(how.top_k.value_or(logits.size()));
    const std::vector<size_t> order = greatest_first(numbers, most);
    std::vector<double> likely;
    for (const size_t place : order)
        likely.push_back(std::exp((numbers[place] - numbers[order[0]]) / how.temperature));
    divide_by_sum(likely);
    if (how.top_p) {
        const std::vector<double> sums = sums_so_far(likely);
        const auto enough = std::lower_bound(sums.begin(), sums.end(), *how.top_p) - sums.begin();
        likely.resize(std::min(likely.size(), static_cast<size_t>(enough) + 1));
        divide_by_sum(likely);
    }
    const std::vector<double> sums = sums_so_far(likely);
    const double drawn = draw();
    // Infinite logits have no likelihoods: the greatest is chosen.
    if (std::isnan(sums.back())) return static_cast<int64_t>(order[0]);
    const auto place = std::upper_bound(sums.begin(), sums.end(), drawn) - sums.begin();
    return static_cast<int64_t>(order[std::min(static_cast<size_t>(place), likely.size() - 1)]);
}

}  // namespace composit::nn

// The rows of distributions.h, a file for each kind of families.
#pragma once

#include "composit/aten/distributions.h"

#include <cmath>
#include <numbers>
#include <vector>

namespace composit::aten::distributions {

using formulas::Value;
using P = const Parameters&;
using X = std::span<const Value>;

struct Row {
    const char* family;
    const char* asked;
    Formula formula;
};

[[nodiscard]] std::vector<Row> real_rows();      // location and scale
[[nodiscard]] std::vector<Row> positive_rows();  // gamma, beta, Dirichlet's and their kin
[[nodiscard]] std::vector<Row> counted_rows();   // trials, counts, classes
[[nodiscard]] std::vector<Row> bounded_rows();   // the continuous Bernoulli distribution
[[nodiscard]] std::vector<Row> vector_rows();    // vectors and matrices
[[nodiscard]] std::vector<Row> derived_rows();   // of what transforms make

constexpr double pi = std::numbers::pi;
constexpr double log_2 = std::numbers::ln2;
constexpr double euler = std::numbers::egamma;
inline const double log_2pi = std::log(2 * pi);

// A value like x in each place.
[[nodiscard]] inline Value nan_like(const Value& x) { return formulas::full_like(x, std::nan("")); }
[[nodiscard]] inline Value infinity_like(const Value& x) {
    return formulas::full_like(x, HUGE_VAL);
}
// Probabilities in [eps, 1 - eps], eps being the dtype's.
[[nodiscard]] Value clamped_probability(const Value& x);
// Matrices times vectors.
[[nodiscard]] Value times_vector(const Value& matrices, const Value& vectors);
// The squared length of L^-1 x for a lower triangular L.
[[nodiscard]] Value squared_length(const Value& factor, const Value& x);
// The sum of the logarithms of the diagonal.
[[nodiscard]] Value log_diagonal(const Value& factor);
// Of D + W W^T: its determinant's logarithm, and x^T (D + W W^T)^-1 x by Woodbury's identity;
// `capacitance` is the Cholesky factor of 1 + W^T D^-1 W.
[[nodiscard]] Value low_rank_log_determinant(const Value& diagonal, const Value& capacitance);
[[nodiscard]] Value low_rank_squared_length(const Value& factor, const Value& diagonal,
                                            const Value& x, const Value& capacitance);

}  // namespace composit::aten::distributions

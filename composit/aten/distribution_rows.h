// The rows of distributions.h, a file for each kind of families.
#pragma once

#include "composit/aten/distributions.h"

#include <cmath>
#include <functional>
#include <initializer_list>
#include <map>
#include <numbers>
#include <string>
#include <string_view>
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

// Formulas by what they belong to, a distribution's or a transform's name, and what is asked of it.
using FormulaTable =
    std::map<std::string, std::map<std::string, Formula, std::less<>>, std::less<>>;

// The rows of several families.
[[nodiscard]] inline std::vector<Row> joined(std::initializer_list<std::vector<Row>> of_families) {
    std::vector<Row> all;
    for (const auto& rows : of_families) all.insert(all.end(), rows.begin(), rows.end());
    return all;
}
[[nodiscard]] inline FormulaTable table_of(const std::vector<Row>& rows) {
    FormulaTable made;
    for (const Row& row : rows) made[row.family][row.asked] = row.formula;
    return made;
}
// The formula of a row; null where there is none.
[[nodiscard]] inline Formula formula_in(const FormulaTable& table, std::string_view family,
                                        std::string_view asked) {
    const auto of = table.find(family);
    if (of == table.end()) return nullptr;
    const auto found = of->second.find(asked);
    return found == of->second.end() ? nullptr : found->second;
}

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

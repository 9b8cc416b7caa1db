// Distributions of vectors and matrices: normal, Wishart's, Lewandowski, Kurowicka and Joe's.
#include "composit/aten/distribution_rows.h"

#include <cmath>

namespace composit::aten::distributions {
namespace {

using namespace formulas;

constexpr const char* multivariate = "multivariate_normal";
constexpr const char* low_rank = "low_rank_multivariate_normal";
constexpr const char* wishart = "wishart";

Value mT(const Value& x) { return transpose(x, -2, -1); }

// The Cholesky factor of the inverse, by the Cholesky factor of the flipped matrix.
Value inverse_factor(const Value& precision) {
    const ir::Shape both{-2, -1};
    const Value flipped = cholesky(apply("flip", {precision, both}));
    const Value upper = transpose(apply("flip", {flipped, both}), -2, -1);
    const Value identity = expand(eye_like(precision, precision.size(-1)), precision.shape());
    return solve_lower(upper, identity);
}

std::vector<Row> multivariate_rows() {
    return {
        {multivariate, "_unbroadcasted_scale_tril", [](P p, X) { return p("scale_tril"); }},
        {multivariate, "_factor_of_covariance_matrix", [](P, X x) { return cholesky(x[0]); }},
        {multivariate, "_factor_of_scale_tril", [](P, X x) { return x[0]; }},
        {multivariate, "_factor_of_precision_matrix", [](P, X x) { return inverse_factor(x[0]); }},
        {multivariate, "mean", [](P p, X) { return p("loc"); }},
        {multivariate, "mode", [](P p, X) { return p("loc"); }},
        {multivariate, "covariance_matrix",
         [](P p, X) {
             const Value factor = p("_unbroadcasted_scale_tril");
             return matmul(factor, mT(factor));
         }},
        {multivariate, "variance",
         [](P p, X) { return sum(pow(p("_unbroadcasted_scale_tril"), 2), -1); }},
        {multivariate, "log_prob",
         [](P p, X x) {
             const Value factor = p("_unbroadcasted_scale_tril"), loc = p("loc");
             const Value length = squared_length(factor, x[0] - loc);
             const auto count = static_cast<double>(loc.size(-1));
             return -0.5 * (count * log_2pi + length) - log_diagonal(factor);
         }},
        {multivariate, "entropy",
         [](P p, X) {
             const Value factor = p("_unbroadcasted_scale_tril");
             const auto count = static_cast<double>(factor.size(-1));
             return 0.5 * count * (1.0 + log_2pi) + log_diagonal(factor);
         }},
    };
}

std::vector<Row> low_rank_rows() {
    return {
        {low_rank, "_unbroadcasted_cov_factor", [](P p, X) { return p("cov_factor"); }},
        {low_rank, "_unbroadcasted_cov_diag", [](P p, X) { return p("cov_diag"); }},
        // The Cholesky factor of 1 + W^T D^-1 W.
        {low_rank, "_capacitance_tril",
         [](P p, X) {
             const Value factor = p("_unbroadcasted_cov_factor");
             const Value scaled = mT(factor) / unsqueeze(p("_unbroadcasted_cov_diag"), -2);
             return cholesky(matmul(scaled, factor) + eye_like(factor, factor.size(-1)));
         }},
        {low_rank, "mean", [](P p, X) { return p("loc"); }},
        {low_rank, "mode", [](P p, X) { return p("loc"); }},
        {low_rank, "variance",
         [](P p, X) {
             return sum(pow(p("_unbroadcasted_cov_factor"), 2), -1) + p("_unbroadcasted_cov_diag");
         }},
        {low_rank, "covariance_matrix",
         [](P p, X) {
             const Value factor = p("_unbroadcasted_cov_factor");
             return matmul(factor, mT(factor)) + diag_embed(p("_unbroadcasted_cov_diag"));
         }},
        {low_rank, "precision_matrix",
         [](P p, X) {
             const Value diagonal = p("_unbroadcasted_cov_diag");
             const Value scaled = mT(p("_unbroadcasted_cov_factor")) / unsqueeze(diagonal, -2);
             const Value half = solve_lower(p("_capacitance_tril"), scaled);
             return diag_embed(reciprocal(diagonal)) - matmul(mT(half), half);
         }},
        {low_rank, "log_prob",
         [](P p, X x) {
             const Value diagonal = p("_unbroadcasted_cov_diag"), loc = p("loc");
             const Value capacitance = p("_capacitance_tril");
             const Value length = low_rank_squared_length(p("_unbroadcasted_cov_factor"), diagonal,
                                                          x[0] - loc, capacitance);
             const auto count = static_cast<double>(loc.size(-1));
             return -0.5 *
                    (count * log_2pi + low_rank_log_determinant(diagonal, capacitance) + length);
         }},
        {low_rank, "entropy",
         [](P p, X) {
             const Value diagonal = p("_unbroadcasted_cov_diag");
             const auto count = static_cast<double>(diagonal.size(-1));
             return 0.5 * (count * (1.0 + log_2pi) +
                           low_rank_log_determinant(diagonal, p("_capacitance_tril")));
         }},
    };
}

Value multivariate_digamma(const Value& x, int64_t order) {
    return sum(digamma(unsqueeze(x, -1) - count_like(x, order) / 2), -1);
}

// As wide as matrices.
Value of_matrices(const Value& x) { return unsqueeze(unsqueeze(x, -1), -1); }

std::vector<Row> wishart_rows() {
    return {
        {wishart, "_unbroadcasted_scale_tril", [](P p, X) { return p("scale_tril"); }},
        {wishart, "covariance_matrix",
         [](P p, X) {
             const Value factor = p("_unbroadcasted_scale_tril");
             return matmul(factor, mT(factor));
         }},
        {wishart, "mean", [](P p, X) { return of_matrices(p("df")) * p("covariance_matrix"); }},
        {wishart, "mode",
         [](P p, X) {
             const Value covariance = p("covariance_matrix");
             const Value factor = p("df") - covariance.size(-1) - 1;
             return of_matrices(where(factor <= 0, nan_like(factor), factor)) * covariance;
         }},
        {wishart, "variance",
         [](P p, X) {
             const Value v = p("covariance_matrix"), on_it = diagonal(v);
             const Value products = unsqueeze(on_it, -1) * unsqueeze(on_it, -2);
             return of_matrices(p("df")) * (pow(v, 2) + products);
         }},
        {wishart, "log_prob",
         [](P p, X x) {
             const Value nu = p("df"), factor = p("_unbroadcasted_scale_tril");
             const int64_t size = factor.size(-1);
             const Value solved = apply("cholesky_solve", {x[0], expand(factor, x[0].shape())});
             const Value log_det = 2 * log_diagonal(cholesky(x[0]));
             return -nu * (static_cast<double>(size) * std::log(2.0) / 2 + log_diagonal(factor)) -
                    mvlgamma(nu / 2, size) + (nu - size - 1) / 2 * log_det -
                    sum(diagonal(solved), -1) / 2;
         }},
        {wishart, "entropy",
         [](P p, X) {
             const Value nu = p("df"), factor = p("_unbroadcasted_scale_tril");
             const int64_t size = factor.size(-1);
             return (size + 1) *
                        (static_cast<double>(size) * std::log(2.0) / 2 + log_diagonal(factor)) +
                    mvlgamma(nu / 2, size) -
                    (nu - size - 1) / 2 * multivariate_digamma(nu / 2, size) + nu * size / 2;
         }},
    };
}

std::vector<Row> correlation_rows() {
    return {
        {"lkj_cholesky", "log_prob",
         [](P p, X x) {
             const Value a = p("concentration");
             const int64_t size = x[0].size(-1), m = size - 1;
             const Value lengths = narrow(diagonal(x[0]), -1, 1, m);
             const Value order = 2 * unsqueeze(a - 1, -1) + size - (count_like(a, m) + 2);
             const Value alpha = a + 0.5 * static_cast<double>(m);
             const Value normaliser = 0.5 * static_cast<double>(m) * std::log(pi) +
                                      mvlgamma(alpha - 0.5, m) - lgamma(alpha) * m;
             return sum(order * log(lengths), -1) - normaliser;
         }},
    };
}

}  // namespace

Value times_vector(const Value& matrices, const Value& vectors) {
    return squeeze(matmul(matrices, unsqueeze(vectors, -1)), -1);
}

Value squared_length(const Value& factor, const Value& x) {
    return sum(pow(squeeze(solve_lower(factor, unsqueeze(x, -1)), -1), 2), -1);
}

Value log_diagonal(const Value& factor) { return sum(log(diagonal(factor)), -1); }

Value low_rank_log_determinant(const Value& diagonal, const Value& capacitance) {
    return 2 * log_diagonal(capacitance) + sum(log(diagonal), -1);
}

Value low_rank_squared_length(const Value& factor, const Value& diagonal, const Value& x,
                              const Value& capacitance) {
    const Value projected = times_vector(mT(factor) / unsqueeze(diagonal, -2), x);
    return sum(pow(x, 2) / diagonal, -1) - squared_length(capacitance, projected);
}

std::vector<Row> vector_rows() {
    return joined({multivariate_rows(), low_rank_rows(), wishart_rows(), correlation_rows()});
}

}  // namespace composit::aten::distributions

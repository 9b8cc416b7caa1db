// PyTorch's distributions and transforms in C++.
#include "composit/aten/distributions.h"

#include "composit/aten/transforms.h"
#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/operators.h"
#include "number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

namespace {

using namespace composit;
using aten::Distribution;
using aten::number;
using aten::Transform;
using aten::values_of;
using aten::formulas::Value;
using ir::Tensor;

using Given = std::map<std::string, Value>;

Tensor numbers(const std::vector<double>& values) {
    return numpy::array<double>(values, {static_cast<int64_t>(values.size())});
}

Distribution made(const std::string& family, const std::map<std::string, double>& parameters) {
    Given given;
    for (const auto& [name, value] : parameters) given.emplace(name, numbers({value}));
    return {family, given};
}

// Families of numbers with a distribution function, and values of positive density.
struct Case {
    const char* family;
    std::map<std::string, double> parameters;
    double value;
};
const std::vector<Case> with_cdf = {
    {"normal", {{"loc", 0.5}, {"scale", 2}}, 1.3},
    {"laplace", {{"loc", 0.5}, {"scale", 2}}, 1.3},
    {"cauchy", {{"loc", 0.5}, {"scale", 2}}, 1.3},
    {"uniform", {{"low", -1}, {"high", 3}}, 1.3},
    {"exponential", {{"rate", 0.7}}, 1.3},
    {"generalized_pareto", {{"loc", 0.5}, {"scale", 2}, {"concentration", 0.3}}, 1.3},
    {"half_normal", {{"scale", 2}}, 1.3},
    {"half_cauchy", {{"scale", 2}}, 1.3},
    {"continuous_bernoulli", {{"probs", 0.3}}, 0.4},
};

TEST(aten_distributions, densities_are_slopes_of_distribution_functions) {
    for (const Case& of : with_cdf) {
        const Distribution d = made(of.family, of.parameters);
        constexpr double h = 1e-5;
        const double below = number(d.cdf(numbers({of.value - h})));
        const double above = number(d.cdf(numbers({of.value + h})));
        const double density = std::exp(number(d.log_prob(numbers({of.value}))));
        EXPECT_NEAR((above - below) / (2 * h), density, 1e-8) << of.family;
    }
}

TEST(aten_distributions, quantiles_are_inverses) {
    for (const Case& of : with_cdf) {
        const Distribution d = made(of.family, of.parameters);
        const Tensor value = numbers({of.value});
        EXPECT_NEAR(number(d.icdf(d.cdf(value))), of.value, 1e-10) << of.family;
    }
}

// Counts of which a few have nearly all of the probability.
TEST(aten_distributions, probabilities_of_counts_have_the_moments) {
    std::vector<double> counts(60);
    for (size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<double>(i);
    const std::vector<Case> all = {
        {"poisson", {{"rate", 3}}, 0},
        {"geometric", {{"probs", 0.6}}, 0},
        {"negative_binomial", {{"total_count", 3}, {"probs", 0.3}}, 0},
    };
    for (const Case& of : all) {
        const Distribution d = made(of.family, of.parameters);
        const std::vector<double> logs = values_of(d.log_prob(numbers(counts)));
        double sum = 0, mean = 0, square = 0;
        for (size_t i = 0; i < counts.size(); ++i) {
            const double p = std::exp(logs[i]);
            sum += p, mean += p * counts[i], square += p * counts[i] * counts[i];
        }
        EXPECT_NEAR(sum, 1, 1e-9) << of.family;
        EXPECT_NEAR(mean, number(d.mean()), 1e-9) << of.family;
        EXPECT_NEAR(square - mean * mean, number(d.variance()), 1e-9) << of.family;
    }
}

TEST(aten_distributions, parameters_follow_from_others) {
    const Distribution d = made("bernoulli", {{"logits", 0.4}});
    EXPECT_NEAR(number(d("probs").tensor()), 1 / (1 + std::exp(-0.4)), 1e-15);
    EXPECT_NEAR(number(made("gamma", {{"concentration", 2}, {"rate", 4}}).stddev()),
                std::sqrt(2.0 / 16), 1e-15);
}

TEST(aten_distributions, vectors) {
    const Tensor factor = numpy::array<double>({2, 0, 1, 3}, {2, 2});
    const Distribution d("multivariate_normal",
                         {{"loc", numbers({1, -1})}, {"scale_tril", factor}});
    // L^-1 (x - loc) is (1, 1).
    const double expected = -1 - std::log(6.0) - std::log(2 * std::numbers::pi);
    EXPECT_NEAR(number(d.log_prob(numbers({3, 3}))), expected, 1e-13);
    EXPECT_EQ(values_of(d.variance()), (std::vector<double>{4, 10}));
    EXPECT_EQ(number(aten::kl_divergence(d, d)), 0);
    // The same covariance, by a factor of low rank and a diagonal.
    const Distribution low("low_rank_multivariate_normal",
                           {{"loc", numbers({1, -1})},
                            {"cov_factor", numpy::array<double>({1, 2}, {2, 1})},
                            {"cov_diag", numbers({3, 6})}});
    EXPECT_NEAR(number(low.log_prob(numbers({3, 3}))), expected, 1e-13);
    EXPECT_NEAR(number(aten::kl_divergence(low, d)), 0, 1e-13);
    EXPECT_NEAR(number(aten::kl_divergence(d, low)), 0, 1e-13);
    EXPECT_NEAR(number(low.entropy()), number(d.entropy()), 1e-13);
}

TEST(aten_distributions, shapes_of_vectors) {
    const auto found = aten::normal_form({3, 2}, {{}, ir::Shape{4, 1, 2, 2}, {}});
    EXPECT_EQ(found.number, 1u);
    EXPECT_EQ(found.batch, (ir::Shape{4, 3}));
    EXPECT_THROW(aten::normal_form({}, {ir::Shape{2, 2}, {}, {}}), ValueError);
    EXPECT_THROW(aten::normal_form({2}, {ir::Shape{2, 2}, ir::Shape{2, 2}, {}}), ValueError);
    aten::check_sample_shape({7, 1, 2}, {5}, {2});
    EXPECT_THROW(aten::check_sample_shape({7, 3}, {5}, {2}), ValueError);
    EXPECT_THROW(aten::check_sample_shape({4, 2}, {5}, {2}), ValueError);
    EXPECT_EQ(aten::low_rank_batch({5, 2}, {2, 3}, {2}), (ir::Shape{5}));
    EXPECT_THROW(aten::low_rank_batch({5, 2}, {3, 3}, {2}), ValueError);
    EXPECT_THROW(aten::low_rank_batch({5, 2}, {4, 2, 3}, {2}), ValueError);
}

// Of each pair of families of numbers: the mean of log p - log q over equal steps of probability.
TEST(aten_distributions, divergences_are_means_of_logarithms) {
    const std::vector<Case> all = {
        {"normal", {{"loc", 0.5}, {"scale", 0.8}}, 0},
        {"laplace", {{"loc", 0.4}, {"scale", 1.1}}, 0},
        {"exponential", {{"rate", 1.7}}, 0},
        {"uniform", {{"low", 0.2}, {"high", 0.9}}, 0},
        {"continuous_bernoulli", {{"probs", 0.3}}, 0},
    };
    std::vector<double> shares(20000);
    for (size_t i = 0; i < shares.size(); ++i)
        shares[i] = (static_cast<double>(i) + 0.5) / static_cast<double>(shares.size());
    size_t compared = 0;
    for (const Case& one : all)
        for (const Case& other : all) {
            const Distribution p = made(one.family, one.parameters);
            const Distribution q = made(other.family, other.parameters);
            if (!aten::divergence_formula(p.family(), q.family())) continue;
            const double found = number(aten::kl_divergence(p, q));
            if (!std::isfinite(found)) continue;  // q's support is smaller
            const Tensor x = p.icdf(numbers(shares));
            const std::vector<double> terms = values_of(p.log_prob(x) - q.log_prob(x));
            double sum = 0;
            for (const double term : terms) sum += term;
            EXPECT_NEAR(found, sum / static_cast<double>(shares.size()), 1e-3)
                << one.family << " " << other.family;
            ++compared;
        }
    EXPECT_GE(compared, 10u);
}

TEST(aten_distributions, unknown_ones_are_refused) {
    EXPECT_THROW(Distribution("gauss", {}), ValueError);
    EXPECT_THROW(made("poisson", {{"rate", 1}}).cdf(numbers({1})), NotSupported);
    EXPECT_THROW(made("normal", {{"loc", 1}}).stddev(), NotSupported);
    EXPECT_THROW(
        aten::kl_divergence(made("student_t", {{"df", 1}}), made("student_t", {{"df", 1}})),
        NotSupported);
    EXPECT_THROW(Transform("log"), ValueError);
    EXPECT_THROW(Transform("power")(numbers({1})), ValueError);
    EXPECT_THROW(Transform("abs").log_abs_det_jacobian(numbers({1}), numbers({1})), NotSupported);
}

TEST(aten_transforms, inverses_and_jacobians_of_elements) {
    const std::map<std::string, Transform> all = {
        {"exp", Transform("exp")},
        {"sigmoid", Transform("sigmoid")},
        {"softplus", Transform("softplus")},
        {"tanh", Transform("tanh")},
        {"affine", Transform("affine", {{"loc", 0.5}, {"scale", -2.0}})},
        {"power", Transform("power", {{"exponent", 1.7}})},
    };
    constexpr double x = 0.4, h = 1e-6;
    for (const auto& [name, transform] : all) {
        const Tensor at = numbers({x}), y = transform(at);
        EXPECT_NEAR(number(transform.inverse(y)), x, 1e-12) << name;
        const double slope =
            (number(transform(numbers({x + h}))) - number(transform(numbers({x - h})))) / (2 * h);
        EXPECT_NEAR(std::exp(number(transform.log_abs_det_jacobian(at, y))), std::abs(slope), 1e-8)
            << name;
    }
}

TEST(aten_transforms, inverses_of_vectors) {
    for (const char* name : {"stick_breaking", "corr_cholesky"}) {
        const Tensor x = numbers({0.3, -0.2, 0.5});
        const std::vector<double> back = values_of(Transform(name).inverse(Transform(name)(x)));
        EXPECT_NEAR(back[0], 0.3, 1e-12) << name;
        EXPECT_NEAR(back[2], 0.5, 1e-12) << name;
    }
    const Tensor matrix = numpy::array<double>({0.3, 0, 0.2, 0.1}, {2, 2});
    for (const char* name : {"lower_cholesky", "positive_definite"})
        EXPECT_NEAR(values_of(Transform(name).inverse(Transform(name)(matrix)))[2], 0.2, 1e-12);
    EXPECT_THROW(Transform("corr_cholesky")(numbers({0.3, -0.2})), ValueError);
}

TEST(aten_transforms, densities_of_transformed_draws) {
    // exp of a normal variable, scaled: log-normal.
    const Distribution base = made("normal", {{"loc", 0.5}, {"scale", 0.8}});
    const std::vector<Transform> steps = {Transform("exp"),
                                          Transform("affine", {{"loc", 0.0}, {"scale", 3.0}})};
    const double x = 2.5, at = (std::log(x / 3) - 0.5) / 0.8;
    const double expected = -at * at / 2 - std::log(0.8 * x) - 0.5 * std::log(2 * std::numbers::pi);
    EXPECT_NEAR(number(aten::transformed_log_prob(base, steps, numbers({x}))), expected, 1e-13);
}

TEST(aten_distributions, shapes_of_what_is_made_of_others) {
    EXPECT_EQ(aten::composed_event_dims({}), aten::EventDims(0, 0));
    EXPECT_EQ(aten::composed_event_dims({{0, 0}, {1, 1}, {0, 0}}), aten::EventDims(1, 1));
    EXPECT_EQ(aten::composed_event_dims({{0, 0}, {1, 2}}), aten::EventDims(1, 2));
    EXPECT_EQ(aten::reshaped_event({5, 2, 3}, {2, 3}, {6}), (ir::Shape{5, 6}));
    EXPECT_THROW((void)aten::reshaped_event({2, 2}, {2, 3}, {6}), ValueError);
    EXPECT_EQ(aten::matrices_of_below({4, 3}), (ir::Shape{4, 3, 3}));
    EXPECT_EQ(aten::matrices_of_below({4, 0}), (ir::Shape{4, 1, 1}));
    EXPECT_EQ(aten::below_of_matrices({4, 3, 3}), (ir::Shape{4, 3}));
    EXPECT_THROW((void)aten::matrices_of_below({4}), ValueError);
    EXPECT_THROW((void)aten::below_of_matrices({3, 4}), ValueError);
    aten::check_mixture({2}, 3, {2, 3});
    EXPECT_THROW(aten::check_mixture({4}, 3, {2, 3}), ValueError);
    EXPECT_THROW(aten::check_mixture({2}, 4, {2, 3}), ValueError);
}

}  // namespace

// Distributions with a location and a scale: normal, Laplace's, Cauchy's, Student's, uniform, of
// angles.
#include "composit/aten/distribution_rows.h"

#include <cmath>

namespace composit::aten::distributions {
namespace {

using namespace formulas;

// As Python's math.lgamma gives it, which PyTorch calls: a digit other than the nearest double.
constexpr double lgamma_of_half = 0.5723649429247004;

Value standardised(P p, const Value& x) { return (x - p("loc")) / p("scale"); }

std::vector<Row> normal_rows() {
    return {
        {"normal", "mean", [](P p, X) { return p("loc"); }},
        {"normal", "mode", [](P p, X) { return p("loc"); }},
        {"normal", "stddev", [](P p, X) { return p("scale"); }},
        {"normal", "variance", [](P p, X) { return pow(p("stddev"), 2); }},
        {"normal", "log_prob",
         [](P p, X x) {
             const Value squared = pow(x[0] - p("loc"), 2), scale = p("scale");
             return -squared / (2 * pow(scale, 2)) - log(scale) - log_2pi / 2;
         }},
        {"normal", "cdf",
         [](P p, X x) { return 0.5 * (1 + erf(standardised(p, x[0]) / std::sqrt(2.0))); }},
        {"normal", "icdf",
         [](P p, X x) { return p("loc") + p("scale") * erfinv(2 * x[0] - 1) * std::sqrt(2.0); }},
        {"normal", "entropy", [](P p, X) { return 0.5 + 0.5 * log_2pi + log(p("scale")); }},
        {"normal", "natural_0", [](P p, X) { return p("loc") / pow(p("scale"), 2); }},
        {"normal", "natural_1", [](P p, X) { return -0.5 * reciprocal(pow(p("scale"), 2)); }},
        {"normal", "_log_normalizer",
         [](P, X x) { return -0.25 * pow(x[0], 2) / x[1] + 0.5 * log(-pi / x[1]); }},
    };
}

std::vector<Row> laplace_rows() {
    return {
        {"laplace", "mean", [](P p, X) { return p("loc"); }},
        {"laplace", "mode", [](P p, X) { return p("loc"); }},
        {"laplace", "variance", [](P p, X) { return 2 * pow(p("scale"), 2); }},
        {"laplace", "stddev", [](P p, X) { return std::sqrt(2.0) * p("scale"); }},
        {"laplace", "log_prob",
         [](P p, X x) { return -log(2 * p("scale")) - abs(standardised(p, x[0])); }},
        {"laplace", "cdf",
         [](P p, X x) {
             const Value at = standardised(p, x[0]);
             return 0.5 - 0.5 * sign(at) * expm1(-abs(at));
         }},
        {"laplace", "icdf",
         [](P p, X x) {
             const Value term = x[0] - 0.5;
             return p("loc") - p("scale") * sign(term) * log1p(-2 * abs(term));
         }},
        {"laplace", "entropy", [](P p, X) { return 1 + log(2 * p("scale")); }},
    };
}

std::vector<Row> cauchy_rows() {
    return {
        {"cauchy", "mean", [](P p, X) { return nan_like(p("loc")); }},
        {"cauchy", "mode", [](P p, X) { return p("loc"); }},
        {"cauchy", "variance", [](P p, X) { return infinity_like(p("loc")); }},
        {"cauchy", "log_prob",
         [](P p, X x) {
             return -std::log(pi) - log(p("scale")) - log1p(pow(standardised(p, x[0]), 2));
         }},
        {"cauchy", "cdf", [](P p, X x) { return atan(standardised(p, x[0])) / pi + 0.5; }},
        {"cauchy", "icdf", [](P p, X x) { return tan(pi * (x[0] - 0.5)) * p("scale") + p("loc"); }},
        {"cauchy", "entropy", [](P p, X) { return std::log(4 * pi) + log(p("scale")); }},
    };
}

std::vector<Row> student_rows() {
    return {
        {"student_t", "mean",
         [](P p, X) { return where(p("df") <= 1, nan_like(p("loc")), p("loc")); }},
        {"student_t", "mode", [](P p, X) { return p("loc"); }},
        {"student_t", "variance",
         [](P p, X) {
             const Value df = p("df");
             const Value safe = where(df > 2, df, full_like(df, 3));
             const Value finite = pow(p("scale"), 2) * safe / (safe - 2);
             return where(df > 2, finite, where(df > 1, infinity_like(df), nan_like(df)));
         }},
        {"student_t", "log_prob",
         [](P p, X x) {
             const Value df = p("df"), y = (x[0] - p("loc")) / p("scale");
             return -0.5 * (df + 1) * log1p(pow(y, 2) / df) - log(p("scale")) - 0.5 * log(df) -
                    0.5 * std::log(pi) - lgamma(0.5 * df) + lgamma(0.5 * (df + 1));
         }},
        {"student_t", "entropy",
         [](P p, X) {
             const Value half = 0.5 * p("df");
             const Value log_beta = lgamma(half) + lgamma_of_half - lgamma(half + 0.5);
             return log(p("scale")) + (half + 0.5) * (digamma(half + 0.5) - digamma(half)) +
                    0.5 * log(p("df")) + log_beta;
         }},
    };
}

std::vector<Row> uniform_rows() {
    return {
        {"uniform", "mean", [](P p, X) { return (p("high") + p("low")) / 2; }},
        {"uniform", "mode", [](P p, X) { return std::nan("") * p("high"); }},
        {"uniform", "stddev", [](P p, X) { return (p("high") - p("low")) / std::sqrt(12.0); }},
        {"uniform", "variance", [](P p, X) { return pow(p("high") - p("low"), 2) / 12; }},
        {"uniform", "log_prob",
         [](P p, X x) {
             const Value low = p("low"), high = p("high");
             return log(type_as((low <= x[0]) & (high > x[0]), low)) - log(high - low);
         }},
        {"uniform", "cdf",
         [](P p, X x) { return clamp((x[0] - p("low")) / (p("high") - p("low")), 0, 1); }},
        {"uniform", "icdf", [](P p, X x) { return x[0] * (p("high") - p("low")) + p("low"); }},
        {"uniform", "entropy", [](P p, X) { return log(p("high") - p("low")); }},
    };
}

std::vector<Row> von_mises_rows() {
    return {
        {"von_mises", "mean", [](P p, X) { return p("loc"); }},
        {"von_mises", "mode", [](P p, X) { return p("loc"); }},
        {"von_mises", "variance",
         [](P p, X) { return 1 - i1e(p("concentration")) / i0e(p("concentration")); }},
        {"von_mises", "log_prob",
         [](P p, X x) {
             const Value k = p("concentration"), log_bessel = log(i0e(k)) + k;
             return k * cos(x[0] - p("loc")) - log_2pi - log_bessel;
         }},
    };
}

}  // namespace

std::vector<Row> real_rows() {
    return joined({normal_rows(), laplace_rows(), cauchy_rows(), student_rows(), uniform_rows(),
                   von_mises_rows()});
}

}  // namespace composit::aten::distributions

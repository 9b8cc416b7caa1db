// Distributions of positive numbers and probabilities: gamma, beta, Dirichlet's and their kin.
#include "composit/aten/distribution_rows.h"

#include <cmath>

namespace composit::aten::distributions {
namespace {

using namespace formulas;

std::vector<Row> exponential_rows() {
    return {
        {"exponential", "mean", [](P p, X) { return reciprocal(p("rate")); }},
        {"exponential", "mode", [](P p, X) { return zeros_like(p("rate")); }},
        {"exponential", "stddev", [](P p, X) { return reciprocal(p("rate")); }},
        {"exponential", "variance", [](P p, X) { return pow(p("rate"), -2); }},
        {"exponential", "log_prob", [](P p, X x) { return log(p("rate")) - p("rate") * x[0]; }},
        {"exponential", "cdf", [](P p, X x) { return 1 - exp(-p("rate") * x[0]); }},
        {"exponential", "icdf", [](P p, X x) { return -log1p(-x[0]) / p("rate"); }},
        {"exponential", "entropy", [](P p, X) { return 1.0 - log(p("rate")); }},
        {"exponential", "natural_0", [](P p, X) { return -p("rate"); }},
        {"exponential", "_log_normalizer", [](P, X x) { return -log(-x[0]); }},
    };
}

std::vector<Row> gamma_rows() {
    return {
        {"gamma", "mean", [](P p, X) { return p("concentration") / p("rate"); }},
        {"gamma", "mode",
         [](P p, X) { return clamp_min((p("concentration") - 1) / p("rate"), 0); }},
        {"gamma", "variance", [](P p, X) { return p("concentration") / pow(p("rate"), 2); }},
        {"gamma", "log_prob",
         [](P p, X x) {
             const Value a = p("concentration"), rate = p("rate");
             return xlogy(a, rate) + xlogy(a - 1, x[0]) - rate * x[0] - lgamma(a);
         }},
        {"gamma", "cdf", [](P p, X x) { return igamma(p("concentration"), p("rate") * x[0]); }},
        {"gamma", "entropy",
         [](P p, X) {
             const Value a = p("concentration");
             return a - log(p("rate")) + lgamma(a) + (1.0 - a) * digamma(a);
         }},
        {"gamma", "natural_0", [](P p, X) { return p("concentration") - 1; }},
        {"gamma", "natural_1", [](P p, X) { return -p("rate"); }},
        {"gamma", "_log_normalizer",
         [](P, X x) { return lgamma(x[0] + 1) + (x[0] + 1) * log(-reciprocal(x[1])); }},
    };
}

Value dirichlet_mode(const Value& a) {
    const Value above = clamp_min(a - 1, 0.0), mode = above / sum(above, -1, true);
    // Without one above 1 the density is largest in the corner of the largest.
    const Value is_flat = all(a < 1, -1, true);
    const Value corner = scatter(zeros_like(mode), -1, argmax(mode, -1, true), 1.0);
    return where(is_flat, corner, mode);
}

Value dirichlet_log_prob(const Value& a, const Value& x) {
    return sum(xlogy(a - 1.0, x), -1) + lgamma(sum(a, -1)) - sum(lgamma(a), -1);
}

Value dirichlet_entropy(const Value& a) {
    const Value total = sum(a, -1);
    return sum(lgamma(a), -1) - lgamma(total) - (a.size(-1) - total) * digamma(total) -
           sum((a - 1.0) * digamma(a), -1);
}

std::vector<Row> dirichlet_rows() {
    return {
        {"dirichlet", "mean",
         [](P p, X) { return p("concentration") / sum(p("concentration"), -1, true); }},
        {"dirichlet", "mode", [](P p, X) { return dirichlet_mode(p("concentration")); }},
        {"dirichlet", "variance",
         [](P p, X) {
             const Value a = p("concentration"), total = sum(a, -1, true);
             return a * (total - a) / (pow(total, 2) * (total + 1));
         }},
        {"dirichlet", "log_prob",
         [](P p, X x) { return dirichlet_log_prob(p("concentration"), x[0]); }},
        {"dirichlet", "entropy", [](P p, X) { return dirichlet_entropy(p("concentration")); }},
        {"dirichlet", "natural_0", [](P p, X) { return p("concentration"); }},
        {"dirichlet", "_log_normalizer",
         [](P, X x) { return sum(lgamma(x[0]), -1) - lgamma(sum(x[0], -1)); }},
    };
}

// A Dirichlet distribution of two classes, the second of which is the rest.
std::vector<Row> beta_rows() {
    return {
        {"beta", "_concentration",
         [](P p, X) { return paired(p("concentration1"), p("concentration0")); }},
        {"beta", "mean",
         [](P p, X) { return p("concentration1") / (p("concentration1") + p("concentration0")); }},
        {"beta", "mode", [](P p, X) { return select(dirichlet_mode(p("_concentration")), -1, 0); }},
        {"beta", "variance",
         [](P p, X) {
             const Value a = p("concentration1"), b = p("concentration0"), total = a + b;
             return a * b / (pow(total, 2) * (total + 1));
         }},
        {"beta", "log_prob",
         [](P p, X x) {
             return dirichlet_log_prob(p("_concentration"), paired(x[0], 1.0 - x[0]));
         }},
        {"beta", "entropy", [](P p, X) { return dirichlet_entropy(p("_concentration")); }},
        {"beta", "natural_0", [](P p, X) { return p("concentration1"); }},
        {"beta", "natural_1", [](P p, X) { return p("concentration0"); }},
        {"beta", "_log_normalizer",
         [](P, X x) { return lgamma(x[0]) + lgamma(x[1]) - lgamma(x[0] + x[1]); }},
    };
}

Value where_above(const Value& df, double bound, const Value& value) {
    return where(df > bound, value, nan_like(df));
}

std::vector<Row> fisher_rows() {
    return {
        {"fisher_snedecor", "mean",
         [](P p, X) { return where_above(p("df2"), 2, p("df2") / (p("df2") - 2)); }},
        {"fisher_snedecor", "mode",
         [](P p, X) {
             const Value one = p("df1"), two = p("df2");
             const Value mode = (one - 2) / one * two / (two + 2);
             return where(one <= 2, nan_like(mode), mode);
         }},
        {"fisher_snedecor", "variance",
         [](P p, X) {
             const Value one = p("df1"), two = p("df2");
             const Value top = 2 * pow(two, 2) * (one + two - 2);
             return where_above(two, 4, top / (one * pow(two - 2, 2) * (two - 4)));
         }},
        {"fisher_snedecor", "log_prob",
         [](P p, X x) {
             const Value half1 = p("df1") * 0.5, half2 = p("df2") * 0.5;
             const Value ratio = p("df1") / p("df2");
             const Value log_beta = lgamma(half1) + lgamma(half2) - lgamma(half1 + half2);
             return half1 * log(ratio) + (half1 - 1) * log(x[0]) -
                    (half1 + half2) * log1p(ratio * x[0]) - log_beta;
         }},
    };
}

// Where the concentration is 0, the formulas are those of the exponential distribution.
Value is_exponential(P p) { return isclose(p("concentration"), zeros_like(p("concentration"))); }
Value safe_concentration(P p) {
    return where(is_exponential(p), ones_like(p("concentration")), p("concentration"));
}

Value log_survival(P p, const Value& x) {
    const Value y = (x - p("loc")) / p("scale"), k = safe_concentration(p);
    return where(is_exponential(p), -y, -log1p(k * y) / k);
}

Value log_cdf(P p, const Value& x) { return log1p(-exp(log_survival(p, x))); }

std::vector<Row> generalized_pareto_rows() {
    return {
        {"generalized_pareto", "mode", [](P p, X) { return p("loc"); }},
        {"generalized_pareto", "mean",
         [](P p, X) {
             const Value k = p("concentration");
             const Value safe = where(k < 1, k, full_like(k, 0.5));
             return where(k < 1, p("loc") + p("scale") / (1 - safe), nan_like(k));
         }},
        {"generalized_pareto", "variance",
         [](P p, X) {
             const Value k = p("concentration");
             const Value safe = where(k < 0.5, k, full_like(k, 0.25));
             const Value finite = pow(p("scale"), 2) / (pow(1 - safe, 2) * (1 - 2 * safe));
             return where(k < 0.5, finite, nan_like(k));
         }},
        {"generalized_pareto", "log_prob",
         [](P p, X x) {
             const Value y = (x[0] - p("loc")) / p("scale"), k = safe_concentration(p);
             const Value general = -(1 / k + ones_like(p("scale"))) * log1p(k * y);
             return -log(p("scale")) + where(is_exponential(p), -y, general);
         }},
        {"generalized_pareto", "log_survival_function",
         [](P p, X x) { return log_survival(p, x[0]); }},
        {"generalized_pareto", "log_cdf", [](P p, X x) { return log_cdf(p, x[0]); }},
        {"generalized_pareto", "cdf", [](P p, X x) { return exp(log_cdf(p, x[0])); }},
        {"generalized_pareto", "icdf",
         [](P p, X x) {
             const Value left = log1p(-x[0]), k = safe_concentration(p);
             const Value general = p("loc") + p("scale") * expm1(-k * left) / k;
             return where(is_exponential(p), p("loc") - p("scale") * left, general);
         }},
        {"generalized_pareto", "entropy",
         [](P p, X) { return log(p("scale")) + p("concentration") + 1; }},
        // The end of the support.
        {"generalized_pareto", "greatest",
         [](P p, X) {
             const Value k = p("concentration"), loc = p("loc");
             return where(k < 0, loc - p("scale") / k, infinity_like(loc));
         }},
    };
}

}  // namespace

std::vector<Row> positive_rows() {
    return joined({exponential_rows(), gamma_rows(), dirichlet_rows(), beta_rows(), fisher_rows(),
                   generalized_pareto_rows()});
}

}  // namespace composit::aten::distributions

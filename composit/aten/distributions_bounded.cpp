// The continuous Bernoulli distribution, whose formulas lose digits around 1/2: there, between the
// bounds `_least` and `_most`, Taylor's series take their place.
#include "composit/aten/distribution_rows.h"

#include <cmath>

namespace composit::aten::distributions {
namespace {

using namespace formulas;

constexpr const char* bounded = "continuous_bernoulli";

Value is_outside(P p) { return (p("probs") <= p("_least")) | (p("probs") > p("_most")); }

// The probability, or what is at the edge where it is within.
Value cut_of(P p) { return where(is_outside(p), p("probs"), p("_least") * ones_like(p("probs"))); }

Value log_norm(P p) {
    const Value cut = cut_of(p);
    const Value below = where(cut <= 0.5, cut, zeros_like(cut));
    const Value above = where(cut >= 0.5, cut, ones_like(cut));
    const Value difference = log(abs(log1p(-cut) - log(cut)));
    const Value found = difference - where(cut <= 0.5, log1p(-2.0 * below), log(2.0 * above - 1.0));
    const Value x = pow(p("probs") - 0.5, 2);
    const Value taylor = std::log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x;
    return where(is_outside(p), found, taylor);
}

Value bounded_mean(P p) {
    const Value cut = cut_of(p);
    const Value found = cut / (2.0 * cut - 1.0) + 1.0 / (log1p(-cut) - log(cut));
    const Value x = p("probs") - 0.5;
    const Value taylor = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * pow(x, 2)) * x;
    return where(is_outside(p), found, taylor);
}

Value bounded_variance(P p) {
    const Value cut = cut_of(p);
    const Value found =
        cut * (cut - 1.0) / pow(1.0 - 2.0 * cut, 2) + 1.0 / pow(log1p(-cut) - log(cut), 2);
    const Value x = pow(p("probs") - 0.5, 2);
    const Value taylor = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x;
    return where(is_outside(p), found, taylor);
}

Value bounded_cdf(P p, const Value& x) {
    const Value cut = cut_of(p);
    const Value found = (pow(cut, x) * pow(1.0 - cut, 1.0 - x) + cut - 1.0) / (2.0 * cut - 1.0);
    const Value inside = where(is_outside(p), found, x);
    return where(x <= 0.0, zeros_like(inside), where(x >= 1.0, ones_like(inside), inside));
}

Value bounded_icdf(P p, const Value& x) {
    const Value cut = cut_of(p);
    const Value top = log1p(-cut + x * (2.0 * cut - 1.0)) - log1p(-cut);
    return where(is_outside(p), top / (log(cut) - log1p(-cut)), x);
}

Value bounded_normalizer(P p, const Value& x) {
    const Value lower = p("_least") - 0.5, upper = p("_most") - 0.5;
    const Value is_away = (x <= lower) | (x > upper);
    const Value cut = where(is_away, x, lower * ones_like(x));
    const Value found = log(abs(expm1(cut))) - log(abs(cut));
    const Value taylor = 0.5 * x + pow(x, 2) / 24.0 - pow(x, 4) / 2880.0;
    return where(is_away, found, taylor);
}

}  // namespace

std::vector<Row> bounded_rows() {
    return {
        {bounded, "_least", [](P, X) { return Value(0.499); }},
        {bounded, "_most", [](P, X) { return Value(0.501); }},
        {bounded, "probs", [](P p, X) { return clamped_probability(sigmoid(p("logits"))); }},
        {bounded, "logits",
         [](P p, X) {
             const Value clamped = clamped_probability(p("probs"));
             return log(clamped) - log1p(-clamped);
         }},
        {bounded, "mean", [](P p, X) { return bounded_mean(p); }},
        {bounded, "variance", [](P p, X) { return bounded_variance(p); }},
        {bounded, "stddev", [](P p, X) { return sqrt(p("variance")); }},
        {bounded, "_cont_bern_log_norm", [](P p, X) { return log_norm(p); }},
        {bounded, "log_prob",
         [](P p, X x) {
             const auto [logits, value] = broadcast(p("logits"), x[0]);
             return -cross_entropy(logits, value) + log_norm(p);
         }},
        {bounded, "cdf", [](P p, X x) { return bounded_cdf(p, x[0]); }},
        {bounded, "icdf", [](P p, X x) { return bounded_icdf(p, x[0]); }},
        {bounded, "entropy",
         [](P p, X) {
             const Value log_rest = log1p(-p("probs")), log_probs = log(p("probs"));
             return p("mean") * (log_rest - log_probs) - log_norm(p) - log_rest;
         }},
        {bounded, "natural_0", [](P p, X) { return p("logits"); }},
        {bounded, "_log_normalizer", [](P p, X x) { return bounded_normalizer(p, x[0]); }},
    };
}

}  // namespace composit::aten::distributions

// Distributions of trials, of counts and of classes.
#include "composit/aten/distribution_rows.h"

#include <cmath>

namespace composit::aten::distributions {
namespace {

using namespace formulas;

// A probability follows from its log-odds, and they from it.
Value probs_of_logits(P p, X) { return sigmoid(p("logits")); }
Value logits_of_probs(P p, X) {
    const Value clamped = clamped_probability(p("probs"));
    return log(clamped) - log1p(-clamped);
}

std::vector<Row> bernoulli_rows() {
    return {
        {"bernoulli", "probs", probs_of_logits},
        {"bernoulli", "logits", logits_of_probs},
        {"bernoulli", "mean", [](P p, X) { return p("probs"); }},
        {"bernoulli", "mode",
         [](P p, X) {
             const Value probs = p("probs"), mode = type_as(probs >= 0.5, probs);
             return where(probs == 0.5, nan_like(mode), mode);
         }},
        {"bernoulli", "variance", [](P p, X) { return p("probs") * (1 - p("probs")); }},
        {"bernoulli", "log_prob",
         [](P p, X x) {
             const auto [logits, value] = broadcast(p("logits"), x[0]);
             return -cross_entropy(logits, value);
         }},
        {"bernoulli", "entropy", [](P p, X) { return cross_entropy(p("logits"), p("probs")); }},
        {"bernoulli", "_log_normalizer", [](P, X x) { return log1p(exp(x[0])); }},
    };
}

std::vector<Row> geometric_rows() {
    return {
        {"geometric", "probs", probs_of_logits},
        {"geometric", "logits", logits_of_probs},
        {"geometric", "mean", [](P p, X) { return 1.0 / p("probs") - 1.0; }},
        {"geometric", "mode", [](P p, X) { return zeros_like(p("probs")); }},
        {"geometric", "variance", [](P p, X) { return (1.0 / p("probs") - 1.0) / p("probs"); }},
        {"geometric", "log_prob",
         [](P p, X x) {
             const auto [value, given] = broadcast(x[0], p("probs"));
             // 0 failures of a probability of 1 have the logarithm 0.
             const Value probs = where((given == 1) & (value == 0), zeros_like(given), given);
             return value * log1p(-probs) + log(p("probs"));
         }},
        {"geometric", "entropy",
         [](P p, X) { return cross_entropy(p("logits"), p("probs")) / p("probs"); }},
    };
}

std::vector<Row> binomial_rows() {
    return {
        {"binomial", "probs", probs_of_logits},
        {"binomial", "logits", logits_of_probs},
        {"binomial", "mean", [](P p, X) { return p("total_count") * p("probs"); }},
        {"binomial", "mode",
         [](P p, X) {
             return clamp_max(floor((p("total_count") + 1) * p("probs")), p("total_count"));
         }},
        {"binomial", "variance",
         [](P p, X) { return p("total_count") * p("probs") * (1 - p("probs")); }},
        {"binomial", "log_prob",
         [](P p, X x) {
             const Value n = p("total_count"), logits = p("logits"), &value = x[0];
             const Value of_places = lgamma(n + 1) - lgamma(value + 1) - lgamma(n - value + 1);
             // k log p + (n - k) log(1 - p), with log(1 + exp(-|logits|)) in place of exp(logits)
             const Value soft = clamp_min(logits, 0) + log1p(exp(-abs(logits)));
             return of_places + value * logits - n * soft;
         }},
    };
}

std::vector<Row> negative_binomial_rows() {
    return {
        {"negative_binomial", "probs", probs_of_logits},
        {"negative_binomial", "logits", logits_of_probs},
        {"negative_binomial", "mean", [](P p, X) { return p("total_count") * exp(p("logits")); }},
        {"negative_binomial", "mode",
         [](P p, X) { return clamp_min(floor((p("total_count") - 1) * exp(p("logits"))), 0.0); }},
        {"negative_binomial", "variance", [](P p, X) { return p("mean") / sigmoid(-p("logits")); }},
        {"negative_binomial", "log_prob",
         [](P p, X x) {
             const Value n = p("total_count"), logits = p("logits"), &value = x[0];
             const Value of_probs = n * logsigmoid(-logits) + value * logsigmoid(logits);
             const Value of_places = -lgamma(n + value) + lgamma(1.0 + value) + lgamma(n);
             return of_probs - masked_fill(of_places, n + value == 0.0, 0.0);
         }},
    };
}

std::vector<Row> poisson_rows() {
    return {
        {"poisson", "mean", [](P p, X) { return p("rate"); }},
        {"poisson", "mode", [](P p, X) { return floor(p("rate")); }},
        {"poisson", "variance", [](P p, X) { return p("rate"); }},
        {"poisson", "log_prob",
         [](P p, X x) {
             const auto [rate, value] = broadcast(p("rate"), x[0]);
             return xlogy(value, rate) - rate - lgamma(value + 1);
         }},
        {"poisson", "natural_0", [](P p, X) { return log(p("rate")); }},
        {"poisson", "_log_normalizer", [](P, X x) { return exp(x[0]); }},
    };
}

std::vector<Row> categorical_rows() {
    return {
        {"categorical", "probs", [](P p, X) { return apply("softmax", {p("logits"), -1}); }},
        {"categorical", "logits", [](P p, X) { return log(clamped_probability(p("probs"))); }},
        {"categorical", "mode", [](P p, X) { return argmax(p("probs"), -1); }},
        {"categorical", "log_prob",
         [](P p, X x) {
             const auto [value, log_pmf] =
                 broadcast(unsqueeze(apply("long", x[0]), -1), p("logits"));
             return squeeze(gather(log_pmf, -1, narrow(value, -1, 0, 1)), -1);
         }},
        {"categorical", "entropy",
         [](P p, X) {
             const Value logits = clamp_min(p("logits"), lowest(p("logits").dtype()));
             return -sum(logits * p("probs"), -1);
         }},
    };
}

std::vector<Row> one_hot_rows() {
    return {
        {"one_hot_categorical", "mean", [](P p, X) { return p("probs"); }},
        {"one_hot_categorical", "variance", [](P p, X) { return p("probs") * (1 - p("probs")); }},
    };
}

std::vector<Row> multinomial_rows() {
    return {
        {"multinomial", "mean", [](P p, X) { return p("probs") * p("total_count"); }},
        {"multinomial", "variance",
         [](P p, X) { return p("total_count") * p("probs") * (1 - p("probs")); }},
        {"multinomial", "log_prob",
         [](P p, X x) {
             const auto [given, value] = broadcast(p("logits"), x[0]);
             const Value log_factorials = sum(lgamma(value + 1), -1);
             // A class that cannot come, and did not, counts for nothing.
             const Value logits = masked_fill(given, (value == 0) & (given == -HUGE_VAL), 0);
             return lgamma(sum(value, -1) + 1) - log_factorials + sum(logits * value, -1);
         }},
    };
}

}  // namespace

Value clamped_probability(const Value& x) {
    const double eps = epsilon_of(x.dtype());
    return clamp(x, eps, 1 - eps);
}

std::vector<Row> counted_rows() {
    return joined({bernoulli_rows(), geometric_rows(), binomial_rows(), negative_binomial_rows(),
                   poisson_rows(), categorical_rows(), one_hot_rows(), multinomial_rows()});
}

}  // namespace composit::aten::distributions

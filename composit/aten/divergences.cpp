// Kullback and Leibler's divergences.
//
// KL(p || q) is the mean under p of log p - log q: minus p's entropy, minus the mean log density of
// q. The latter needs a few moments of p, so that a table of moments and one of densities stand for
// most pairs. Where that loses digits, formulas of their own take its place.
#include "composit/aten/distribution_rows.h"
#include "composit/base/error.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace composit::aten {
namespace {

using namespace formulas;
using namespace distributions;

// ----- by moments of p and the density of q

using Moment = Value (*)(P p);
using Decay = Value (*)(P p, const Value& t);

Value x_log_x(const Value& x) { return xlogy(x, x); }

// What is known of p: the means of log x, of log(1 - x), of exp(-t x), and the bounds.
struct Known {
    Moment log = nullptr, log_rest = nullptr;
    Decay decay = nullptr;
    std::pair<Value, Value> (*bounds)(P) = nullptr;
};

std::pair<Value, Value> unit(P) { return {0, 1}; }
std::pair<Value, Value> positive(P) { return {0, HUGE_VAL}; }
std::pair<Value, Value> real(P) { return {-HUGE_VAL, HUGE_VAL}; }

using KnownTable = std::map<std::string_view, Known>;

KnownTable made_known() {
    return {
        {"beta",
         {[](P p) {
              return digamma(p("concentration1")) -
                     digamma(p("concentration1") + p("concentration0"));
          },
          [](P p) {
              return digamma(p("concentration0")) -
                     digamma(p("concentration1") + p("concentration0"));
          },
          nullptr, unit}},
        {"continuous_bernoulli", {nullptr, nullptr, nullptr, unit}},
        {"gamma",
         {[](P p) { return digamma(p("concentration")) - formulas::log(p("rate")); }, nullptr,
          [](P p, const Value& t) { return pow(1 + t / p("rate"), -p("concentration")); },
          positive}},
        {"exponential",
         {[](P p) { return -euler - formulas::log(p("rate")); }, nullptr,
          [](P p, const Value& t) { return p("rate") / (p("rate") + t); }, positive}},
        {"gumbel",
         {nullptr, nullptr,
          [](P p, const Value& t) { return exp(-t * p("loc") + lgamma(1 + t * p("scale"))); },
          real}},
        {"laplace", {nullptr, nullptr, nullptr, real}},
        {"normal",
         {nullptr, nullptr,
          [](P p, const Value& t) { return exp(-t * p("loc") + 0.5 * pow(t * p("scale"), 2)); },
          real}},
        {"pareto",
         {[](P p) { return formulas::log(p("scale")) + 1 / p("alpha"); }, nullptr, nullptr,
          [](P p) -> std::pair<Value, Value> { return {p("scale"), HUGE_VAL}; }}},
        {"uniform",
         {[](P p) {
              const Value low = p("low"), high = p("high");
              return (x_log_x(high) - x_log_x(low)) / (high - low) - 1;
          },
          [](P p) {
              const Value low = p("low"), high = p("high");
              return (x_log_x(1 - low) - x_log_x(1 - high)) / (high - low) - 1;
          },
          [](P p, const Value& t) {
              return (exp(-t * p("low")) - exp(-t * p("high"))) / (t * (p("high") - p("low")));
          },
          [](P p) -> std::pair<Value, Value> { return {p("low"), p("high")}; }}},
    };
}

const KnownTable& known() {
    static const auto* const all = new KnownTable(made_known());
    return *all;
}

// p's moments, for the densities below.
struct Moments {
    P p;
    const Known& of;
    [[nodiscard]] Value mean() const { return p("mean"); }
    [[nodiscard]] Value variance() const { return p("variance"); }
    [[nodiscard]] Value log() const { return of.log(p); }
    [[nodiscard]] Value log_rest() const { return of.log_rest(p); }
    [[nodiscard]] Value decay(const Value& t) const { return of.decay(p, t); }
};

using Density = Value (*)(P q, const Moments& m);

Value log_beta(const Value& a, const Value& b) { return lgamma(a) + lgamma(b) - lgamma(a + b); }

// The mean log density of q.
const std::map<std::string_view, Density>& densities() {
    static const auto* const all = new std::map<std::string_view, Density>{
        {"beta",
         [](P q, const Moments& m) {
             const Value a = q("concentration1"), b = q("concentration0");
             return (a - 1) * m.log() + (b - 1) * m.log_rest() - log_beta(a, b);
         }},
        {"continuous_bernoulli",
         [](P q, const Moments& m) {
             return m.mean() * q("logits") + log1p(-q("probs")) + q("_cont_bern_log_norm");
         }},
        {"exponential",
         [](P q, const Moments& m) { return log(q("rate")) - q("rate") * m.mean(); }},
        {"gamma",
         [](P q, const Moments& m) {
             const Value a = q("concentration"), rate = q("rate");
             return a * log(rate) - lgamma(a) + (a - 1) * m.log() - rate * m.mean();
         }},
        {"gumbel",
         [](P q, const Moments& m) {
             const Value loc = q("loc"), scale = q("scale"), factor = exp(loc / scale);
             return -log(scale) - (m.mean() - loc) / scale - factor * m.decay(1 / scale);
         }},
        {"normal",
         [](P q, const Moments& m) {
             const Value loc = q("loc"), scale = q("scale");
             return -log(scale) - log_2pi / 2 -
                    (m.variance() + pow(m.mean() - loc, 2)) / (2 * pow(scale, 2));
         }},
        {"pareto",
         [](P q, const Moments& m) {
             const Value alpha = q("alpha");
             return log(alpha) + alpha * log(q("scale")) - (alpha + 1) * m.log();
         }},
        {"uniform", [](P q, const Moments&) { return -log(q("high") - q("low")); }},
    };
    return *all;
}

// Whether a is below b everywhere or nowhere, of numbers; else where.
struct Below {
    bool is_known, is_below;
    std::optional<Value> where;
};
Below below(const Value& a, const Value& b) {
    const auto number = [](const Value& x) {
        return x.real() ? *x.real() : static_cast<double>(*x.integer());
    };
    if (a.is_number() && b.is_number()) return {true, number(a) < number(b), {}};
    return {false, false, a < b};
}

Value by_moments(std::string_view kind_p, std::string_view kind_q, P p, P q) {
    const Known& of = known().at(kind_p);
    const auto [low, high] = of.bounds(p);
    const auto [lowest, highest] = known().at(kind_q).bounds(q);
    // A Pareto variable's scale is above 0.
    const bool is_surely_below = low.is_number() && kind_q == "pareto";
    const Below least = is_surely_below ? Below{true, true, {}} : below(low, lowest);
    const Below most = below(highest, high);
    if (least.is_below || most.is_below) return infinity_like(p("mean"));
    Value found = -p("entropy") - densities().at(kind_q)(q, {p, of});
    for (const Below& is_outside : {least, most})
        if (!is_outside.is_known) found = where(*is_outside.where, infinity_like(found), found);
    return found;
}

// ----- of pairs of one kind

Value normals(P p, P q) {
    const Value ratio = pow(p("scale") / q("scale"), 2);
    const Value distance = pow((p("loc") - q("loc")) / q("scale"), 2);
    return 0.5 * (ratio + distance - 1 - log(ratio));
}

Value normal_laplace(P p, P q) {
    const Value distance = p("loc") - q("loc"), ratio = distance / p("scale");
    const Value near = std::sqrt(2 / pi) * p("scale") * exp(-0.5 * pow(ratio, 2));
    const Value far = distance * erf(std::sqrt(0.5) * ratio);
    const Value scales = p("scale") / q("scale");
    return -log(scales) + (near + far) / q("scale") - 0.5 * (1 + std::log(0.5 * pi));
}

Value laplaces(P p, P q) {
    const Value ratio = p("scale") / q("scale"), distance = abs(p("loc") - q("loc"));
    return -log(ratio) + distance / q("scale") + ratio * exp(-distance / p("scale")) - 1;
}

Value cauchys(P p, P q) {
    const Value apart = log(pow(p("scale") + q("scale"), 2) + pow(p("loc") - q("loc"), 2));
    return apart - log(4 * p("scale") * q("scale"));
}

// Of means 0.
Value half_normals(P p, P q) {
    const Value ratio = pow(p("scale") / q("scale"), 2);
    return 0.5 * (ratio + 0.0 - 1 - log(ratio));
}

Value bernoullis(P p, P q) {
    const Value ones = softplus(-q("logits")) - softplus(-p("logits"));
    const Value zeros = softplus(q("logits")) - softplus(p("logits"));
    Value t1 = p("probs") * ones, t2 = (1 - p("probs")) * zeros;
    const Value infinity = infinity_like(t1);
    t1 = where(q("probs") == 0, infinity, t1);
    t1 = where(p("probs") == 0, zeros_like(t1), t1);
    t2 = where(q("probs") == 1, infinity, t2);
    return t1 + where(p("probs") == 1, zeros_like(t2), t2);
}

Value bernoulli_poisson(P p, P q) {
    return -p("entropy") - (p("probs") * log(q("rate")) - q("rate"));
}

Value binomials(P p, P q) {
    const Value rest = log1p(-p("probs")) - log1p(-q("probs"));
    const Value found = p("total_count") * (p("probs") * (p("logits") - q("logits")) + rest);
    return where(p("total_count") > q("total_count"), infinity_like(found), found);
}

Value categoricals(P p, P q) {
    Value terms = p("probs") * (p("logits") - q("logits"));
    terms = where(q("probs") == 0, infinity_like(terms), terms);
    terms = where(p("probs") == 0, zeros_like(terms), terms);
    return sum(terms, -1);
}

Value geometrics(P p, P q) { return -p("entropy") - log1p(-q("probs")) / p("probs") - q("logits"); }

Value poissons(P p, P q) {
    return p("rate") * (log(p("rate")) - log(q("rate"))) - (p("rate") - q("rate"));
}

Value poisson_infinite(P p, P) { return infinity_like(p("rate")); }

Value dirichlets(P p, P q) {
    const Value a = p("concentration"), b = q("concentration");
    const Value total_p = sum(a, -1), total_q = sum(b, -1);
    const Value normalisers = lgamma(total_p) - lgamma(total_q) - sum(lgamma(a) - lgamma(b), -1);
    const Value logs = digamma(a) - unsqueeze(digamma(total_p), -1);
    return normalisers + sum((a - b) * logs, -1);
}

Value uniforms(P p, P q) {
    const Value found = log((q("high") - q("low")) / (p("high") - p("low")));
    const Value is_outside = (q("low") > p("low")) | (q("high") < p("high"));
    return where(is_outside, infinity_like(found), found);
}

Value paretos(P p, P q) {
    const Value ratio = p("scale") / q("scale"), alphas = q("alpha") / p("alpha");
    const Value found = q("alpha") * log(ratio) - log(alphas) + alphas - 1;
    return where(p("scale") < q("scale"), infinity_like(found), found);
}

// ----- of vectors

// Whether p's and q's events have one length. ValueError, PyTorch's words.
void check_events(P p, P q, std::string_view what) {
    user_check(p("loc").size(-1) == q("loc").size(-1), "KL-divergence between two ", what,
               " with different event shapes cannot be computed");
}

// The sum of squares of L^-1 M: a trace, of batches that broadcast.
Value trace_of_squared(const Value& factor, const Value& matrix) {
    return sum(pow(solve_lower(factor, matrix), 2), ir::Shape{-2, -1});
}

Value normal_vectors(P p, P q) {
    check_events(p, q, "Multivariate Normals");
    const Value of_p = p("_unbroadcasted_scale_tril"), of_q = q("_unbroadcasted_scale_tril");
    const Value half = log_diagonal(of_q) - log_diagonal(of_p);
    const Value loc = p("loc");
    const Value length = squared_length(of_q, q("loc") - loc);
    return half + 0.5 * (trace_of_squared(of_q, of_p) + length - loc.size(-1));
}

Value low_rank_normal(P p, P q) {
    check_events(p, q, "(Low Rank) Multivariate Normals");
    const Value of_q = q("_unbroadcasted_scale_tril"), diagonal = p("_unbroadcasted_cov_diag");
    const Value determinant = low_rank_log_determinant(diagonal, p("_capacitance_tril"));
    const Value loc = p("loc"), length = squared_length(of_q, q("loc") - loc);
    const Value trace = trace_of_squared(of_q, p("_unbroadcasted_cov_factor")) +
                        trace_of_squared(of_q, diag_embed(sqrt(diagonal)));
    return 0.5 * (2 * log_diagonal(of_q) - determinant + trace + length - loc.size(-1));
}

// q of low rank: by Woodbury's identity, the trace of q^-1 C is that of D^-1 C, less what the
// factor takes away. `roots` are those of p's covariance, `half` its determinant's logarithm.
Value in_low_rank(P p, P q, const std::vector<Value>& roots, const Value& half) {
    const Value diagonal = q("_unbroadcasted_cov_diag"), factor = q("_unbroadcasted_cov_factor");
    const Value capacitance = q("_capacitance_tril"), loc = p("loc");
    const Value determinant = low_rank_log_determinant(diagonal, capacitance);
    const Value length = low_rank_squared_length(factor, diagonal, q("loc") - loc, capacitance);
    const Value kernel =
        solve_lower(capacitance, transpose(factor, -2, -1) / unsqueeze(diagonal, -2));
    Value trace = 0;
    for (const Value& root : roots)
        trace = trace + (sum(sum(pow(root, 2), -1) / diagonal, -1) -
                         sum(pow(matmul(kernel, root), 2), ir::Shape{-2, -1}));
    return 0.5 * (determinant - half + trace + length - loc.size(-1));
}

Value normal_low_rank(P p, P q) {
    check_events(p, q, "(Low Rank) Multivariate Normals");
    const Value factor = p("_unbroadcasted_scale_tril");
    return in_low_rank(p, q, {factor}, 2 * log_diagonal(factor));
}

Value low_ranks(P p, P q) {
    check_events(p, q, "Low Rank Multivariate Normals");
    const Value diagonal = p("_unbroadcasted_cov_diag");
    const Value determinant = low_rank_log_determinant(diagonal, p("_capacitance_tril"));
    return in_low_rank(p, q, {p("_unbroadcasted_cov_factor"), diag_embed(sqrt(diagonal))},
                       determinant);
}

struct Pair {
    std::string_view p, q;
    Value (*formula)(P, P);
};
constexpr Pair pairs_with_formulas[] = {
    {"normal", "normal", normals},
    {"normal", "laplace", normal_laplace},
    {"laplace", "laplace", laplaces},
    {"cauchy", "cauchy", cauchys},
    {"half_normal", "half_normal", half_normals},
    {"bernoulli", "bernoulli", bernoullis},
    {"bernoulli", "poisson", bernoulli_poisson},
    {"binomial", "binomial", binomials},
    {"categorical", "categorical", categoricals},
    {"one_hot_categorical", "one_hot_categorical", categoricals},
    {"geometric", "geometric", geometrics},
    {"poisson", "poisson", poissons},
    {"poisson", "bernoulli", poisson_infinite},
    {"poisson", "binomial", poisson_infinite},
    {"dirichlet", "dirichlet", dirichlets},
    {"uniform", "uniform", uniforms},
    {"pareto", "pareto", paretos},
    {"multivariate_normal", "multivariate_normal", normal_vectors},
    {"low_rank_multivariate_normal", "multivariate_normal", low_rank_normal},
    {"multivariate_normal", "low_rank_multivariate_normal", normal_low_rank},
    {"low_rank_multivariate_normal", "low_rank_multivariate_normal", low_ranks},
};

// Pairs whose divergence follows from moments: which q each p has, in this order.
constexpr std::string_view kinds[] = {"beta",        "continuous_bernoulli",
                                      "exponential", "gamma",
                                      "gumbel",      "laplace",
                                      "normal",      "pareto",
                                      "uniform"};
constexpr std::string_view by_moments_of[] = {
    "xxxx..xxx",  // beta
    ".xx...xxx",  // continuous_bernoulli
    "xxxxx.xxx",  // exponential
    "xxxxx.xxx",  // gamma
    "xxxxx.xxx",  // gumbel
    "xxxx..xxx",  // laplace
    "xxxxx..xx",  // normal
    "xxxx..xxx",  // pareto
    "xxxxx.xxx",  // uniform
};

const Pair* pair_of(std::string_view p, std::string_view q) {
    const auto* const found =
        std::find_if(std::begin(pairs_with_formulas), std::end(pairs_with_formulas),
                     [&](const Pair& pair) { return pair.p == p && pair.q == q; });
    return found == std::end(pairs_with_formulas) ? nullptr : found;
}

std::optional<size_t> kind_of(std::string_view family) {
    const auto* const found = std::find(std::begin(kinds), std::end(kinds), family);
    if (found == std::end(kinds)) return {};
    return static_cast<size_t>(found - std::begin(kinds));
}

bool follows_from_moments(std::string_view p, std::string_view q) {
    const auto i = kind_of(p), j = kind_of(q);
    return i && j && by_moments_of[*i][*j] == 'x';
}

}  // namespace

std::vector<std::pair<std::string, std::string>> divergence_pairs() {
    std::vector<std::pair<std::string, std::string>> all;
    for (const Pair& pair : pairs_with_formulas) all.emplace_back(pair.p, pair.q);
    for (const std::string_view p : kinds)
        for (const std::string_view q : kinds)
            if (!pair_of(p, q) && follows_from_moments(p, q)) all.emplace_back(p, q);
    return all;
}

Divergence divergence_formula(std::string_view p, std::string_view q) {
    if (const Pair* pair = pair_of(p, q)) return pair->formula;
    if (!follows_from_moments(p, q)) return {};
    return [i = *kind_of(p), j = *kind_of(q)](P of_p, P of_q) {
        return by_moments(kinds[i], kinds[j], of_p, of_q);
    };
}

}  // namespace composit::aten

// Distributions of what transforms make of others: moments, and densities where they have formulas
// of their own. Densities of the rest follow from their transforms (transforms.h).
#include "composit/aten/distribution_rows.h"

#include <array>
#include <cmath>

namespace composit::aten::distributions {
namespace {

using namespace formulas;

// Another distribution's parameters, of a location of 0.
class AroundZero : public Parameters {
  public:
    explicit AroundZero(P of) : of_(of) {}
    Value operator()(std::string_view name) const override {
        return name == "loc" ? Value(0.0) : of_(name);
    }

  private:
    P of_;
};

Value around_zero(const char* family, const char* asked, P p, X x) {
    return distribution_formula(family, asked)(AroundZero(p), x);
}

// The absolute value of a variable that is symmetric around 0.
template <class Family>
std::vector<Row> folded_rows(const char* name, Family) {
    return {
        {name, "mode", [](P p, X) { return zeros_like(p("scale")); }},
        {name, "log_prob",
         [](P p, X x) {
             const Value found = around_zero(Family::name, "log_prob", p, x) + log_2;
             return where(x[0] >= 0, found, full_like(found, -HUGE_VAL));
         }},
        {name, "cdf", [](P p, X x) { return 2 * around_zero(Family::name, "cdf", p, x) - 1; }},
        {name, "icdf",
         [](P p, X x) {
             const std::array<Value, 1> given{(x[0] + 1) / 2};
             return around_zero(Family::name, "icdf", p, given);
         }},
        {name, "entropy",
         [](P p, X x) { return around_zero(Family::name, "entropy", p, x) - log_2; }},
    };
}
struct Normal {
    static constexpr const char* name = "normal";
};
struct Cauchy {
    static constexpr const char* name = "cauchy";
};

std::vector<Row> half_rows() {
    return {
        {"half_normal", "mean", [](P p, X) { return p("scale") * std::sqrt(2 / pi); }},
        {"half_normal", "variance", [](P p, X) { return pow(p("scale"), 2) * (1 - 2 / pi); }},
        {"half_cauchy", "mean", [](P p, X) { return infinity_like(p("scale")); }},
        {"half_cauchy", "variance", [](P p, X) { return infinity_like(p("scale")); }},
    };
}

std::vector<Row> log_normal_rows() {
    return {
        {"log_normal", "mean", [](P p, X) { return exp(p("loc") + pow(p("scale"), 2) / 2); }},
        {"log_normal", "mode", [](P p, X) { return exp(p("loc") - square(p("scale"))); }},
        {"log_normal", "variance",
         [](P p, X) {
             const Value squared = pow(p("scale"), 2);
             return expm1(squared) * exp(2 * p("loc") + squared);
         }},
        {"log_normal", "entropy",
         [](P p, X) { return distribution_formula("normal", "entropy")(p, {}) + p("loc"); }},
    };
}

std::vector<Row> gumbel_rows() {
    return {
        {"gumbel", "mean", [](P p, X) { return p("loc") + p("scale") * euler; }},
        {"gumbel", "mode", [](P p, X) { return p("loc"); }},
        {"gumbel", "stddev", [](P p, X) { return pi / std::sqrt(6.0) * p("scale"); }},
        {"gumbel", "variance", [](P p, X) { return pow(p("stddev"), 2); }},
        {"gumbel", "log_prob",
         [](P p, X x) {
             const Value y = (p("loc") - x[0]) / p("scale");
             return (y - exp(y)) - log(p("scale"));
         }},
        {"gumbel", "entropy", [](P p, X) { return log(p("scale")) + (1 + euler); }},
    };
}

Value weibull_moment(P p, double n) { return exp(lgamma(1 + n * p("concentration_reciprocal"))); }

std::vector<Row> weibull_rows() {
    return {
        {"weibull", "concentration_reciprocal",
         [](P p, X) { return reciprocal(p("concentration")); }},
        {"weibull", "mean", [](P p, X) { return p("scale") * weibull_moment(p, 1); }},
        {"weibull", "mode",
         [](P p, X) {
             const Value k = p("concentration");
             return p("scale") * pow((k - 1) / k, reciprocal(k));
         }},
        {"weibull", "variance",
         [](P p, X) {
             return pow(p("scale"), 2) * (weibull_moment(p, 2) - pow(weibull_moment(p, 1), 2));
         }},
        {"weibull", "entropy",
         [](P p, X) {
             const Value one_by_k = p("concentration_reciprocal");
             return euler * (1 - one_by_k) + log(p("scale") * one_by_k) + 1;
         }},
    };
}

std::vector<Row> pareto_rows() {
    return {
        {"pareto", "mean",
         [](P p, X) {
             const Value a = clamp_min(p("alpha"), 1);  // infinite up to 1
             return a * p("scale") / (a - 1);
         }},
        {"pareto", "mode", [](P p, X) { return p("scale"); }},
        {"pareto", "variance",
         [](P p, X) {
             const Value a = clamp_min(p("alpha"), 2);  // infinite up to 2
             return pow(p("scale"), 2) * a / (pow(a - 1, 2) * (a - 2));
         }},
        {"pareto", "entropy",
         [](P p, X) { return log(p("scale") / p("alpha")) + (1 + reciprocal(p("alpha"))); }},
    };
}

Value kumaraswamy_moment(P p, int n) {
    const Value a = p("concentration1"), b = p("concentration0"), one = 1 + n / a;
    return b * exp(lgamma(one) + lgamma(b) - lgamma(one + b));
}

std::vector<Row> kumaraswamy_rows() {
    return {
        {"kumaraswamy", "mean", [](P p, X) { return kumaraswamy_moment(p, 1); }},
        {"kumaraswamy", "mode",
         [](P p, X) {
             const Value a = p("concentration1"), b = p("concentration0");
             const Value mode = pow((a - 1) / (a * b - 1), reciprocal(a));
             const Value has_mode = (a >= 1) & (b >= 1) & ~((a == 1) & (b == 1));
             return where(has_mode, mode, nan_like(mode));
         }},
        {"kumaraswamy", "variance",
         [](P p, X) { return kumaraswamy_moment(p, 2) - pow(kumaraswamy_moment(p, 1), 2); }},
        {"kumaraswamy", "entropy",
         [](P p, X) {
             const Value a = p("concentration1"), b = p("concentration0");
             const Value t1 = 1 - reciprocal(a), t0 = 1 - reciprocal(b);
             const Value harmonic = digamma(b + 1) + euler;
             return t0 + t1 * harmonic - log(a) - log(b);
         }},
    };
}

std::vector<Row> inverse_gamma_rows() {
    return {
        {"inverse_gamma", "mean",
         [](P p, X) {
             const Value a = p("concentration");
             return where(a > 1, p("rate") / (a - 1), infinity_like(a));
         }},
        {"inverse_gamma", "mode", [](P p, X) { return p("rate") / (p("concentration") + 1); }},
        {"inverse_gamma", "variance",
         [](P p, X) {
             const Value a = p("concentration");
             const Value finite = square(p("rate")) / (square(a - 1) * (a - 2));
             return where(a > 2, finite, infinity_like(a));
         }},
        {"inverse_gamma", "entropy",
         [](P p, X) {
             const Value a = p("concentration");
             return a + log(p("rate")) + lgamma(a) - (1 + a) * digamma(a);
         }},
    };
}

}  // namespace

std::vector<Row> derived_rows() {
    return joined({folded_rows("half_normal", Normal{}), folded_rows("half_cauchy", Cauchy{}),
                   half_rows(), log_normal_rows(), gumbel_rows(), weibull_rows(), pareto_rows(),
                   kumaraswamy_rows(), inverse_gamma_rows()});
}

}  // namespace composit::aten::distributions

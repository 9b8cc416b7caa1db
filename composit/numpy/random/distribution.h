// What a distribution is: a function of bits and parameters, and the parameters that it takes.
#pragma once

#include "composit/numpy/operand.h"
#include "composit/numpy/random/bit_generator.h"

#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace composit::numpy::random {

// The shape of a draw, {2, 3}; none: that of the parameters, broadcast.
class Size : public std::optional<Shape> {
  public:
    using optional::optional;
    Size(std::optional<Shape> shape) : optional(std::move(shape)) {}
    Size(std::initializer_list<int64_t> lengths) : optional(Shape(lengths)) {}
};

// Bits, and what RandomState's normal draws keep: the second of a pair.
struct Source : Bits {
    bool has_gauss = false;
    double gauss = 0;
};

// Which values a parameter may have; NaN is refused where a text says so.
enum class Range {
    any,
    not_negative,  // nor -0.0
    positive,
    positive_number,      // no NaN
    probability,          // 0 to 1, no NaN
    probability_above_0,  // no NaN
    probability_below_1,  // no NaN
    above_1,              // no NaN
    at_least_1,           // no NaN
    poisson,              // 0 to what an int64 can count
};

struct Parameter {
    std::string_view name;
    Range range = Range::any;
};

// Fills, and draws of one number, from Bits or from a Source.
using Sampler =
    std::variant<void (*)(Bits*, intptr_t, double*), void (*)(Bits*, intptr_t, float*),
                 double (*)(Bits*), double (*)(Bits*, double), double (*)(Bits*, double, double),
                 double (*)(Bits*, double, double, double), float (*)(Bits*, float),
                 int64_t (*)(Bits*), int64_t (*)(Bits*, double), int64_t (*)(Bits*, double, double),
                 int64_t (*)(Bits*, int64_t, double), int64_t (*)(Bits*, int64_t, int64_t, int64_t),
                 double (*)(Source*), double (*)(Source*, double),
                 double (*)(Source*, double, double), double (*)(Source*, double, double, double),
                 int64_t (*)(Source*, double, double)>;

struct Distribution {
    std::string_view name;
    Sampler sampler;
    std::array<Parameter, 3> parameters{};
    // What must hold for all parameters together: throws, or null. Unused ones are 0.
    void (*check)(std::string_view name, const std::array<double, 3>& values) = nullptr;
};

// NumPy's Generator.
namespace modern {
extern const Distribution random, random_float32, standard_normal, standard_normal_float32,
    standard_exponential, standard_exponential_float32, standard_exponential_inv,
    standard_exponential_inv_float32, standard_gamma, standard_gamma_float32, beta, chisquare,
    exponential, f, gamma, gumbel, laplace, logistic, lognormal, noncentral_chisquare, noncentral_f,
    normal, pareto, power, rayleigh, standard_cauchy, standard_t, triangular, uniform, vonmises,
    wald, weibull, binomial, geometric, hypergeometric, logseries, negative_binomial, poisson, zipf;
}  // namespace modern

// NumPy's RandomState, whose stream is frozen.
namespace legacy {
extern const Distribution random, tomaxint, beta, chisquare, exponential, f, gamma, gumbel, laplace,
    logistic, lognormal, noncentral_chisquare, noncentral_f, normal, pareto, power, rayleigh,
    standard_cauchy, standard_exponential, standard_gamma, standard_normal, standard_t, triangular,
    uniform, vonmises, wald, weibull, binomial, geometric, hypergeometric, logseries,
    negative_binomial, poisson, zipf;
}  // namespace legacy

// A draw whose parameters are known and right: what is left is to ask for bits.
class Draw {
  public:
    // Parameters that are not constants are evaluated. ValueError: one that the distribution does
    // not take, shapes that do not broadcast, a size that is not that of the parameters;
    // NotSupported: one that depends on a placeholder.
    Draw(const Distribution& distribution, std::initializer_list<Operand> parameters,
         const Size& size)
        : Draw(distribution, std::vector<Tensor>(parameters.begin(), parameters.end()), size) {}
    Draw(const Distribution& distribution, const std::vector<Tensor>& parameters, const Size& size);

    [[nodiscard]] int64_t size() const { return numbers_.size(); }
    // Whether it draws pairs of normal numbers, of which the source keeps the second.
    [[nodiscard]] bool draws_pairs() const;
    // Once; the source's lock is held.
    void run(Source& source);
    // In place of run: the numbers, drawn elsewhere. draw(name, parameters, shape) of NumPy's
    // function, parameters of the sampler's dtypes.
    template <class Function>
    void run_elsewhere(const Function& draw) {
        numbers_ = draw(distribution_.name, parameters_, numbers_.shape());
    }
    // The draw, named as the call; or of another name of the call.
    [[nodiscard]] Tensor result(std::string_view name = {}) const;

  private:
    const Distribution& distribution_;
    std::vector<Tensor> given_;
    std::vector<Array> parameters_;  // of the sampler's dtypes
    Size size_;
    Array numbers_;
};

// "(2, 3)" as the last argument of a call's text, or nothing.
[[nodiscard]] std::string call_text(std::string_view name, const std::vector<Tensor>& arguments,
                                    const Size& size);
// ValueError: a negative length.
void check_size(std::string_view name, const Shape& size);

}  // namespace composit::numpy::random

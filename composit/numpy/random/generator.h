// numpy.random.Generator: NumPy's distributions over any bit generator.
#pragma once

#include "composit/numpy/random/stream.h"

namespace composit::numpy::random {

// The same bit generator gives NumPy's numbers, bit for bit. A draw happens when it is asked for
// and is one leaf that keeps its values, named as the call: "normal(0.0, 1.0, (2, 3))". Parameters
// are broadcast; those that are not constants are evaluated. Safe to be used by many threads.
//
//   Generator rng = default_rng(42);
//   const Tensor x = rng.normal(0.0, 1.0, Shape{2, 3});
class Generator : public Stream {
  public:
    using Stream::Stream;
    // Generators with streams of their own, by children of this seed.

    // ----- float64 or float32 (TypeError: others)
    [[nodiscard]] Tensor random(const Size& size = {}, DType dtype = DType::float64);  // [0, 1)
    [[nodiscard]] Tensor standard_normal(const Size& size = {}, DType dtype = DType::float64);
    // By ziggurats, or by inversion.
    [[nodiscard]] Tensor standard_exponential(const Size& size = {}, DType dtype = DType::float64,
                                              bool by_inversion = false);
    [[nodiscard]] Tensor standard_gamma(const Operand& shape, const Size& size = {},
                                        DType dtype = DType::float64);

    // ----- float64
    [[nodiscard]] Tensor beta(const Operand& a, const Operand& b, const Size& size = {}) {
        return draw(modern::beta, {a, b}, size);
    }
    [[nodiscard]] Tensor chisquare(const Operand& df, const Size& size = {}) {
        return draw(modern::chisquare, {df}, size);
    }
    [[nodiscard]] Tensor exponential(const Operand& scale = 1.0, const Size& size = {}) {
        return draw(modern::exponential, {scale}, size);
    }
    [[nodiscard]] Tensor f(const Operand& dfnum, const Operand& dfden, const Size& size = {}) {
        return draw(modern::f, {dfnum, dfden}, size);
    }
    [[nodiscard]] Tensor gamma(const Operand& shape, const Operand& scale = 1.0,
                               const Size& size = {}) {
        return draw(modern::gamma, {shape, scale}, size);
    }
    [[nodiscard]] Tensor gumbel(const Operand& loc = 0.0, const Operand& scale = 1.0,
                                const Size& size = {}) {
        return draw(modern::gumbel, {loc, scale}, size);
    }
    [[nodiscard]] Tensor laplace(const Operand& loc = 0.0, const Operand& scale = 1.0,
                                 const Size& size = {}) {
        return draw(modern::laplace, {loc, scale}, size);
    }
    [[nodiscard]] Tensor logistic(const Operand& loc = 0.0, const Operand& scale = 1.0,
                                  const Size& size = {}) {
        return draw(modern::logistic, {loc, scale}, size);
    }
    [[nodiscard]] Tensor lognormal(const Operand& mean = 0.0, const Operand& sigma = 1.0,
                                   const Size& size = {}) {
        return draw(modern::lognormal, {mean, sigma}, size);
    }
    [[nodiscard]] Tensor noncentral_chisquare(const Operand& df, const Operand& nonc,
                                              const Size& size = {}) {
        return draw(modern::noncentral_chisquare, {df, nonc}, size);
    }
    [[nodiscard]] Tensor noncentral_f(const Operand& dfnum, const Operand& dfden,
                                      const Operand& nonc, const Size& size = {}) {
        return draw(modern::noncentral_f, {dfnum, dfden, nonc}, size);
    }
    [[nodiscard]] Tensor normal(const Operand& loc = 0.0, const Operand& scale = 1.0,
                                const Size& size = {}) {
        return draw(modern::normal, {loc, scale}, size);
    }
    [[nodiscard]] Tensor pareto(const Operand& a, const Size& size = {}) {
        return draw(modern::pareto, {a}, size);
    }
    [[nodiscard]] Tensor power(const Operand& a, const Size& size = {}) {
        return draw(modern::power, {a}, size);
    }
    [[nodiscard]] Tensor rayleigh(const Operand& scale = 1.0, const Size& size = {}) {
        return draw(modern::rayleigh, {scale}, size);
    }
    [[nodiscard]] Tensor standard_cauchy(const Size& size = {}) {
        return draw(modern::standard_cauchy, {}, size);
    }
    [[nodiscard]] Tensor standard_t(const Operand& df, const Size& size = {}) {
        return draw(modern::standard_t, {df}, size);
    }
    [[nodiscard]] Tensor triangular(const Operand& left, const Operand& mode, const Operand& right,
                                    const Size& size = {}) {
        return draw(modern::triangular, {left, mode, right}, size);
    }
    [[nodiscard]] Tensor uniform(const Operand& low = 0.0, const Operand& high = 1.0,
                                 const Size& size = {}) {
        return draw(modern::uniform, {low, high}, size);
    }
    [[nodiscard]] Tensor vonmises(const Operand& mu, const Operand& kappa, const Size& size = {}) {
        return draw(modern::vonmises, {mu, kappa}, size);
    }
    [[nodiscard]] Tensor wald(const Operand& mean, const Operand& scale, const Size& size = {}) {
        return draw(modern::wald, {mean, scale}, size);
    }
    [[nodiscard]] Tensor weibull(const Operand& a, const Size& size = {}) {
        return draw(modern::weibull, {a}, size);
    }

    // ----- int64
    [[nodiscard]] Tensor binomial(const Operand& n, const Operand& p, const Size& size = {}) {
        return draw(modern::binomial, {n, p}, size);
    }
    [[nodiscard]] Tensor geometric(const Operand& p, const Size& size = {}) {
        return draw(modern::geometric, {p}, size);
    }
    [[nodiscard]] Tensor hypergeometric(const Operand& ngood, const Operand& nbad,
                                        const Operand& nsample, const Size& size = {}) {
        return draw(modern::hypergeometric, {ngood, nbad, nsample}, size);
    }
    [[nodiscard]] Tensor logseries(const Operand& p, const Size& size = {}) {
        return draw(modern::logseries, {p}, size);
    }
    [[nodiscard]] Tensor negative_binomial(const Operand& n, const Operand& p,
                                           const Size& size = {}) {
        return draw(modern::negative_binomial, {n, p}, size);
    }
    [[nodiscard]] Tensor poisson(const Operand& lam = 1.0, const Size& size = {}) {
        return draw(modern::poisson, {lam}, size);
    }
    [[nodiscard]] Tensor zipf(const Operand& a, const Size& size = {}) {
        return draw(modern::zipf, {a}, size);
    }
    // The last axis of pvals holds the probabilities, that of the result the counts.
    [[nodiscard]] Tensor multinomial(const Operand& n, const Operand& pvals, const Size& size = {});
    // method: "marginals" or "count".
    [[nodiscard]] Tensor multivariate_hypergeometric(const Tensor& colors, int64_t nsample,
                                                     const Size& size = {},
                                                     std::string_view method = "marginals");

    // ----- vectors
    [[nodiscard]] Tensor dirichlet(const Tensor& alpha, const Size& size = {});
    // By the singular values of cov, as NumPy; its product is composit's, in another order of sums.
    [[nodiscard]] Tensor multivariate_normal(const Tensor& mean, const Tensor& cov,
                                             const Size& size = {});

    // ----- integers and orders
    // low <= value < high, or <= high with `endpoint`; bool and integer dtypes.
    [[nodiscard]] Tensor integers(const Operand& low, const Operand& high, const Size& size = {},
                                  DType dtype = DType::int64, bool endpoint = false);
    // Elements of a along an axis, with probabilities p if they are given. ValueError: more than
    // there are, without replacement.
    [[nodiscard]] Tensor choice(const Tensor& a, const Size& size = {}, bool replace = true,
                                const Operand& p = {}, int64_t axis = 0, bool shuffle = true);
    // The places that choice takes of so many; int64.
    [[nodiscard]] Tensor choice(int64_t population, const Size& size = {}, bool replace = true,
                                const Operand& p = {}, bool shuffle = true);
    [[nodiscard]] Tensor permutation(int64_t n);  // of 0 to n - 1, int64
    [[nodiscard]] Tensor permutation(const Tensor& x, int64_t axis = 0);
    // Each row along the axis in an order of its own; none: all elements in one order.
    [[nodiscard]] Tensor permuted(const Tensor& x, std::optional<int64_t> axis = {});
};

// A Generator over PCG64.
[[nodiscard]] Generator default_rng(const SeedSequence& seed);

}  // namespace composit::numpy::random

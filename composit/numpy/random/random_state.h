// numpy.random.RandomState: NumPy's frozen legacy stream.
#pragma once

#include "composit/numpy/random/stream.h"

namespace composit::numpy::random {

// The distributions that NumPy had before Generator, whose numbers never change: over MT19937, or
// any bit generator. Otherwise as Generator.
class RandomState : public Stream {
  public:
    // ValueError: "Seed must be between 0 and 2**32 - 1".
    explicit RandomState(int64_t seed);
    explicit RandomState(const std::vector<uint32_t>& key);  // init_by_array
    explicit RandomState(std::shared_ptr<BitGenerator> bits) : Stream(std::move(bits)) {}
    // TypeError: over another generator than MT19937.
    void seed(int64_t seed);
    void seed(const std::vector<uint32_t>& key);

    // ----- float64
    [[nodiscard]] Tensor random(const Size& size = {}) { return draw(legacy::random, {}, size); }
    [[nodiscard]] Tensor rand(const Shape& size);   // random, named as this call
    [[nodiscard]] Tensor randn(const Shape& size);  // standard_normal, named as this call
    [[nodiscard]] Tensor beta(const Operand& a, const Operand& b, const Size& size = {}) {
        return draw(legacy::beta, {a, b}, size);
    }
    [[nodiscard]] Tensor chisquare(const Operand& df, const Size& size = {}) {
        return draw(legacy::chisquare, {df}, size);
    }
    [[nodiscard]] Tensor exponential(const Operand& scale = 1.0, const Size& size = {}) {
        return draw(legacy::exponential, {scale}, size);
    }
    [[nodiscard]] Tensor f(const Operand& dfnum, const Operand& dfden, const Size& size = {}) {
        return draw(legacy::f, {dfnum, dfden}, size);
    }
    [[nodiscard]] Tensor gamma(const Operand& shape, const Operand& scale = 1.0,
                               const Size& size = {}) {
        return draw(legacy::gamma, {shape, scale}, size);
    }
    [[nodiscard]] Tensor gumbel(const Operand& loc = 0.0, const Operand& scale = 1.0,
                                const Size& size = {}) {
        return draw(legacy::gumbel, {loc, scale}, size);
    }
    [[nodiscard]] Tensor laplace(const Operand& loc = 0.0, const Operand& scale = 1.0,
                                 const Size& size = {}) {
        return draw(legacy::laplace, {loc, scale}, size);
    }
    [[nodiscard]] Tensor logistic(const Operand& loc = 0.0, const Operand& scale = 1.0,
                                  const Size& size = {}) {
        return draw(legacy::logistic, {loc, scale}, size);
    }
    [[nodiscard]] Tensor lognormal(const Operand& mean = 0.0, const Operand& sigma = 1.0,
                                   const Size& size = {}) {
        return draw(legacy::lognormal, {mean, sigma}, size);
    }
    [[nodiscard]] Tensor noncentral_chisquare(const Operand& df, const Operand& nonc,
                                              const Size& size = {}) {
        return draw(legacy::noncentral_chisquare, {df, nonc}, size);
    }
    [[nodiscard]] Tensor noncentral_f(const Operand& dfnum, const Operand& dfden,
                                      const Operand& nonc, const Size& size = {}) {
        return draw(legacy::noncentral_f, {dfnum, dfden, nonc}, size);
    }
    [[nodiscard]] Tensor normal(const Operand& loc = 0.0, const Operand& scale = 1.0,
                                const Size& size = {}) {
        return draw(legacy::normal, {loc, scale}, size);
    }
    [[nodiscard]] Tensor pareto(const Operand& a, const Size& size = {}) {
        return draw(legacy::pareto, {a}, size);
    }
    [[nodiscard]] Tensor power(const Operand& a, const Size& size = {}) {
        return draw(legacy::power, {a}, size);
    }
    [[nodiscard]] Tensor rayleigh(const Operand& scale = 1.0, const Size& size = {}) {
        return draw(legacy::rayleigh, {scale}, size);
    }
    [[nodiscard]] Tensor standard_cauchy(const Size& size = {}) {
        return draw(legacy::standard_cauchy, {}, size);
    }
    [[nodiscard]] Tensor standard_t(const Operand& df, const Size& size = {}) {
        return draw(legacy::standard_t, {df}, size);
    }
    [[nodiscard]] Tensor triangular(const Operand& left, const Operand& mode, const Operand& right,
                                    const Size& size = {}) {
        return draw(legacy::triangular, {left, mode, right}, size);
    }
    [[nodiscard]] Tensor uniform(const Operand& low = 0.0, const Operand& high = 1.0,
                                 const Size& size = {}) {
        return draw(legacy::uniform, {low, high}, size);
    }
    [[nodiscard]] Tensor vonmises(const Operand& mu, const Operand& kappa, const Size& size = {}) {
        return draw(legacy::vonmises, {mu, kappa}, size);
    }
    [[nodiscard]] Tensor wald(const Operand& mean, const Operand& scale, const Size& size = {}) {
        return draw(legacy::wald, {mean, scale}, size);
    }
    [[nodiscard]] Tensor weibull(const Operand& a, const Size& size = {}) {
        return draw(legacy::weibull, {a}, size);
    }
    [[nodiscard]] Tensor standard_exponential(const Size& size = {}) {
        return draw(legacy::standard_exponential, {}, size);
    }
    [[nodiscard]] Tensor standard_gamma(const Operand& shape, const Size& size = {}) {
        return draw(legacy::standard_gamma, {shape}, size);
    }
    [[nodiscard]] Tensor standard_normal(const Size& size = {}) {
        return draw(legacy::standard_normal, {}, size);
    }

    // ----- int64
    [[nodiscard]] Tensor binomial(const Operand& n, const Operand& p, const Size& size = {}) {
        return draw(legacy::binomial, {n, p}, size);
    }
    [[nodiscard]] Tensor geometric(const Operand& p, const Size& size = {}) {
        return draw(legacy::geometric, {p}, size);
    }
    [[nodiscard]] Tensor hypergeometric(const Operand& ngood, const Operand& nbad,
                                        const Operand& nsample, const Size& size = {}) {
        return draw(legacy::hypergeometric, {ngood, nbad, nsample}, size);
    }
    [[nodiscard]] Tensor logseries(const Operand& p, const Size& size = {}) {
        return draw(legacy::logseries, {p}, size);
    }
    [[nodiscard]] Tensor negative_binomial(const Operand& n, const Operand& p,
                                           const Size& size = {}) {
        return draw(legacy::negative_binomial, {n, p}, size);
    }
    [[nodiscard]] Tensor poisson(const Operand& lam = 1.0, const Size& size = {}) {
        return draw(legacy::poisson, {lam}, size);
    }
    [[nodiscard]] Tensor zipf(const Operand& a, const Size& size = {}) {
        return draw(legacy::zipf, {a}, size);
    }
    [[nodiscard]] Tensor tomaxint(const Size& size = {}) {
        return draw(legacy::tomaxint, {}, size);
    }
    [[nodiscard]] Tensor multinomial(int64_t n, const Tensor& pvals, const Size& size = {});

    // ----- vectors
    [[nodiscard]] Tensor dirichlet(const Tensor& alpha, const Size& size = {});

    // ----- integers and orders
    // low <= value < high; bool and integer dtypes.
    [[nodiscard]] Tensor randint(const Operand& low, const Operand& high, const Size& size = {},
                                 DType dtype = DType::int64);
    [[nodiscard]] Tensor choice(int64_t population, const Size& size = {}, bool replace = true,
                                const Operand& p = {});
    [[nodiscard]] Tensor permutation(int64_t n);  // of 0 to n - 1, int64
    [[nodiscard]] Tensor permutation(const Tensor& x);

    // ----- what a draw changes beside the bit generator: the second normal number of a pair
    [[nodiscard]] bool has_gauss() const { return source_.has_gauss; }
    [[nodiscard]] double gauss() const { return source_.gauss; }
    void set_gauss(bool has_gauss, double gauss);
};

}  // namespace composit::numpy::random

// Orthogonal polynomials, by their recurrences.
#include "composit/aten/series.h"
#include "composit/aten/special.h"

#include <utility>

namespace composit::aten {
namespace {

// p_0 = 1, p_1 = first(x), p_(k+1) = step(k, x, p_k, p_(k-1))
template <class First, class Step>
Tensor recurrence(const Tensor& given, int64_t n, const First& first, const Step& step) {
    const Tensor x = floating(given);
    if (n < 0) return numpy::zeros(x.shape(), x.dtype());
    Tensor before = numpy::ones(x.shape(), x.dtype());
    if (n == 0) return before;
    Tensor now = first(x);
    for (int64_t k = 1; k < n; ++k) before = std::exchange(now, step(k, x, now, before));
    return now;
}

}  // namespace

Tensor chebyshev_polynomial(Chebyshev kind, const Tensor& given, int64_t n, bool is_shifted) {
    const auto moved = [&](const Tensor& x) { return is_shifted ? 2 * x - 1 : x; };
    const auto first = [&](const Tensor& x) {
        const Tensor y = moved(x);
        if (kind == Chebyshev::t) return y;
        if (kind == Chebyshev::u) return 2 * y;
        return kind == Chebyshev::v ? 2 * y - 1 : 2 * y + 1;
    };
    return recurrence(given, n, first,
                      [&](int64_t, const Tensor& x, const Tensor& now, const Tensor& before) {
                          return 2 * moved(x) * now - before;
                      });
}

Tensor hermite_polynomial_h(const Tensor& given, int64_t n) {
    return recurrence(
        given, n, [](const Tensor& x) { return 2 * x; },
        [](int64_t k, const Tensor& x, const Tensor& now, const Tensor& before) {
            return 2 * x * now - 2 * k * before;
        });
}

Tensor hermite_polynomial_he(const Tensor& given, int64_t n) {
    return recurrence(
        given, n, [](const Tensor& x) { return x; },
        [](int64_t k, const Tensor& x, const Tensor& now, const Tensor& before) {
            return x * now - k * before;
        });
}

Tensor laguerre_polynomial_l(const Tensor& given, int64_t n) {
    return recurrence(
        given, n, [](const Tensor& x) { return 1 - x; },
        [](int64_t k, const Tensor& x, const Tensor& now, const Tensor& before) {
            return ((2 * k + 1 - x) * now - k * before) / (k + 1);
        });
}

Tensor legendre_polynomial_p(const Tensor& given, int64_t n) {
    return recurrence(
        given, n, [](const Tensor& x) { return x; },
        [](int64_t k, const Tensor& x, const Tensor& now, const Tensor& before) {
            return ((2 * k + 1) * x * now - k * before) / (k + 1);
        });
}

}  // namespace composit::aten

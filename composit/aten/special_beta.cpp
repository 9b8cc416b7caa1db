// The incomplete beta function, by its continued fraction.
#include "composit/aten/series.h"
#include "composit/aten/special.h"
#include "composit/numpy/creation.h"

#include <cmath>

namespace composit::aten {
namespace {

using rows::where;

// x^a (1 - x)^b / (a B(a, b)) times 1 / (1 + d1 / (1 + d2 / (1 + …))), for x below (a + 1) / (a + b
// + 2), where few terms are needed: their number grows as the root of the greater parameter.
Tensor fraction_of_beta(const Tensor& a, const Tensor& b, const Tensor& x) {
    constexpr int64_t terms = 100;
    const auto lgamma = [](const Tensor& y) { return numpy::apply("lgamma", {y}); };
    const Tensor logarithm =
        lgamma(a + b) - lgamma(a) - lgamma(b) + a * rows::log(x) + b * numpy::apply("log1p", {-x});
    Tensor fraction = numpy::ones({}, x.dtype());
    for (int64_t m = terms; m > 0; --m) {
        const Tensor twice = a + 2 * m;
        const Tensor even = m * (b - m) * x / ((twice - 1) * twice);
        const Tensor odd = -(a + (m - 1)) * (a + b + (m - 1)) * x / ((twice - 2) * (twice - 1));
        fraction = 1 + odd / (1 + even / fraction);
    }
    return rows::exp(logarithm) / (a * fraction);
}

}  // namespace

Tensor betainc(const Operand& given_a, const Operand& given_b, const Operand& given_x) {
    return in_float64({given_a, given_b, given_x}, [](const auto& p) {
        const Tensor &a = p[0], &b = p[1], &x = p[2];
        const Tensor is_inner = (a > 0) & (b > 0) & (x > 0) & (x < 1);
        const Tensor half = numpy::full({}, 0.5, x.dtype());
        // By symmetry I(a, b, x) = 1 - I(b, a, 1 - x).
        const Tensor a0 = where(is_inner, a, 1), b0 = where(is_inner, b, 1);
        const Tensor x0 = where(is_inner, x, half), turns = x0 > (a0 + 1) / (a0 + b0 + 2);
        const Tensor part =
            fraction_of_beta(where(turns, b0, a0), where(turns, a0, b0), where(turns, 1 - x0, x0));
        const Tensor inner = where(turns, 1 - part, part);
        const Tensor is_end = (a > 0) & (b > 0) & (rows::equal(x, 0) | rows::equal(x, 1));
        const Tensor nan = numpy::full({}, std::nan(""), x.dtype());
        return where(is_inner, inner, where(is_end, x, nan));
    });
}

}  // namespace composit::aten

// Gamma variables, and how they move with their concentration.
#include "composit/base/error.h"
#include "composit/ir/node.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"
#include "composit/random/distributions.h"
#include "composit/random/parts.h"

#include <cmath>

namespace composit::random {
namespace {

using ir::Array;
using numpy::apply;
using numpy::one_node;
using numpy::Tensors;
using ops::astype;

// Proposals of which the first accepted one is taken. One is refused with a probability of at most
// 0.049, all with less than 1e-15.
constexpr int64_t proposals = 12;

constexpr int terms = 64;  // of the series, and nodes of the quadratures

Shape with_axis_first(const Shape& shape, int64_t length) {
    Shape longer{length};
    longer.insert(longer.end(), shape.begin(), shape.end());
    return longer;
}

Tensor constants(const std::vector<double>& values) {
    const Shape shape{static_cast<int64_t>(values.size())};
    return ir::constant(Array::of(DType::float64, shape, values));
}

// Gauss and Legendre's nodes on [0, 1], and their weights.
struct Quadrature {
    std::vector<double> nodes, weights;
};

Quadrature gauss_legendre(int count) {
    Quadrature found;
    for (int i = 0; i < count; ++i) {
        double x = std::cos(M_PI * (i + 0.75) / (count + 0.5)), slope = 1;
        for (int repeat = 0; repeat < 8; ++repeat) {
            double before = 1, now = x;
            for (int k = 2; k <= count; ++k) {
                const double next = ((2 * k - 1) * x * now - (k - 1) * before) / k;
                before = now;
                now = next;
            }
            slope = count * (x * now - before) / (x * x - 1);
            x -= now / slope;
        }
        found.nodes.push_back(0.5 * (1 + x));
        found.weights.push_back(1 / ((1 - x * x) * slope * slope));
    }
    return found;
}

Tensor with_axis_last(const Tensor& x) {
    Shape longer = x.shape();
    longer.push_back(1);
    return ops::reshape(x, longer);
}

Tensor at(const Tensor& x, int64_t position) {
    std::vector<int64_t> starts(x.shape().size()), lengths(x.shape());
    starts[0] = position;
    lengths[0] = 1;
    const Tensor part = ops::slice(x, starts, lengths, std::vector<int64_t>(starts.size(), 1));
    return ops::reshape(part, Shape(x.shape().begin() + 1, x.shape().end()));
}

// A draw of a concentration of at least 1: Marsaglia and Tsang's method (2000), with a fixed number
// of proposals.
Tensor above_one(const Tensor& key, const Tensor& concentration, const Shape& shape) {
    const Tensor keys = split(key, 2);
    const Shape all = with_axis_first(shape, proposals);
    const Tensor noise = normal(at(keys, 0), all, DType::float64);
    const Tensor fraction = sign_and_fraction(at(keys, 1), all).fraction;
    const Tensor d = concentration - 1.0 / 3;
    const Tensor base = 1 + noise / apply("sqrt", {9 * d});
    const Tensor cube = base * base * base;
    const Tensor safe = apply("where", {base > 0, cube, 1});
    const Tensor bound = 0.5 * noise * noise + d * (1 - safe + apply("log", {safe}));
    const Tensor accepted =
        apply("logical_and", {base > 0, apply("less", {apply("log", {fraction}), bound})});
    Tensor found = at(safe, proposals - 1);
    for (int64_t i = proposals - 2; i >= 0; --i)
        found = apply("where", {at(accepted, i), at(safe, i), found});
    return d * found;
}

}  // namespace

Tensor gamma(const Tensor& key, const Operand& concentration, const Shape& shape, DType dtype) {
    constexpr std::string_view name = "gamma";
    check_draw(name, key, shape);
    check_floating(name, dtype);
    const Tensors operands{key, checked_parameter(name, "concentration", concentration, shape)};
    return one_node(name, operands, [&](const Tensors& x) {
        const Tensor a = ops::broadcast_to(astype(x[1], DType::float64), shape);
        const Tensor keys = split(x[0], 2);
        // Below 1: a draw of a + 1, times the a-th root of a fraction.
        const Tensor is_small = a < 1;
        const Tensor raised = apply("where", {is_small, a + 1, a});
        const Tensor exponent = apply("log", {sign_and_fraction(at(keys, 1), shape).fraction}) / a;
        const Tensor factor = apply("where", {is_small, apply("exp", {exponent}), 1});
        const Tensor drawn = astype(above_one(at(keys, 0), raised, shape) * factor, dtype);
        if (!ir::is_inexact(x[1].dtype())) return drawn;
        // The slope is a factor without a gradient of its own: its values behind zeros.
        const Tensor zeros = ops::broadcast_to(ir::constant(Array::scalar(dtype, 0)), shape);
        const Tensor slope = ops::with_values(zeros, astype(gamma_slope(a, drawn), dtype));
        const Tensor moved = ops::broadcast_to(astype(x[1], dtype), shape);
        return ops::with_values(moved * slope, drawn);
    });
}

Tensor gamma_slope(const Tensor& concentration, const Tensor& draws) {
    // By the implicit function theorem the derivative at a fixed probability is
    //     -dP(a, z)/da / p(z),  dP(a, z)/da = integral of (log t - digamma(a)) p(t) from 0 to z,
    // where p is the density. Substituting t = z exp(w) leaves smooth integrands.
    return one_node("gamma_slope", {concentration, draws}, [&](const Tensors& x) {
        const Tensor a = with_axis_last(astype(x[0], DType::float64));
        const Tensor z = with_axis_last(astype(x[1], DType::float64));
        const Tensor is_positive = z > 0;
        const Tensor safe = apply("where", {is_positive, z, 1});
        const Tensor logarithm = apply("log", {safe});
        const Tensor level = logarithm - apply("digamma", {a});
        const Quadrature rule = gauss_legendre(terms);
        const Tensor nodes = constants(rule.nodes), weights = constants(rule.weights);
        const auto summed = [](const Tensor& over) { return numpy::sum(over, {-1}); };

        // z >= a: the integral from z on. Its integrand is below exp(-40) beyond `reach`.
        const Tensor above = apply("maximum", {safe, a});
        const Tensor far = 9 / apply("sqrt", {above});
        const Tensor reach = apply("where", {above < 4, apply("log1p", {50 / above}), far});
        const Tensor up = reach * nodes;
        const Tensor beyond = apply("exp", {a * up - above * apply("expm1", {up})});
        const Tensor upper = summed(above * reach * weights * (level + up) * beyond);

        // z < a, a >= 8: the integral up to z.
        const Tensor large = apply("maximum", {a, 8});
        const Tensor below = apply("minimum", {safe, large});
        const Tensor depth = 9 / apply("sqrt", {large}) + 45 / large;
        const Tensor down = depth * nodes;
        const Tensor within = apply("exp", {-(large * down) - below * apply("expm1", {-down})});
        const Tensor lower = -summed(below * depth * weights * (level - down) * within);

        // z < a < 8: the series of exp(-t), integrated term by term.
        std::vector<double> counts, factors;
        double factor = 1;
        for (int k = 0; k < terms; ++k) {
            counts.push_back(k);
            factors.push_back(k % 2 ? -factor : factor);
            factor /= k + 1;
        }
        const Tensor k = constants(counts), small = apply("minimum", {safe, 8});
        const Tensor power = apply("exp", {k * apply("log", {small}) + small});
        const Tensor of_term = constants(factors) * power * (level - 1 / (a + k)) / (a + k);
        const Tensor series = -summed(small * of_term);

        const auto plain = [](const Tensor& mask) {
            return ops::reshape(mask, Shape(mask.shape().begin(), mask.shape().end() - 1));
        };
        const Tensor left = apply("where", {plain(a < 8), series, lower});
        const Tensor slope = apply("where", {plain(z < a), left, upper});
        return apply("where", {plain(is_positive), slope, 0});
    });
}

}  // namespace composit::random

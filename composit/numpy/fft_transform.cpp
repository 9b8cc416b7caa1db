// Fourier transforms of one axis as products with small matrices.
#include "composit/numpy/fft_transform.h"

#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/fft_constants.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

#include <algorithm>
#include <limits>
#include <map>

namespace composit::numpy::fft {
namespace {

using ops::part;

constexpr int64_t largest_factor = 128;  // that is one product
constexpr double pass_cost = 112;        // of a product with roots behind it, in rows of a matrix

// The cheapest way to cut n, found from those of its divisors.
struct Cut {
    double cost = std::numeric_limits<double>::infinity();
    int64_t factor = 0;
};

const Cut& best_cut(int64_t n, std::map<int64_t, Cut>& known) {
    const auto found = known.find(n);
    if (found != known.end()) return found->second;
    Cut best;
    if (n <= largest_factor) best = {static_cast<double>(n), n};
    for (int64_t f = 2; f <= std::min(n / 2, largest_factor); ++f) {
        if (n % f != 0) continue;
        const double cost = static_cast<double>(f) + pass_cost + best_cut(n / f, known).cost;
        if (cost < best.cost) best = {cost, f};
    }
    return known[n] = best;
}

// [part] of a stacked tensor, without that axis.
Tensor plane(const Tensor& x, int64_t which) {
    Shape shape(x.shape().begin() + 1, x.shape().end());
    return ops::reshape(part(x, 0, which, 1), shape);
}

Tensor stacked(const Tensor& re, const Tensor& im) {
    Shape shape = re.shape();
    shape.insert(shape.begin(), 1);
    return ops::concatenate({ops::reshape(re, shape), ops::reshape(im, shape)}, 0);
}

// The product of stacked complex numbers.
Tensor multiplied(const Tensor& x, const Tensor& y) {
    const Tensor a = plane(x, 0), b = plane(x, 1), c = plane(y, 0), d = plane(y, 1);
    return stacked(a * c - b * d, a * d + b * c);
}

// The first elements of axis 1, with zeros behind where there are less.
Tensor fitted(const Tensor& x, int64_t length) {
    const int64_t given = x.shape()[1];
    if (given == length) return x;
    if (given > length) return part(x, 1, 0, length);
    std::vector<int64_t> none(x.shape().size(), 0), behind = none;
    behind[1] = length - given;
    return ops::pad(x, scalar(x.dtype(), 0), none, behind, none);
}

// A shape of axes before `rest`.
Shape before(std::initializer_list<int64_t> axes, const Shape& rest) {
    Shape shape(axes);
    shape.insert(shape.end(), rest.begin(), rest.end());
    return shape;
}

Tensor by_factors(Tensor x, const Transform& t, const std::vector<int64_t>& factors) {
    const Shape rest(x.shape().begin() + 2, x.shape().end()), ones(rest.size(), 1);
    int64_t done = 1, left = t.n;  // products of the factors before, and from here on
    for (size_t s = 0; s < factors.size(); ++s) {
        const int64_t f = factors[s], m = left / f;
        const bool is_last = s + 1 == factors.size();
        // Of the first factor only those digits that the given elements have; of the last only
        // those that the wanted results have.
        int64_t inputs = f, outputs = f;
        if (s == 0) {
            inputs = std::clamp<int64_t>((x.shape()[1] + m - 1) / m, 1, f);
            x = fitted(x, inputs * m);
        }
        if (is_last) outputs = std::clamp<int64_t>((t.outputs + done - 1) / done, 1, f);
        const int64_t parts = x.shape()[0];
        const Tensor matrix = transform_matrix(
            {f, inputs, outputs, t.sign, parts == 1, is_last && t.is_real_output}, x.dtype());
        // [part][done][digit][m] -> [part][digit][done][m]
        const Tensor digits = ops::reshape(x, before({parts, done, inputs, m}, rest));
        x = ops::contract(matrix, digits, {{}, {}, {2, 3}, {0, 2}});
        if (!is_last) {
            const Tensor w = twiddles(left, f, m, t.sign, x.dtype());
            x = multiplied(x, ops::reshape(w, before({2, f, 1, m}, ones)));
        }
        done *= outputs;
        left = m;
        x = ops::reshape(x, before({x.shape()[0], done * m}, rest));
    }
    return fitted(x, t.outputs);
}

// The transform of one element is that element, also an infinite one.
Tensor of_one(const Tensor& x, const Transform& t) {
    const Tensor only = fitted(x, 1);
    const int64_t parts = only.shape()[0];
    const Tensor re = plane(only, 0);
    if (t.is_real_output) return part(only, 0, 0, 1);
    const Tensor im =
        parts == 2 ? plane(only, 1) : ops::broadcast_to(scalar(x.dtype(), 0), re.shape());
    return fitted(stacked(re, im), t.outputs);
}

// The next length whose factors are 2, and 3 or 5 once at most.
int64_t smooth_length(int64_t least) {
    int64_t best = std::numeric_limits<int64_t>::max();
    for (int64_t odd : {1, 3, 5}) {
        int64_t length = odd;
        while (length < least) length *= 2;
        best = std::min(best, length);
    }
    return best;
}

// With jk = (j^2 + k^2 - (k - j)^2) / 2 the transform is a convolution with a chirp.
Tensor by_convolution(const Tensor& x, const Transform& t) {
    const int64_t given = x.shape()[1], m = smooth_length(given + t.outputs - 1);
    const Shape ones(x.shape().size() - 2, 1);
    const auto along = [&](const Tensor& leaf) {
        return ops::reshape(leaf, before({2, leaf.shape()[1]}, ones));
    };
    const Tensor first = along(chirp(t.n, given, t.sign, x.dtype()));
    Tensor y;
    if (x.shape()[0] == 1) {
        const Tensor re = plane(x, 0);
        y = stacked(re * plane(first, 0), re * plane(first, 1));
    } else {
        y = multiplied(x, first);
    }
    const Tensor kernel = chirp_transform({t.n, m, given, t.outputs, t.sign}, x.dtype());
    y = multiplied(transformed(y, {m, -1, m}), along(kernel));
    y = transformed(y, {m, 1, t.outputs});
    y = multiplied(y, along(chirp(t.n, t.outputs, t.sign, x.dtype())));
    return t.is_real_output ? part(y, 0, 0, 1) : y;
}

}  // namespace

std::vector<int64_t> factors_of(int64_t n) {
    std::map<int64_t, Cut> known;
    std::vector<int64_t> factors;
    while (true) {
        const Cut cut = best_cut(n, known);
        if (cut.factor == 0) return {};
        factors.push_back(cut.factor);
        if (cut.factor == n) break;
        n /= cut.factor;
    }
    std::sort(factors.begin(), factors.end(), std::greater<>());
    return factors;
}

Tensor transformed(const Tensor& x, const Transform& t) {
    const Tensor given = x.shape()[1] > t.n ? fitted(x, t.n) : x;
    if (t.n == 1) return of_one(given, t);
    const std::vector<int64_t> factors = factors_of(t.n);
    return factors.empty() ? by_convolution(given, t) : by_factors(given, t, factors);
}

}  // namespace composit::numpy::fft

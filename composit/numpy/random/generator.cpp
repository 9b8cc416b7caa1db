// Generator's draws that are more than a distribution: vectors, choices, permutations.
#include "composit/numpy/random/generator.h"

#include "composit/base/error.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/linalg.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/random/npyrandom.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace composit::numpy::random {
namespace {

// Which of two distributions gives this dtype.
const Distribution& of(DType dtype, const Distribution& wide, const Distribution& narrow) {
    user_check<TypeError>(dtype == DType::float64 || dtype == DType::float32, wide.name,
                          ": Unsupported dtype ", dtype, ". float64 or float32 is required.");
    return dtype == DType::float64 ? wide : narrow;
}

void swap_down(Bits* bits, int64_t* items, int64_t n, int64_t first) {
    for (int64_t i = n - 1; i >= first; --i)
        std::swap(items[i],
                  items[random_bounded_uint64(bits, 0, static_cast<uint64_t>(i), 0, false)]);
}

// Floyd's sampling: the set of what was taken is an open hash table of a power of two of places.
void sample(Bits* bits, int64_t* taken, int64_t count, int64_t population) {
    constexpr uint64_t empty = ~uint64_t{0};
    const auto least = static_cast<uint64_t>(1.2 * static_cast<double>(count));
    const uint64_t mask = least == 0 ? 0 : ~uint64_t{0} >> std::countl_zero(least);
    std::vector<uint64_t> table(mask + 1, empty);
    const auto place_of = [&](uint64_t value) {
        uint64_t place = value & mask;
        while (table[place] != empty && table[place] != value) place = (place + 1) & mask;
        return place;
    };
    for (int64_t j = population - count; j < population; ++j) {
        auto value = random_bounded_uint64(bits, 0, static_cast<uint64_t>(j), 0, false);
        if (table[place_of(value)] != empty) value = static_cast<uint64_t>(j);
        table[place_of(value)] = value;
        *taken++ = static_cast<int64_t>(value);
    }
}

}  // namespace

Tensor Generator::random(const Size& size, DType dtype) {
    return draw(of(dtype, modern::random, modern::random_float32), {}, size);
}

Tensor Generator::standard_normal(const Size& size, DType dtype) {
    return draw(of(dtype, modern::standard_normal, modern::standard_normal_float32), {}, size);
}

Tensor Generator::standard_exponential(const Size& size, DType dtype, bool by_inversion) {
    if (by_inversion)
        return draw(
            of(dtype, modern::standard_exponential_inv, modern::standard_exponential_inv_float32),
            {}, size);
    return draw(of(dtype, modern::standard_exponential, modern::standard_exponential_float32), {},
                size);
}

Tensor Generator::standard_gamma(const Operand& shape, const Size& size, DType dtype) {
    return draw(of(dtype, modern::standard_gamma, modern::standard_gamma_float32), {shape}, size);
}

Tensor Generator::multinomial(const Operand& n, const Operand& pvals, const Size& size) {
    return ir::constant(Stream::multinomial(n, pvals, size),
                        call_text("multinomial", {n, pvals}, size));
}

Tensor Generator::multivariate_hypergeometric(const Tensor& colors, int64_t nsample,
                                              const Size& size, std::string_view method) {
    return ir::constant(Stream::multivariate_hypergeometric(colors, nsample, size, method),
                        call_text("multivariate_hypergeometric", {colors}, size));
}

Tensor Generator::dirichlet(const Tensor& alpha, const Size& size) {
    const Array values = known("dirichlet", "alpha", alpha, DType::float64);
    user_check(values.shape().size() == 1, "dirichlet: alpha has shape ", values.shape(),
               ". One dimension is required.");
    const int64_t kinds = values.size();
    const std::vector<double> a(values.data_as<double>(), values.data_as<double>() + kinds);
    for (const double x : a) user_check(!(x < 0), "dirichlet: alpha < 0: ", x, ".");
    if (size) check_size("dirichlet", *size);
    Shape shape = size.value_or(Shape{});
    shape.push_back(kinds);
    Array result = Array::zeros(DType::float64, shape);
    auto* out = static_cast<double*>(result.mutable_data());
    auto* const end = out + result.size();
    const std::string name = call_text("dirichlet", {alpha}, size);
    if (kinds == 0) return ir::constant(std::move(result), name);

    const Locked locked(*bits_);
    const bool has_nan = std::any_of(a.begin(), a.end(), [](double x) { return x != x; });
    if (has_nan || *std::max_element(a.begin(), a.end()) >= 0.1) {
        for (; out < end; out += kinds) {  // gamma variates over their sum
            double sum = 0;
            for (int64_t j = 0; j < kinds; ++j) {
                out[j] = random_standard_gamma(&source_, a[static_cast<size_t>(j)]);
                sum = sum + out[j];
            }
            const double factor = 1.0 / sum;
            for (int64_t j = 0; j < kinds; ++j) out[j] = out[j] * factor;
        }
        return ir::constant(std::move(result), name);
    }
    // Small ones would often all be 0: a stick is broken at beta variates, without a quotient.
    std::vector<double> rest(a.size() + 1);
    for (size_t j = a.size(); j-- > 0;) rest[j] = rest[j + 1] + a[j];
    for (; rest[0] > 0 && out < end; out += kinds) {
        double left = 1.0;
        for (int64_t j = 0; j + 1 < kinds; ++j) {
            const auto i = static_cast<size_t>(j);
            const double part = random_beta(&source_, a[i], rest[i + 1]);
            out[j] = left * part;
            left *= 1.0 - part;
            if (rest[i + 1] == 0) break;
        }
        out[kinds - 1] = left;
    }
    return ir::constant(std::move(result), name);
}

Tensor Generator::multivariate_normal(const Tensor& mean, const Tensor& cov, const Size& size) {
    user_check(mean.rank() == 1, "multivariate_normal: mean must be 1 dimensional, not of shape ",
               mean.shape(), ".");
    const int64_t n = mean.shape()[0];
    user_check(cov.shape() == Shape{n, n}, "multivariate_normal: cov has shape ", cov.shape(), ". ",
               Shape{n, n}, " is required, by mean.");
    Shape shape = size.value_or(Shape{});
    shape.push_back(n);
    const Tensor x = standard_normal(shape);
    const linalg::SVDResult parts = linalg::svd(astype(cov, DType::float64));
    const Tensor factor = apply("multiply", {parts.U, apply("sqrt", {parts.S})});
    return apply("add", {mean, matmul(x, swapaxes(factor, 0, 1))});
}

Tensor Generator::integers(const Operand& low, const Operand& high, const Size& size, DType dtype,
                           bool endpoint) {
    return ir::constant(between("integers", low, high, endpoint, size, dtype, Bounding::product),
                        call_text("integers", {low, high}, size));
}

Tensor Generator::choice(int64_t population, const Size& size, bool replace, const Operand& p,
                         bool shuffle) {
    const Shape shape = size.value_or(Shape{});
    check_size("choice", shape);
    const int64_t count = ir::element_count(shape);
    user_check(population > 0 || count == 0,
               "choice: a must be a positive integer unless no samples are taken: ", population,
               ".");
    std::vector<double> weights;
    if (p) weights = checked_probabilities(p, population);
    const std::string name = call_text("choice", {ir::weak_scalar(population)}, size);
    if (replace && !p)
        return ir::constant(
            between("choice", 0, int128{population} - 1, shape, DType::int64, Bounding::product),
            name);
    user_check(replace || count <= population,
               "choice: Cannot take a larger sample than population when replace is False: ", count,
               " of ", population, ".");
    if (p) return ir::constant(weighted_places(weights, shape, replace), name);
    const Locked locked(*bits_);
    Array result(DType::int64, shape);
    auto* out = static_cast<int64_t*>(result.mutable_data());
    if (population > 10000 && count > population / (shuffle ? 50 : 20)) {
        std::vector<int64_t> all(static_cast<size_t>(population));
        std::iota(all.begin(), all.end(), int64_t{0});
        swap_down(&source_, all.data(), population, std::max<int64_t>(population - count, 1));
        std::copy(all.end() - count, all.end(), out);
    } else {
        sample(&source_, out, count, population);
        if (shuffle) swap_down(&source_, out, count, 1);
    }
    return ir::constant(std::move(result), name);
}

Tensor Generator::choice(const Tensor& a, const Size& size, bool replace, const Operand& p,
                         int64_t axis, bool shuffle) {
    const int64_t place = normalize_axis("choice", axis, a.rank());
    return take(a, choice(a.shape()[static_cast<size_t>(place)], size, replace, p, shuffle), place);
}

Tensor Generator::permutation(int64_t n) {
    return ir::constant(order(n), call_text("permutation", {ir::weak_scalar(n)}, {}));
}

Tensor Generator::permutation(const Tensor& x, int64_t axis) {
    const int64_t place = normalize_axis("permutation", axis, x.rank());
    return take(x, permutation(x.shape()[static_cast<size_t>(place)]), place);
}

Tensor Generator::permuted(const Tensor& x, std::optional<int64_t> axis) {
    if (!axis) return reshape(take(ravel(x), permutation(x.size()), 0), x.shape());
    const int64_t place = normalize_axis("permuted", *axis, x.rank());
    const Tensor places = ir::constant(orders(x.shape(), static_cast<size_t>(place)), "permuted");
    return take_along_axis(x, places, place);
}

Generator default_rng(const SeedSequence& seed) { return Generator(std::make_shared<PCG64>(seed)); }

}  // namespace composit::numpy::random

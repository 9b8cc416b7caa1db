// RandomState's seeds, and its draws that are more than a distribution.
#include "composit/numpy/random/random_state.h"

#include "composit/base/error.h"
#include "composit/numpy/manipulation.h"

#include <algorithm>
#include <limits>

namespace composit::numpy::random {
namespace {

std::shared_ptr<MT19937> unseeded() {
    return std::make_shared<MT19937>(std::vector<uint32_t>(624));
}

MT19937& twister(BitGenerator& bits) {
    auto* found = dynamic_cast<MT19937*>(&bits);
    user_check<TypeError>(found != nullptr, "seed: can only re-seed a MT19937 BitGenerator.");
    return *found;
}

}  // namespace

RandomState::RandomState(int64_t number) : Stream(unseeded()) { seed(number); }
RandomState::RandomState(const std::vector<uint32_t>& key) : Stream(unseeded()) { seed(key); }

void RandomState::seed(int64_t seed) {
    user_check(seed >= 0 && seed <= std::numeric_limits<uint32_t>::max(),
               "seed: Seed must be between 0 and 2**32 - 1, not ", seed, ".");
    const Locked locked(*bits_);
    twister(*bits_).seed(static_cast<uint32_t>(seed));
    set_gauss(false, 0);
}

void RandomState::seed(const std::vector<uint32_t>& key) {
    const Locked locked(*bits_);
    twister(*bits_).seed(key);
    set_gauss(false, 0);
}

void RandomState::set_gauss(bool has_gauss, double gauss) {
    const Locked locked(*bits_);
    source_.has_gauss = has_gauss;
    source_.gauss = gauss;
}

Tensor RandomState::rand(const Shape& size) {
    check_size("rand", size);
    return draw(legacy::random, {}, size, text("rand(", join(size), ")"));
}

Tensor RandomState::randn(const Shape& size) {
    check_size("randn", size);
    return draw(legacy::standard_normal, {}, size, text("randn(", join(size), ")"));
}

Tensor RandomState::multinomial(int64_t n, const Tensor& pvals, const Size& size) {
    const Tensor count = ir::weak_scalar(n);
    user_check(pvals.rank() == 1, "multinomial: pvals has shape ", pvals.shape(),
               ". One dimension is required.");
    return ir::constant(Stream::multinomial(count, pvals, size),
                        call_text("multinomial", {count, pvals}, size));
}

Tensor RandomState::dirichlet(const Tensor& alpha, const Size& size) {
    const Array values = known("dirichlet", "alpha", alpha, DType::float64);
    user_check(values.shape().size() == 1, "dirichlet: alpha has shape ", values.shape(),
               ". One dimension is required.");
    const auto* a = values.data_as<double>();
    for (int64_t i = 0; i < values.size(); ++i)
        user_check(!(a[i] <= 0), "dirichlet: alpha <= 0: ", a[i], ".");
    if (size) check_size("dirichlet", *size);
    Shape shape = size.value_or(Shape{});
    shape.push_back(values.size());
    const Tensor alphas = ir::constant(values);
    Draw draws(legacy::standard_gamma, {alphas}, shape);
    run(draws);
    const Array numbers = ir::constant_value(draws.result("dirichlet").node());
    Array result(DType::float64, shape);
    auto* out = static_cast<double*>(result.mutable_data());
    const int64_t kinds = values.size();
    for (int64_t row = 0; row < result.size(); row += kinds) {
        const double* gammas = numbers.data_as<double>() + row;
        double sum = 0;
        for (int64_t j = 0; j < kinds; ++j) sum = sum + gammas[j];
        const double factor = 1 / sum;
        for (int64_t j = 0; j < kinds; ++j) out[row + j] = gammas[j] * factor;
    }
    return ir::constant(std::move(result), call_text("dirichlet", {alpha}, size));
}

Tensor RandomState::randint(const Operand& low, const Operand& high, const Size& size,
                            DType dtype) {
    return ir::constant(between("randint", low, high, false, size, dtype, Bounding::mask),
                        call_text("randint", {low, high}, size));
}

Tensor RandomState::choice(int64_t population, const Size& size, bool replace, const Operand& p) {
    const Shape shape = size.value_or(Shape{});
    check_size("choice", shape);
    const int64_t count = ir::element_count(shape);
    user_check(population > 0 || count == 0,
               "choice: a must be greater than 0 unless no samples are taken: ", population, ".");
    const std::string name = call_text("choice", {ir::weak_scalar(population)}, size);
    user_check(replace || count <= population,
               "choice: Cannot take a larger sample than population when 'replace=False': ", count,
               " of ", population, ".");
    if (p) {
        const std::vector<double> weights = checked_probabilities(p, population);
        return ir::constant(weighted_places(weights, shape, replace), name);
    }
    if (replace)
        return ir::constant(
            between("choice", 0, int128{population} - 1, shape, DType::int64, Bounding::mask),
            name);
    const Array all = order(population);
    Array result(DType::int64, shape);
    std::copy_n(all.data_as<int64_t>(), count, static_cast<int64_t*>(result.mutable_data()));
    return ir::constant(std::move(result), name);
}

Tensor RandomState::permutation(int64_t n) {
    return ir::constant(order(n), call_text("permutation", {ir::weak_scalar(n)}, {}));
}

Tensor RandomState::permutation(const Tensor& x) {
    user_check<IndexError>(x.rank() > 0, "permutation: x has no dimension. One is required.");
    return take(x, permutation(x.shape()[0]), 0);
}

}  // namespace composit::numpy::random

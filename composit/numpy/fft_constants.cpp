// Roots of unity by the symmetries of the circle, and the leaves that hold them.
#include "composit/numpy/fft_constants.h"

#include "composit/base/error.h"
#include "composit/numpy/creation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <numbers>
#include <tuple>

namespace composit::numpy::fft {
namespace {

// What a constant is found by: its kind, lengths, sign and flags.
using Key = std::tuple<int, std::vector<int64_t>, DType>;

// Leaves that were made before. Forgotten, all at once, when they take too much memory.
class Cache {
  public:
    Tensor find(const Key& key, const std::function<Tensor()>& make) {
        const std::lock_guard lock(mutex_);
        const auto found = leaves_.find(key);
        if (found != leaves_.end()) return found->second;
        const ir::LocationScope nowhere(nullptr);
        const Tensor leaf = make();
        const int64_t bytes = leaf.size() * ir::size_of(leaf.dtype());
        if (bytes_ + bytes > most_bytes) leaves_.clear(), bytes_ = 0;
        bytes_ += bytes;
        leaves_.emplace(key, leaf);
        return leaf;
    }

  private:
    static constexpr int64_t most_bytes = int64_t{256} << 20;
    std::mutex mutex_;
    std::map<Key, Tensor> leaves_;
    int64_t bytes_ = 0;
};

Cache& cache() {
    static Cache& instance = *new Cache;
    return instance;
}

Tensor leaf(const Shape& shape, DType dtype, const std::vector<long double>& values) {
    Array array(dtype, shape);
    for (size_t i = 0; i < values.size(); ++i) {
        if (dtype == DType::float32)
            static_cast<float*>(array.mutable_data())[i] = static_cast<float>(values[i]);
        else
            static_cast<double*>(array.mutable_data())[i] = static_cast<double>(values[i]);
    }
    return ir::constant(array);
}

// Real parts of all, then imaginary ones.
Tensor parts_leaf(Shape shape, DType dtype, const std::vector<LongComplex>& numbers) {
    std::vector<long double> values;
    for (const LongComplex& x : numbers) values.push_back(x.real());
    for (const LongComplex& x : numbers) values.push_back(x.imag());
    shape.insert(shape.begin(), 2);
    return leaf(shape, dtype, values);
}

LongComplex signed_root(int64_t k, int64_t n, int sign) {
    const LongComplex root = root_of_unity(k, n);
    return sign < 0 ? std::conj(root) : root;
}

// j * k modulo n, for numbers below 2^62.
int64_t product_modulo(int64_t j, int64_t k, int64_t n) {
    return static_cast<int64_t>(static_cast<unsigned __int128>(j) * static_cast<uint64_t>(k) %
                                static_cast<uint64_t>(n));
}

// The transform of any length of small factors, for constants; exponents have that sign.
std::vector<LongComplex> transform(const std::vector<LongComplex>& x, int sign) {
    const auto n = static_cast<int64_t>(x.size());
    if (n <= 1) return x;
    int64_t factor = 2;
    while (n % factor != 0) ++factor;
    const int64_t m = n / factor;
    std::vector<std::vector<LongComplex>> parts;
    for (int64_t r = 0; r < factor; ++r) {
        std::vector<LongComplex> part;
        for (int64_t i = r; i < n; i += factor) part.push_back(x[static_cast<size_t>(i)]);
        parts.push_back(transform(part, sign));
    }
    std::vector<LongComplex> result(x.size());
    for (int64_t k = 0; k < n; ++k)
        for (int64_t r = 0; r < factor; ++r)
            result[static_cast<size_t>(k)] +=
                signed_root(product_modulo(r, k, n), n, sign) *
                parts[static_cast<size_t>(r)][static_cast<size_t>(k % m)];
    return result;
}

std::vector<LongComplex> chirp_values(int64_t n, int64_t count, int sign) {
    std::vector<LongComplex> values;
    for (int64_t j = 0; j < count; ++j)
        values.push_back(signed_root(product_modulo(j, j, 2 * n), 2 * n, sign));
    return values;
}

}  // namespace

LongComplex root_of_unity(int64_t k, int64_t n) {
    // Eighths of the circle, each from an angle of at most pi / 4.
    __extension__ using Wide = __int128;
    k = (k % n + n) % n;
    const auto octant = static_cast<int>(Wide{8} * k / n);
    const Wide rest = Wide{8} * k - Wide{octant} * n;  // in [0, n), of pi / 4
    const Wide folded = octant % 2 == 0 ? rest : n - rest;
    const long double angle = std::numbers::pi_v<long double> / 4 *
                              static_cast<long double>(folded) / static_cast<long double>(n);
    long double c = std::cos(angle), s = std::sin(angle);
    if (3 * folded == 2 * n) s = 0.5L;  // pi / 6
    if (folded == n) c = s = std::sqrt(0.5L);
    switch (octant) {
        case 0: return {c, s};
        case 1: return {s, c};
        case 2: return {-s, c};
        case 3: return {-c, s};
        case 4: return {-c, -s};
        case 5: return {-s, -c};
        case 6: return {s, -c};
        default: return {c, -s};
    }
}

Tensor transform_matrix(const MatrixShape& shape, DType dtype) {
    const auto& [n, inputs, outputs, sign, is_real_input, is_real_output] = shape;
    const Key key{0, {n, inputs, outputs, sign, is_real_input, is_real_output}, dtype};
    return cache().find(key, [&] {
        std::vector<long double> values;
        for (int to = 0; to < (is_real_output ? 1 : 2); ++to)
            for (int64_t k = 0; k < outputs; ++k)
                for (int from = 0; from < (is_real_input ? 1 : 2); ++from)
                    for (int64_t j = 0; j < inputs; ++j) {
                        const LongComplex w = signed_root(product_modulo(j, k, n), n, sign);
                        // re = c re - s im, im = s re + c im
                        values.push_back(to == from ? w.real() : to == 0 ? -w.imag() : w.imag());
                    }
        return leaf({is_real_output ? 1 : 2, outputs, is_real_input ? 1 : 2, inputs}, dtype,
                    values);
    });
}

Tensor twiddles(int64_t n, int64_t rows, int64_t columns, int sign, DType dtype) {
    return cache().find(Key{1, {n, rows, columns, sign}, dtype}, [&] {
        std::vector<LongComplex> values;
        for (int64_t k = 0; k < rows; ++k)
            for (int64_t j = 0; j < columns; ++j)
                values.push_back(signed_root(product_modulo(j, k, n), n, sign));
        return parts_leaf({rows, columns}, dtype, values);
    });
}

Tensor chirp(int64_t n, int64_t count, int sign, DType dtype) {
    return cache().find(Key{2, {n, count, sign}, dtype},
                        [&] { return parts_leaf({count}, dtype, chirp_values(n, count, sign)); });
}

Tensor chirp_transform(const ChirpTransform& c, DType dtype) {
    return cache().find(Key{3, {c.n, c.m, c.before, c.after, c.sign}, dtype}, [&] {
        const auto values = chirp_values(c.n, std::max(c.before, c.after), -c.sign);
        std::vector<LongComplex> around(static_cast<size_t>(c.m));
        for (int64_t j = 0; j < c.after; ++j)
            around[static_cast<size_t>(j)] = values[static_cast<size_t>(j)];
        for (int64_t j = 1; j < c.before; ++j)
            around[static_cast<size_t>(c.m - j)] = values[static_cast<size_t>(j)];
        auto result = transform(around, -1);
        for (LongComplex& x : result) x /= static_cast<long double>(c.m);
        return parts_leaf({c.m}, dtype, result);
    });
}

}  // namespace composit::numpy::fft

// Bunch and Kaufman's factorisation by columns, of one matrix after another.
//
// J. R. Bunch and L. Kaufman, "Some stable methods for calculating inertia and solving symmetric
// linear systems" (1977). Rows and columns are exchanged as LAPACK's sytf2 and hetf2 do, of complex
// numbers by the sum of both parts' magnitudes.
#include "composit/aten/ldl.h"

#include "composit/base/error.h"
#include "composit/ir/array.h"
#include "composit/ir/dtype_traits.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operand.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace composit::aten {
namespace {

using ir::Array;
using ir::DType;
using ir::Shape;

template <class T>
constexpr bool is_complex = !std::is_floating_point_v<T>;

template <class T>
auto size_of(const T& x) {
    if constexpr (is_complex<T>)
        return std::abs(x.real()) + std::abs(x.imag());
    else
        return std::abs(x);
}

// The lower triangle of a square matrix in rows.
template <class T>
struct Lower {
    using Real = decltype(size_of(T()));

    T* data;
    int64_t n;
    bool is_hermitian;

    T& at(int64_t i, int64_t j) const { return data[i * n + j]; }
    T turned(const T& x) const {
        if constexpr (is_complex<T>)
            return is_hermitian ? std::conj(x) : x;
        else
            return x;
    }
    void make_real(int64_t k) const {
        if constexpr (is_complex<T>) {
            if (is_hermitian) at(k, k) = at(k, k).real();
        }
    }
    Real size_on_diagonal(int64_t k) const {
        if constexpr (is_complex<T>) {
            if (is_hermitian) return std::abs(at(k, k).real());
        }
        return size_of(at(k, k));
    }

    // The place of the largest element of column j in rows from `first` on.
    int64_t largest_below(int64_t first, int64_t j) const {
        int64_t best = first;
        for (int64_t i = first + 1; i < n; ++i)
            if (size_of(at(i, j)) > size_of(at(best, j))) best = i;
        return best;
    }
    // The largest element of row i of the whole matrix, but for the diagonal, in columns from k on.
    Real largest_of_row(int64_t i, int64_t k) const {
        Real largest = 0;
        for (int64_t j = k; j < i; ++j) largest = std::max(largest, size_of(at(i, j)));
        if (i + 1 < n) largest = std::max(largest, size_of(at(largest_below(i + 1, i), i)));
        return largest;
    }

    void exchange(int64_t k, int64_t row, int64_t pivot, bool is_block) const {
        for (int64_t i = pivot + 1; i < n; ++i) std::swap(at(i, row), at(i, pivot));
        for (int64_t j = row + 1; j < pivot; ++j) {
            const T kept = turned(at(j, row));
            at(j, row) = turned(at(pivot, j));
            at(pivot, j) = kept;
        }
        at(pivot, row) = turned(at(pivot, row));
        std::swap(at(row, row), at(pivot, pivot));
        if (is_block) std::swap(at(k + 1, k), at(pivot, k));
    }

    // What one column leaves of the columns behind it.
    void eliminate_one(int64_t k) const {
        if (k + 1 >= n) return;
        make_real(k);
        const T factor = T(1) / at(k, k);
        for (int64_t j = k + 1; j < n; ++j) {
            const T scaled = factor * turned(at(j, k));
            for (int64_t i = j; i < n; ++i) at(i, j) -= at(i, k) * scaled;
            make_real(j);
        }
        for (int64_t i = k + 1; i < n; ++i) at(i, k) *= factor;
    }

    // What two columns leave, whose diagonal is a block of two rows.
    void eliminate_two(int64_t k) const {
        T below = at(k + 1, k), scale = below;
        if constexpr (is_complex<T>) {
            if (is_hermitian) scale = std::hypot(below.real(), below.imag());
        }
        const T last = at(k + 1, k + 1) / scale, first = at(k, k) / scale;
        below /= scale;
        scale = T(1) / (last * first - T(1)) / scale;
        for (int64_t j = k + 2; j < n; ++j) {
            const T one = scale * (last * at(j, k) - below * at(j, k + 1));
            const T two = scale * (first * at(j, k + 1) - turned(below) * at(j, k));
            for (int64_t i = j; i < n; ++i)
                at(i, j) -= at(i, k) * turned(one) + at(i, k + 1) * turned(two);
            at(j, k) = one;
            at(j, k + 1) = two;
            make_real(j);
        }
    }

    // info: the first diagonal element that is zero, from 1 on.
    int32_t factor(int32_t* pivots) const {
        const Real alpha = (1 + std::sqrt(Real(17))) / 8;
        int32_t info = 0;
        for (int64_t k = 0; k < n;) {
            const Real own = size_on_diagonal(k);
            const int64_t best = k + 1 < n ? largest_below(k + 1, k) : k;
            const Real largest = k + 1 < n ? size_of(at(best, k)) : Real(0);
            int64_t pivot = k, width = 1;
            const bool is_nothing = std::max(own, largest) == 0 || std::isnan(own);
            if (is_nothing) {
                if (info == 0) info = static_cast<int32_t>(k + 1);
                make_real(k);
            } else if (own < alpha * largest) {
                const Real across = largest_of_row(best, k);
                if (own < alpha * largest * (largest / across)) {
                    pivot = best;
                    if (size_on_diagonal(best) < alpha * across) width = 2;
                }
            }
            const int64_t row = k + width - 1;
            if (pivot != row) exchange(k, row, pivot, width == 2);
            if (!is_nothing && width == 1) eliminate_one(k);
            if (width == 2) eliminate_two(k);
            const auto number = static_cast<int32_t>(pivot + 1);
            for (int64_t i = k; i <= row; ++i) pivots[i] = width == 1 ? number : -number;
            k += width;
        }
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = i + 1; j < n; ++j) at(i, j) = T(0);
        return info;
    }

    // b, of `columns` columns, becomes the solution.
    void solve(const int64_t* pivots, T* b, int64_t columns) const {
        const auto row = [&](int64_t i) {
            return std::span(b + i * columns, static_cast<size_t>(columns));
        };
        const auto exchange_rows = [&](int64_t i, int64_t pivot) {
            const auto other = static_cast<int64_t>(std::abs(pivot)) - 1;
            if (other != i) std::ranges::swap_ranges(row(i), row(other));
        };
        const auto subtract = [&](int64_t from, int64_t times, const T& factor) {
            for (int64_t c = 0; c < columns; ++c)
                b[from * columns + c] -= factor * b[times * columns + c];
        };
        for (int64_t k = 0; k < n;) {
            const int64_t width = pivots[k] > 0 ? 1 : 2;
            exchange_rows(k + width - 1, pivots[k]);
            for (int64_t j = k; j < k + width; ++j)
                for (int64_t i = k + width; i < n; ++i) subtract(i, j, at(i, j));
            if (width == 1) {
                for (T& x : row(k)) x /= at(k, k);
            } else {
                const T below = at(k + 1, k), above = turned(below);
                const T first = at(k, k) / above, last = at(k + 1, k + 1) / below;
                const T determinant = first * last - T(1);
                for (int64_t c = 0; c < columns; ++c) {
                    T &x = row(k)[static_cast<size_t>(c)], &y = row(k + 1)[static_cast<size_t>(c)];
                    const T one = x / above, two = y / below;
                    x = (last * one - two) / determinant;
                    y = (first * two - one) / determinant;
                }
            }
            k += width;
        }
        for (int64_t k = n - 1; k >= 0;) {
            const int64_t width = pivots[k] > 0 ? 1 : 2;
            for (int64_t j = k - width + 1; j <= k; ++j)
                for (int64_t i = k + 1; i < n; ++i) subtract(j, i, turned(at(i, j)));
            exchange_rows(k, pivots[k]);
            k -= width;
        }
    }
};

// Calls `function` with a number of the dtype's.
template <class Function>
void for_type(DType dtype, const Function& function) {
    if (dtype == DType::float32) return function(float());
    if (dtype == DType::float64) return function(double());
    if (dtype == DType::complex64) return function(std::complex<float>());
    function(std::complex<double>());
}

void check_matrices(std::string_view function, const Tensor& a) {
    user_check<RuntimeError>(a.rank() >= 2, function,
                             ": The input tensor A must have at least 2 dimensions.");
    const int64_t rows = a.shape().end()[-2], columns = a.shape().back();
    user_check<RuntimeError>(rows == columns, function,
                             ": A must be batches of square matrices, but they are ", rows, " by ",
                             columns, " matrices");
    const DType dtype = a.dtype();
    user_check<RuntimeError>(ir::is_inexact(dtype) && !ir::is_short_float(dtype), function,
                             ": A has dtype ", dtype,
                             ". float32, float64, complex64 or complex128 is required.");
}

// A copy of the elements, to be written.
Array copy_of(const Tensor& x) {
    const Array from = numpy::concrete("ldl", "the matrix", x);
    Array made(from.dtype(), from.shape());
    const auto* bytes = static_cast<const char*>(from.data());
    std::copy(bytes, bytes + from.bytes(), static_cast<char*>(made.mutable_data()));
    return made;
}

Shape joined(Shape batch, std::initializer_list<int64_t> rest) {
    batch.insert(batch.end(), rest);
    return batch;
}

// Rows that are there, and blocks of two rows that are whole.
void check_pivots(std::span<const int64_t> pivots, int64_t n) {
    for (size_t i = 0; i < pivots.size(); ++i) {
        const int64_t row = std::abs(pivots[i]);
        user_check<RuntimeError>(row >= 1 && row <= n, "torch.linalg.ldl_solve: a pivot is ",
                                 pivots[i], ". From 1 to ", n,
                                 ", or the same below zero, is required.");
        if (pivots[i] > 0) continue;
        const bool has_second = (i + 1) % static_cast<size_t>(n) != 0 && pivots[i + 1] < 0;
        user_check<RuntimeError>(has_second, "torch.linalg.ldl_solve: pivot ", pivots[i],
                                 " stands alone. Negative pivots in pairs are required.");
        ++i;
    }
}

}  // namespace

LdlResult ldl_factor(const Tensor& a, bool hermitian) {
    check_matrices("torch.linalg.ldl_factor_ex", a);
    const int64_t n = a.shape().back();
    const Shape batch(a.shape().begin(), a.shape().end() - 2);
    const Array ld = copy_of(a), pivots(DType::int32, joined(batch, {n})),
                info(DType::int32, batch);
    for_type(a.dtype(), [&]<class T>(T) {
        auto* const data = static_cast<T*>(ld.mutable_data());
        auto* const places = static_cast<int32_t*>(pivots.mutable_data());
        for (int64_t i = 0; i < info.size(); ++i)
            static_cast<int32_t*>(info.mutable_data())[i] =
                Lower<T>{data + i * n * n, n, hermitian}.factor(places + i * n);
    });
    return {ir::constant(ld), ir::constant(pivots), ir::constant(info)};
}

Tensor ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b, bool hermitian) {
    constexpr std::string_view name = "torch.linalg.ldl_solve";
    check_matrices(name, ld);
    user_check<RuntimeError>(b.rank() >= 2, name,
                             ": The input tensor B must have at least 2 dimensions.");
    const int64_t n = ld.shape().back(), rows = b.shape().end()[-2], columns = b.shape().back();
    user_check<RuntimeError>(rows == n, "Incompatible matrix sizes for ", name,
                             ": each A matrix is ", n, " by ", n, " but each b matrix is ", rows,
                             " by ", columns);
    user_check<RuntimeError>(Shape(ld.shape().begin(), ld.shape().end() - 1) == pivots.shape(),
                             name,
                             ": Expected LD.shape[:-1] and pivots.shape to be the same, but "
                             "got pivots with shape ",
                             pivots.shape(), " instead");
    user_check<RuntimeError>(ir::is_integer(pivots.dtype()), name,
                             ": Expected pivots to be integers. Got ",
                             ir::scalar_type_name(pivots.dtype()));
    user_check<RuntimeError>(ld.dtype() == b.dtype(), "Expected b and A to have the same dtype, ",
                             "but found b of type ", ir::scalar_type_name(b.dtype()),
                             " and A of type ", ir::scalar_type_name(ld.dtype()), " instead.");
    const Shape batch = numpy::broadcast_shapes(
        {{ld.shape().begin(), ld.shape().end() - 2}, {b.shape().begin(), b.shape().end() - 2}});
    const Array factors = copy_of(numpy::broadcast_to(ld, joined(batch, {n, n})));
    const Array places =
        copy_of(numpy::broadcast_to(ops::astype(pivots, DType::int64), joined(batch, {n})));
    const Array x = copy_of(numpy::broadcast_to(b, joined(batch, {n, columns})));
    check_pivots({places.data_as<int64_t>(), static_cast<size_t>(places.size())}, n);
    for_type(ld.dtype(), [&]<class T>(T) {
        for (int64_t i = 0; i < ir::element_count(batch); ++i)
            Lower<T>{static_cast<T*>(factors.mutable_data()) + i * n * n, n, hermitian}.solve(
                places.data_as<int64_t>() + i * n,
                static_cast<T*>(x.mutable_data()) + i * n * columns, columns);
    });
    return ir::constant(x);
}

}  // namespace composit::aten

// Cholesky factors, solutions, inverses, determinants and least squares, by LAPACK.
//
// Each calls the routines that NumPy calls, on the same copies, so that the bits are NumPy's when
// the library is.
#include "composit/foreign/long_calls.h"
#include "composit/foreign/matrices.h"

#include <cmath>
#include <limits>

namespace composit::foreign {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// cholesky(a; is_upper) -> factor
void cholesky(const ForeignCall& call) {
    const bool is_upper = call.options[0] != 0;
    for_types(call.inputs[0], [&]<class T, class Int>(const Routines<T, Int>& routines) {
        const Batch batch(call.inputs[0], 2);
        std::vector<T> a;
        for_each(batch, [&](int64_t number) {
            const Part<T> from = batch.part<T>(call.inputs[0], number);
            const int64_t n = from.rows();
            from.copy_to(a);
            const Int info =
                n == 0 ? 0 : routines.potrf(is_upper ? 'U' : 'L', static_cast<Int>(n), a.data());
            if (info != 0)
                fail<LinAlgError>(
                    "cholesky: Matrix is not positive definite: its "
                    "leading minor of order ",
                    info, batch.where(number), " is not positive.");
            for (int64_t j = 0; j < n; ++j)
                for (int64_t i = is_upper ? j + 1 : 0; i < (is_upper ? n : j); ++i)
                    a[static_cast<size_t>(j * n + i)] = T(0);
            batch.part<T>(call.outputs[0], number).fill(a.data(), n);
        });
    });
}

template <class Int>
void check_singular(std::string_view function, Int info, const Batch& batch, int64_t number) {
    if (info != 0)
        fail<LinAlgError>(function, ": Singular matrix: pivot ", info, batch.where(number),
                          " is zero. An invertible matrix is required.");
}

// solve(a, b) -> x, of a x = b
void solve(const ForeignCall& call) {
    for_types(call.inputs[0], [&]<class T, class Int>(const Routines<T, Int>& routines) {
        const Batch batch(call.inputs[0], 2);
        std::vector<T> a, b;
        std::vector<Int> pivots(static_cast<size_t>(call.inputs[0].shape.back()));
        for_each(batch, [&](int64_t number) {
            const Part<T> to = batch.part<T>(call.outputs[0], number);
            batch.part<T>(call.inputs[0], number).copy_to(a);
            batch.part<T>(call.inputs[1], number).copy_to(b);
            const Int info = a.empty() ? 0
                                       : routines.gesv(static_cast<Int>(to.rows()),
                                                       static_cast<Int>(to.columns()), a.data(),
                                                       pivots.data(), b.data());
            check_singular("solve", info, batch, number);
            to.fill(b.data(), to.rows());
        });
    });
}

// inv(a; nan_if_singular) -> inverse
void inv(const ForeignCall& call) {
    for_types(call.inputs[0], [&]<class T, class Int>(const Routines<T, Int>& routines) {
        const Batch batch(call.inputs[0], 2);
        const int64_t n = call.inputs[0].shape.back();
        std::vector<T> a, b;
        std::vector<Int> pivots(static_cast<size_t>(n));
        for_each(batch, [&](int64_t number) {
            batch.part<T>(call.inputs[0], number).copy_to(a);
            b.assign(a.size(), T(0));
            for (int64_t i = 0; i < n; ++i) b[static_cast<size_t>(i * n + i)] = T(1);
            const auto side = static_cast<Int>(n);
            const Int info =
                a.empty() ? 0 : routines.gesv(side, side, a.data(), pivots.data(), b.data());
            if (call.options[0] == 0) check_singular("inv", info, batch, number);
            if (info != 0) b.assign(a.size(), T(nan));
            batch.part<T>(call.outputs[0], number).fill(b.data(), n);
        });
    });
}

// slogdet(a) -> sign, logarithm of the magnitude, determinant
void slogdet(const ForeignCall& call) {
    for_types(call.inputs[0], [&]<class T, class Int>(const Routines<T, Int>& routines) {
        const Batch batch(call.inputs[0], 2);
        const int64_t n = call.inputs[0].shape.back();
        std::vector<T> a;
        std::vector<Int> pivots(static_cast<size_t>(n));
        for_each(batch, [&](int64_t number) {
            batch.part<T>(call.inputs[0], number).copy_to(a);
            const Int info =
                n == 0 ? 0 : routines.getrf(static_cast<Int>(n), a.data(), pivots.data());
            T sign(1);
            double logarithm = 0;
            for (int64_t i = 0; i < n && info == 0; ++i)
                if (pivots[static_cast<size_t>(i)] != static_cast<Int>(i + 1)) sign = -sign;
            for (int64_t i = 0; i < n && info == 0; ++i) {
                const T element = a[static_cast<size_t>(i * n + i)];
                const double magnitude = std::abs(element);
                if constexpr (is_complex<T>)
                    sign = sign * T(element.real() / magnitude, element.imag() / magnitude);
                else if (element < 0)
                    sign = -sign;
                logarithm += std::log(magnitude);
            }
            if (info != 0) {
                sign = T(0);
                logarithm = -std::numeric_limits<double>::infinity();
            }
            batch.part<T>(call.outputs[0], number).set(sign);
            batch.part<double>(call.outputs[1], number).set(logarithm);
            batch.part<T>(call.outputs[2], number).set(sign * T(std::exp(logarithm)));
        });
    });
}

// lstsq(a, b, rcond) -> x, sums of squares of the residuals (NaN unless the rank is full and there
// are at least as many rows as columns), rank, singular values
void lstsq(const ForeignCall& call) {
    for_types(call.inputs[0], [&]<class T, class Int>(const Routines<T, Int>& routines) {
        const Batch batch(call.inputs[0], 2);
        std::vector<T> a, b;
        Work<T, Int> work;
        for_each(batch, [&](int64_t number) {
            const Part<T> left = batch.part<T>(call.inputs[0], number);
            const Part<T> right = batch.part<T>(call.inputs[1], number);
            const Part<T> x = batch.part<T>(call.outputs[0], number);
            const Part<double> s = batch.part<double>(call.outputs[3], number);
            const int64_t m = left.rows(), n = left.columns(), columns = right.columns();
            const int64_t most = std::max(m, n);
            left.copy_to(a);
            const int64_t used = std::max<int64_t>(columns, 1);  // LAPACK needs one
            b.assign(static_cast<size_t>(most * used), T(0));
            right.copy_to(b.data(), most);
            Int rank = 0;
            std::vector<double> values(static_cast<size_t>(std::min(m, n)));
            if (!a.empty()) {
                const Int info = routines.gelsd(
                    static_cast<Int>(m), static_cast<Int>(n), static_cast<Int>(used), a.data(),
                    b.data(), values.data(),
                    *batch.part<double>(call.inputs[2], number).elements.data, &rank, work);
                if (info != 0)
                    fail<LinAlgError>("lstsq: SVD did not converge in Linear Least Squares",
                                      batch.where(number), ".");
            }
            x.fill(b.data(), most);
            for (size_t i = 0; i < values.size(); ++i) s.set(values[i], static_cast<int64_t>(i));
            batch.part<int32_t>(call.outputs[2], number).set(static_cast<int32_t>(rank));
            const Part<double> residuals = batch.part<double>(call.outputs[1], number);
            for (int64_t j = 0; j < columns; ++j) {
                double sum = 0;
                for (int64_t i = n; i < m; ++i) {
                    const T element = b[static_cast<size_t>(j * most + i)];
                    if constexpr (is_complex<T>)
                        sum += element.real() * element.real() + element.imag() * element.imag();
                    else
                        sum += element * element;
                }
                residuals.set(m >= n && rank == n ? sum : nan, j);
            }
        });
    });
}

const bool is_registered = [] {
    runtime::register_foreign_function("lapack.cholesky", &answering<&cholesky>);
    runtime::register_foreign_function("lapack.solve", &answering<&solve>);
    runtime::register_foreign_function("lapack.inv", &answering<&inv>);
    runtime::register_foreign_function("lapack.slogdet", &answering<&slogdet>);
    runtime::register_foreign_function("lapack.lstsq", &answering<&lstsq>);
    return true;
}();

}  // namespace
}  // namespace composit::foreign

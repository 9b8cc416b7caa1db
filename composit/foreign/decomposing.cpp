// QR, singular values, and eigenvalues of symmetric and of general matrices, by LAPACK.
//
// Each calls the routines that NumPy calls, on the same copies, so that the bits are NumPy's when
// the library is.
#include "composit/foreign/long_calls.h"
#include "composit/foreign/matrices.h"

#include <cmath>

namespace composit::foreign {
namespace {

template <class T>
void keep_upper_triangle(std::vector<T>& a, int64_t rows, int64_t columns) {
    for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = j + 1; i < rows; ++i) a[static_cast<size_t>(j * rows + i)] = T(0);
}

template <class Int>
void check_arguments(Int info) {
    if (info != 0)
        fail<LinAlgError>(
            "qr: Incorrect argument found while performing QR "
            "factorization: number ",
            -info, ".");
}

// qr(a; mode): mode 0 -> q, r; the shape of q says how many columns. 1 -> r alone. 2 -> the factors
// as LAPACK keeps them, and tau.
void qr(const ForeignCall& call) {
    for_types(call.inputs[0], [&]<class T, class Int>(const Routines<T, Int>& routines) {
        const Batch batch(call.inputs[0], 2);
        std::vector<T> a, q;
        Work<T, Int> work, work_of_q;
        for_each(batch, [&](int64_t number) {
            const Part<T> from = batch.part<T>(call.inputs[0], number);
            const int64_t m = from.rows(), n = from.columns(), least = std::min(m, n);
            from.copy_to(a);
            std::vector<T> tau(static_cast<size_t>(least));
            if (!a.empty())
                check_arguments(routines.geqrf(static_cast<Int>(m), static_cast<Int>(n), a.data(),
                                               tau.data(), work));
            if (call.options[0] == 2) {
                batch.part<T>(call.outputs[0], number).fill(a.data(), m);
                const Part<T> to = batch.part<T>(call.outputs[1], number);
                for (int64_t i = 0; i < least; ++i) to.set(tau[static_cast<size_t>(i)], i);
                return;
            }
            if (call.options[0] == 0) {
                const Part<T> to = batch.part<T>(call.outputs[0], number);
                const int64_t columns = to.columns();
                q.assign(static_cast<size_t>(m * columns), T(0));
                std::copy(a.begin(), a.begin() + std::min(m * columns, m * n), q.begin());
                if (a.empty())
                    to.fill_with_identity();
                else
                    check_arguments(routines.orgqr(static_cast<Int>(m), static_cast<Int>(columns),
                                                   static_cast<Int>(least), q.data(), tau.data(),
                                                   work_of_q));
                if (!a.empty()) to.fill(q.data(), m);
            }
            keep_upper_triangle(a, m, n);
            batch.part<T>(call.outputs.back(), number).fill(a.data(), m);
        });
    });
}

// svd(a; vectors): 0 -> s; 1 -> u, s, vh with as many vectors as values; 2 -> with all
void svd(const ForeignCall& call) {
    const bool has_vectors = call.options[0] != 0;
    for_types(call.inputs[0], [&]<class T, class Int>(const Routines<T, Int>& routines) {
        const Batch batch(call.inputs[0], 2);
        const size_t values = has_vectors ? 1 : 0;
        std::vector<T> a, u, vh;
        Work<T, Int> work;
        for_each(batch, [&](int64_t number) {
            const Part<T> from = batch.part<T>(call.inputs[0], number);
            const int64_t m = from.rows(), n = from.columns(), least = std::min(m, n);
            Part<T> left, right;
            if (has_vectors) {
                left = batch.part<T>(call.outputs[0], number);
                right = batch.part<T>(call.outputs[2], number);
                u.resize(static_cast<size_t>(left.rows() * left.columns()));
                vh.resize(static_cast<size_t>(right.rows() * right.columns()));
            }
            if (least == 0) {
                if (has_vectors) left.fill_with_identity(), right.fill_with_identity();
                return;
            }
            from.copy_to(a);
            std::vector<double> s(static_cast<size_t>(least));
            const char job = "NSA"[call.options[0]];
            const Int info = routines.gesdd(job, static_cast<Int>(m), static_cast<Int>(n), a.data(),
                                            s.data(), u.data(), vh.data(), work);
            if (info != 0)
                fail<LinAlgError>("svd: SVD did not converge", batch.where(number),
                                  ". Finite numbers are required.");
            const Part<double> to = batch.part<double>(call.outputs[values], number);
            for (int64_t i = 0; i < least; ++i) to.set(s[static_cast<size_t>(i)], i);
            if (!has_vectors) return;
            left.fill(u.data(), left.rows());
            right.fill(vh.data(), right.rows());
        });
    });
}

// eigh(a; computes_vectors, reads_upper) -> w, v; or -> w
void eigh(const ForeignCall& call) {
    const bool has_vectors = call.options[0] != 0;
    const char uplo = call.options[1] != 0 ? 'U' : 'L';
    for_types(call.inputs[0], [&]<class T, class Int>(const Routines<T, Int>& routines) {
        const Batch batch(call.inputs[0], 2);
        const int64_t n = call.inputs[0].shape.back();
        std::vector<T> a;
        std::vector<double> w(static_cast<size_t>(n));
        Work<T, Int> work;
        if (n == 0) return;
        for_each(batch, [&](int64_t number) {
            batch.part<T>(call.inputs[0], number).copy_to(a);
            const Int info = routines.syevd(has_vectors ? 'V' : 'N', uplo, static_cast<Int>(n),
                                            a.data(), w.data(), work);
            if (info != 0)
                fail<LinAlgError>("eigh: Eigenvalues did not converge", batch.where(number),
                                  ". Finite numbers are required.");
            const Part<double> to = batch.part<double>(call.outputs[0], number);
            for (int64_t i = 0; i < n; ++i) to.set(w[static_cast<size_t>(i)], i);
            if (has_vectors) batch.part<T>(call.outputs[1], number).fill(a.data(), n);
        });
    });
}

// Columns of a real matrix's eigenvectors, of which those of a conjugate pair hold two parts.
void join_pairs(const std::vector<double>& imaginary, const std::vector<double>& parts, int64_t n,
                std::vector<Complex>& vectors) {
    for (int64_t j = 0; j < n; ++j) {
        const double* const first = parts.data() + j * n;
        const bool is_pair = imaginary[static_cast<size_t>(j)] != 0 && j + 1 < n;
        for (int64_t i = 0; i < n; ++i) {
            const Complex vector(first[i], is_pair ? first[n + i] : 0);
            vectors[static_cast<size_t>(j * n + i)] = vector;
            if (is_pair) vectors[static_cast<size_t>((j + 1) * n + i)] = std::conj(vector);
        }
        if (is_pair) ++j;
    }
}

bool is_finite(double x) { return std::isfinite(x); }
bool is_finite(const Complex& x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }

// eig(a; computes_vectors) -> w, v, is_real; or -> w, is_real. Complex, or the real parts where the
// outputs are real.
void eig(const ForeignCall& call) {
    const bool has_vectors = call.options[0] != 0;
    const bool gives_real = call.outputs[0].dtype == ir::DType::float64;
    for_types(call.inputs[0], [&]<class T, class Int>(const Routines<T, Int>& routines) {
        const Batch batch(call.inputs[0], 2);
        const int64_t n = call.inputs[0].shape.back();
        const auto length = static_cast<size_t>(n);
        std::vector<T> a, w(length), v(has_vectors ? length * length : 0);
        std::vector<double> imaginary(length);
        std::vector<Complex> vectors(v.size());
        Work<T, Int> work;
        const auto give = [&](const ForeignArray& output, int64_t number, const auto& write) {
            if (gives_real)
                write(batch.part<double>(output, number),
                      [](const Complex& x) { return x.real(); });
            else
                write(batch.part<Complex>(output, number), [](const Complex& x) { return x; });
        };
        for_each(batch, [&](int64_t number) {
            batch.part<T>(call.inputs[0], number).copy_to(a);
            for (const T& element : a)
                if (!is_finite(element))
                    fail<LinAlgError>("eig: Array must not contain infs or NaNs, found ", element,
                                      batch.where(number), ".");
            const Int info =
                n == 0 ? 0
                       : routines.geev(has_vectors ? 'V' : 'N', static_cast<Int>(n), a.data(),
                                       w.data(), imaginary.data(), v.data(), work);
            if (info != 0)
                fail<LinAlgError>("eig: Eigenvalues did not converge", batch.where(number), ".");
            std::vector<Complex> values(length);
            bool is_real = true;
            for (size_t i = 0; i < length; ++i) {
                values[i] = w[i];
                if constexpr (!is_complex<T>) values[i] = Complex(w[i], imaginary[i]);
                is_real &= values[i].imag() == 0;
            }
            give(call.outputs[0], number, [&](const auto& to, const auto& part) {
                for (int64_t i = 0; i < n; ++i) to.set(part(values[static_cast<size_t>(i)]), i);
            });
            batch.part<bool>(call.outputs.back(), number).set(is_real);
            if (!has_vectors) return;
            if constexpr (is_complex<T>)
                vectors = v;
            else
                join_pairs(imaginary, v, n, vectors);
            give(call.outputs[1], number, [&](const auto& to, const auto& part) {
                for (int64_t i = 0; i < n; ++i)
                    for (int64_t j = 0; j < n; ++j)
                        to.set(part(vectors[static_cast<size_t>(j * n + i)]), i, j);
            });
        });
    });
}

const bool is_registered = [] {
    runtime::register_foreign_function("lapack.qr", &answering<&qr>);
    runtime::register_foreign_function("lapack.svd", &answering<&svd>);
    runtime::register_foreign_function("lapack.eigh", &answering<&eigh>);
    runtime::register_foreign_function("lapack.eig", &answering<&eig>);
    return true;
}();

}  // namespace
}  // namespace composit::foreign

// LAPACK's routines that decompositions call, on column-major matrices of double or complex double,
// with integers of either width.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace composit::foreign {

// The opened library.
class Lapack {
  public:
    virtual ~Lapack() = default;
    virtual bool has_wide_integers() const = 0;
    // The address of a routine, "dpotrf". NotSupported when the library lacks it.
    virtual void* find(const std::string& routine) const = 0;
};
// Opens it when it is first asked for. NotSupported, with what to install, when there is none.
const Lapack& lapack();

using Complex = std::complex<double>;
template <class T>
inline constexpr bool is_complex = std::is_same_v<T, Complex>;

// Working memory for a batch of matrices of one size: asked for by the first.
template <class T, class Int>
struct Work {
    std::vector<T> elements;
    std::vector<double> reals;  // complex routines only
    std::vector<Int> integers;

    bool is_ready() const { return !elements.empty(); }
};

// Each returns `info`: 0 when all is well. A routine is looked up once, as the library stays open.
// Texts have their lengths as hidden last arguments, as Fortran's compilers pass them.
template <class T, class Int>
class Routines {
  public:
    explicit Routines(const Lapack& library) : library_(library) {}

    // The triangle of `a` becomes its Cholesky factor.
    Int potrf(char uplo, Int n, T* a) const {
        static auto* const routine =
            find<void(const char*, const Int*, T*, const Int*, Int*, size_t)>("potrf");
        Int info = 0;
        const Int lda = std::max<Int>(n, 1);
        routine(&uplo, &n, a, &lda, &info, 1);
        return info;
    }

    // b becomes the solution x of a x = b; a its LU factors.
    Int gesv(Int n, Int columns, T* a, Int* pivots, T* b) const {
        static auto* const routine =
            find<void(const Int*, const Int*, T*, const Int*, Int*, T*, const Int*, Int*)>("gesv");
        Int info = 0;
        const Int lda = std::max<Int>(n, 1);
        routine(&n, &columns, a, &lda, pivots, b, &lda, &info);
        return info;
    }

    Int getrf(Int n, T* a, Int* pivots) const {
        static auto* const routine =
            find<void(const Int*, const Int*, T*, const Int*, Int*, Int*)>("getrf");
        Int info = 0;
        const Int lda = std::max<Int>(n, 1);
        routine(&n, &n, a, &lda, pivots, &info);
        return info;
    }

    // R and the reflections of Q, with their factors tau.
    Int geqrf(Int m, Int n, T* a, T* tau, Work<T, Int>& work) const {
        static auto* const routine =
            find<void(const Int*, const Int*, T*, const Int*, T*, T*, const Int*, Int*)>("geqrf");
        const Int lda = std::max<Int>(m, 1);
        return with_work(work, n, [&](T* elements, Int count, Int& info) {
            routine(&m, &n, a, &lda, tau, elements, &count, &info);
        });
    }

    // The first `columns` columns of Q, from `count` reflections.
    Int orgqr(Int m, Int columns, Int count, T* a, const T* tau, Work<T, Int>& work) const {
        const auto routine = find<void(const Int*, const Int*, const Int*, T*, const Int*, const T*,
                                       T*, const Int*, Int*)>(is_complex<T> ? "ungqr" : "orgqr");
        const Int lda = std::max<Int>(m, 1);
        return with_work(work, columns, [&](T* elements, Int size, Int& info) {
            routine(&m, &columns, &count, a, &lda, tau, elements, &size, &info);
        });
    }

    // job: 'N' singular values alone; 'S' with min(m, n) vectors of each side; 'A' with all.
    Int gesdd(char job, Int m, Int n, T* a, double* s, T* u, T* vt, Work<T, Int>& work) const {
        const Int least = std::min(m, n), most = std::max(m, n), lda = std::max<Int>(m, 1);
        const Int ldvt = std::max<Int>(job == 'A' ? n : least, 1);
        if (!work.is_ready()) {
            work.integers.resize(static_cast<size_t>(8 * least));
            const auto few = static_cast<size_t>(least), many = static_cast<size_t>(most);
            if (is_complex<T>)
                work.reals.resize(job == 'N' ? 7 * few
                                             : few * std::max(5 * few + 7, 2 * many + 2 * few + 1));
        }
        return with_work(work, 1, [&](T* elements, Int size, Int& info) {
            const auto call = [&](auto... reals) {
                find<void(const char*, const Int*, const Int*, T*, const Int*, double*, T*,
                          const Int*, T*, const Int*, T*, const Int*, decltype(reals)..., Int*,
                          Int*, size_t)>("gesdd")(&job, &m, &n, a, &lda, s, u, &lda, vt, &ldvt,
                                                  elements, &size, reals..., work.integers.data(),
                                                  &info, 1);
            };
            if constexpr (is_complex<T>)
                call(work.reals.data());
            else
                call();
        });
    }

    // Eigenvalues w of a Hermitian matrix, of which one triangle is read; for job 'V' a becomes its
    // eigenvectors.
    Int syevd(char job, char uplo, Int n, T* a, double* w, Work<T, Int>& work) const {
        const Int lda = std::max<Int>(n, 1);
        const auto call = [&](T* elements, Int size, [[maybe_unused]] double* reals,
                              [[maybe_unused]] Int real_count, Int* integers, Int integer_count) {
            Int info = 0;
            if constexpr (is_complex<T>)
                find<void(const char*, const char*, const Int*, T*, const Int*, double*, T*,
                          const Int*, double*, const Int*, Int*, const Int*, Int*, size_t, size_t)>(
                    "heevd")(&job, &uplo, &n, a, &lda, w, elements, &size, reals, &real_count,
                             integers, &integer_count, &info, 1, 1);
            else
                find<void(const char*, const char*, const Int*, T*, const Int*, double*, T*,
                          const Int*, Int*, const Int*, Int*, size_t, size_t)>("syevd")(
                    &job, &uplo, &n, a, &lda, w, elements, &size, integers, &integer_count, &info,
                    1, 1);
            return info;
        };
        if (!work.is_ready()) {
            T elements{};
            double reals = 0;
            Int integers = 0;
            if (const Int info = call(&elements, -1, &reals, -1, &integers, -1)) return info;
            work.elements.resize(static_cast<size_t>(std::real(elements)));
            work.reals.resize(static_cast<size_t>(reals));
            work.integers.resize(static_cast<size_t>(integers));
        }
        return call(work.elements.data(), static_cast<Int>(work.elements.size()), work.reals.data(),
                    static_cast<Int>(work.reals.size()), work.integers.data(),
                    static_cast<Int>(work.integers.size()));
    }

    // Eigenvalues, and for job 'V' right eigenvectors. Of real matrices the values are in two
    // parts, and of a conjugate pair's vectors the parts are two columns.
    Int geev(char job, Int n, T* a, T* w, [[maybe_unused]] double* imaginary, T* vectors,
             Work<T, Int>& work) const {
        const Int lda = std::max<Int>(n, 1);
        const char none = 'N';
        if (is_complex<T> && !work.is_ready()) work.reals.resize(static_cast<size_t>(2 * n));
        return with_work(work, 1, [&](T* elements, Int size, Int& info) {
            if constexpr (is_complex<T>)
                find<void(const char*, const char*, const Int*, T*, const Int*, T*, T*, const Int*,
                          T*, const Int*, T*, const Int*, double*, Int*, size_t, size_t)>("geev")(
                    &none, &job, &n, a, &lda, w, nullptr, &lda, vectors, &lda, elements, &size,
                    work.reals.data(), &info, 1, 1);
            else
                find<void(const char*, const char*, const Int*, T*, const Int*, T*, double*, T*,
                          const Int*, T*, const Int*, T*, const Int*, Int*, size_t, size_t)>(
                    "geev")(&none, &job, &n, a, &lda, w, imaginary, nullptr, &lda, vectors, &lda,
                            elements, &size, &info, 1, 1);
        });
    }

    // The least-squares solution of a x = b, which b becomes, with max(m, n) rows; singular values.
    Int gelsd(Int m, Int n, Int columns, T* a, T* b, double* s, double rcond, Int* rank,
              Work<T, Int>& work) const {
        const Int lda = std::max<Int>(m, 1), ldb = std::max<Int>({m, n, 1});
        const auto call = [&](T* elements, Int size, [[maybe_unused]] double* reals,
                              Int* integers) {
            Int info = 0;
            if constexpr (is_complex<T>)
                find<void(const Int*, const Int*, const Int*, T*, const Int*, T*, const Int*,
                          double*, const double*, Int*, T*, const Int*, double*, Int*, Int*)>(
                    "gelsd")(&m, &n, &columns, a, &lda, b, &ldb, s, &rcond, rank, elements, &size,
                             reals, integers, &info);
            else
                find<void(const Int*, const Int*, const Int*, T*, const Int*, T*, const Int*,
                          double*, const double*, Int*, T*, const Int*, Int*, Int*)>("gelsd")(
                    &m, &n, &columns, a, &lda, b, &ldb, s, &rcond, rank, elements, &size, integers,
                    &info);
            return info;
        };
        if (!work.is_ready()) {
            T elements{};
            double reals = 0;
            Int integers = 0;
            if (const Int info = call(&elements, -1, &reals, &integers)) return info;
            work.elements.resize(std::max(static_cast<size_t>(std::real(elements)), size_t{1}));
            work.reals.resize(static_cast<size_t>(reals));
            work.integers.resize(static_cast<size_t>(integers));
        }
        return call(work.elements.data(), static_cast<Int>(work.elements.size()), work.reals.data(),
                    work.integers.data());
    }

  private:
    template <class Signature>
    Signature* find(const std::string& name) const {
        return reinterpret_cast<Signature*>(library_.find((is_complex<T> ? "z" : "d") + name));
    }

    // Runs `call` with the memory that it asks for when it is called with a size of -1.
    template <class Call>
    static Int with_work(Work<T, Int>& work, Int least, const Call& call) {
        Int info = 0;
        if (!work.is_ready()) {
            T wished{};
            call(&wished, -1, info);
            if (info != 0) return info;
            const Int size = std::max({static_cast<Int>(std::real(wished)), least, Int{1}});
            work.elements.resize(static_cast<size_t>(size));
        }
        call(work.elements.data(), static_cast<Int>(work.elements.size()), info);
        return info;
    }

    const Lapack& library_;
};

}  // namespace composit::foreign

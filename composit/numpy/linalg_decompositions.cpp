// numpy.linalg's decompositions: qr, svd, eigh, eig, and their values alone.
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/linalg.h"
#include "composit/numpy/linalg_operands.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/sorting.h"
#include "composit/ops/decompositions.h"
#include "composit/ops/matrices.h"

namespace composit::numpy::linalg {
namespace {

std::vector<Tensor> factored(const Tensor& a, ops::QrMode mode) {
    check_matrices("qr", a);
    const DType type = common_type("qr", {a});
    std::vector<Tensor> parts = ops::qr(in_double(a, type), mode);
    for (Tensor& part : parts) part = ops::astype(part, type);
    return parts;
}

bool reads_upper(std::string_view function, std::string_view uplo) {
    user_check(uplo == "L" || uplo == "U" || uplo == "l" || uplo == "u", function, ": UPLO is '",
               uplo, "'. UPLO argument must be 'L' or 'U'.");
    return uplo == "U" || uplo == "u";
}

// Singular values and vectors by eigenvalues: their magnitudes, the largest first.
SVDResult hermitian_svd(const Tensor& a) {
    const EigResult parts = eigh(a);
    const Tensor one = scalar(parts.eigenvalues.dtype(), 1);
    const Tensor sign = apply("copysign", {one, parts.eigenvalues});
    const Tensor magnitude = apply("abs", {parts.eigenvalues});
    const Tensor order = flip(argsort(magnitude, -1), -1);
    const Tensor signs = take_along_axis(sign, order, -1);
    const Tensor u = take_along_axis(parts.eigenvectors, ops::as_row(order), -1);
    return {u, take_along_axis(magnitude, order, -1), ops::adjoint(u * ops::as_row(signs))};
}

// The outputs of ops::eig: real when all eigenvalues of real matrices are.
std::vector<Tensor> real_or_complex(std::string_view function, const Tensor& a,
                                    bool computes_vectors) {
    check_square(function, a);
    const DType type = common_type(function, {a});
    const Tensor x = in_double(a, type);
    DType result = type;
    std::vector<Tensor> parts = ops::eig(x, computes_vectors, false);
    if (!ir::is_complex(type)) {
        const bool is_real = truth(function, all(parts.back()),
                                   "eigh or eigvalsh for symmetric matrices, or a complex matrix, "
                                   "as whether the result is real depends on the values");
        if (is_real) parts = ops::eig(x, computes_vectors, true);
        if (!is_real) result = ir::promote(type, DType::complex64);
    }
    parts.pop_back();
    for (Tensor& part : parts) part = ops::astype(part, result);
    return parts;
}

}  // namespace

QRResult qr(const Tensor& a, std::string_view mode) {
    user_check(mode == "reduced" || mode == "complete", "qr: Unrecognized mode '", mode,
               "'. 'reduced' or 'complete' is required, or qr_r or qr_raw.");
    const auto parts =
        factored(a, mode == "reduced" ? ops::QrMode::reduced : ops::QrMode::complete);
    return {parts[0], parts[1]};
}

Tensor qr_r(const Tensor& a) { return factored(a, ops::QrMode::r)[0]; }

std::vector<Tensor> qr_raw(const Tensor& a) {
    const auto parts = factored(a, ops::QrMode::raw);
    return {numpy::matrix_transpose(parts[0]), parts[1]};
}

SVDResult svd(const Tensor& a, bool full_matrices, bool hermitian) {
    if (hermitian) return errors_as("svd", [&] { return hermitian_svd(a); });
    check_matrices("svd", a);
    const DType type = common_type("svd", {a});
    const auto parts =
        ops::svd(in_double(a, type), full_matrices ? ops::SvdVectors::all : ops::SvdVectors::few);
    return {ops::astype(parts[0], type), ops::astype(parts[1], ir::real_part_of(type)),
            ops::astype(parts[2], type)};
}

Tensor svdvals(const Tensor& x, bool hermitian) {
    if (hermitian)
        return errors_as("svdvals",
                         [&] { return flip(sort(apply("abs", {eigvalsh(x)}), -1), -1); });
    check_matrices("svdvals", x);
    const DType type = common_type("svdvals", {x});
    return ops::astype(ops::svd(in_double(x, type), ops::SvdVectors::none)[0],
                       ir::real_part_of(type));
}

EigResult eigh(const Tensor& a, std::string_view uplo) {
    const bool is_upper = reads_upper("eigh", uplo);
    check_square("eigh", a);
    const DType type = common_type("eigh", {a});
    const auto parts = ops::eigh(in_double(a, type), true, is_upper);
    return {ops::astype(parts[0], ir::real_part_of(type)), ops::astype(parts[1], type)};
}

Tensor eigvalsh(const Tensor& a, std::string_view uplo) {
    const bool is_upper = reads_upper("eigvalsh", uplo);
    check_square("eigvalsh", a);
    const DType type = common_type("eigvalsh", {a});
    return ops::astype(ops::eigh(in_double(a, type), false, is_upper)[0], ir::real_part_of(type));
}

EigResult eig(const Tensor& a) {
    const auto parts = real_or_complex("eig", a, true);
    return {parts[0], parts[1]};
}

Tensor eigvals(const Tensor& a) { return real_or_complex("eigvals", a, false)[0]; }

}  // namespace composit::numpy::linalg

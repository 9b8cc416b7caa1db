// composit/numpy/linalg.h.
#include "casters.h"
#include "composit/foreign/lapack.h"
#include "composit/numpy/linalg.h"
#include "flags.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

namespace linalg = numpy::linalg;

namespace {

using Tensors = std::vector<Tensor>;

void bind_solutions(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("cholesky", &linalg::cholesky, located);
    module.def("det", &linalg::det, located);
    module.def(
        "slogdet",
        [](const Tensor& a) -> Tensors {
            const auto parts = linalg::slogdet(a);
            return {parts.sign, parts.logabsdet};
        },
        located);
    module.def("inv", &linalg::inv, located);
    module.def("solve", &linalg::solve, located);
    module.def(
        "tensorsolve",
        [](const Tensor& a, const Tensor& b, const std::optional<std::vector<int64_t>>& axes) {
            return linalg::tensorsolve(a, b, axes);
        },
        nb::arg(), nb::arg(), nb::arg().none(), located);
    module.def("tensorinv", &linalg::tensorinv, located);
    module.def("relative_precision", &linalg::relative_precision, located);
    module.def(
        "pinv",
        [](const Tensor& a, const MaybeOperand& rcond, TruthFlag hermitian) {
            return linalg::pinv(a, rcond, hermitian);
        },
        located);
    module.def(
        "lstsq",
        [](const Tensor& a, const Tensor& b, std::optional<double> rcond) -> Tensors {
            const auto parts = linalg::lstsq(a, b, rcond);
            return {parts.x, parts.residuals, parts.rank, parts.s};
        },
        nb::arg(), nb::arg(), nb::arg().none(), located);
}

void bind_decompositions(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "qr",
        [](const Tensor& a, const std::string& mode) -> Tensors {
            if (mode == "r") return {linalg::qr_r(a)};
            if (mode == "raw") return linalg::qr_raw(a);
            const auto parts = linalg::qr(a, mode);
            return {parts.Q, parts.R};
        },
        located);
    module.def(
        "svd",
        [](const Tensor& a, TruthFlag full_matrices, TruthFlag hermitian) -> Tensors {
            const auto parts = linalg::svd(a, full_matrices, hermitian);
            return {parts.U, parts.S, parts.Vh};
        },
        located);
    module.def(
        "svdvals",
        [](const Tensor& x, TruthFlag hermitian) { return linalg::svdvals(x, hermitian); },
        located);
    module.def(
        "eigh",
        [](const Tensor& a, const std::string& uplo) -> Tensors {
            const auto parts = linalg::eigh(a, uplo);
            return {parts.eigenvalues, parts.eigenvectors};
        },
        located);
    module.def(
        "eigvalsh",
        [](const Tensor& a, const std::string& uplo) { return linalg::eigvalsh(a, uplo); },
        located);
    module.def(
        "eig",
        [](const Tensor& a) -> Tensors {
            const auto parts = linalg::eig(a);
            return {parts.eigenvalues, parts.eigenvectors};
        },
        located);
    module.def("eigvals", &linalg::eigvals, located);
}

linalg::Order order_of(const std::string& name, std::optional<double> number) {
    if (number) return *number;
    return name;
}

void bind_norms(nb::module_& module) {
    const nb::call_guard<Located> located;
    const auto number = nb::arg().none();  // a name, "" for none, unless a number is given
    module.def(
        "norm",
        [](const Tensor& x, const std::string& name, std::optional<double> number,
           const numpy::Axis& axis,
           TruthFlag keepdims) { return linalg::norm(x, order_of(name, number), axis, keepdims); },
        nb::arg(), nb::arg(), number, nb::arg().none(), nb::arg(), located);
    module.def(
        "matrix_norm",
        [](const Tensor& x, const std::string& name, std::optional<double> number,
           TruthFlag keepdims) { return linalg::matrix_norm(x, order_of(name, number), keepdims); },
        nb::arg(), nb::arg(), number, nb::arg(), located);
    module.def(
        "vector_norm",
        [](const Tensor& x, const numpy::Axis& axis, const std::string& name,
           std::optional<double> number, TruthFlag keepdims) {
            return linalg::vector_norm(x, axis, order_of(name, number), keepdims);
        },
        nb::arg(), nb::arg().none(), nb::arg(), number, nb::arg(), located);
    module.def(
        "cond",
        [](const Tensor& x, const std::string& name, std::optional<double> number) {
            return linalg::cond(x, order_of(name, number));
        },
        nb::arg(), nb::arg(), number, located);
    module.def(
        "matrix_rank",
        [](const Tensor& a, const MaybeOperand& tol, TruthFlag hermitian,
           const MaybeOperand& rtol) { return linalg::matrix_rank(a, tol, hermitian, rtol); },
        nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none(), located);
}

}  // namespace

void bind_numpy_linalg(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("use_lapack", &foreign::use_lapack);
    module.def("lapack_in_use", [] { return foreign::lapack_in_use().path; });
    module.def("cross", &linalg::cross, located);
    module.def("diagonal", &linalg::diagonal, located);
    module.def("multi_dot", &linalg::multi_dot, located);
    module.def("outer", &linalg::outer, located);
    module.def("trace", &linalg::trace, nb::arg(), nb::arg(), nb::arg().none(), located);
    module.def("vecdot", &linalg::vecdot, located);
    module.def("matrix_power", &linalg::matrix_power, located);
    bind_solutions(module);
    bind_decompositions(module);
    bind_norms(module);
}

}  // namespace composit::python

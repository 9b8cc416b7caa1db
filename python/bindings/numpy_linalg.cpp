// composit/numpy/linalg.h.
#include "arrays.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/foreign/lapack.h"
#include "composit/numpy/linalg.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "flags.h"
#include "location.h"
#include "numpy.h"
#include "shown.h"

namespace composit::python {

namespace linalg = numpy::linalg;

namespace {

using Tensors = std::vector<Tensor>;

// n of more bits than one call takes, digit after digit of base 2^62, the highest first.
Tensor large_power(const Tensor& base, nb::object count) {
    constexpr int bits = 62;
    const nb::int_ mask((int64_t{1} << bits) - 1), width(bits);
    std::vector<int64_t> digits;
    while (truth_of(count)) {
        digits.push_back(nb::cast<int64_t>(nb::object(count & mask)));
        count = count >> width;
    }
    Tensor result;
    for (size_t i = digits.size(); i-- > 0;) {
        if (result) result = linalg::matrix_power(result, int64_t{1} << bits);
        if (digits[i] == 0) continue;
        const Tensor more = linalg::matrix_power(base, digits[i]);
        result = result ? numpy::matmul(result, more) : more;
    }
    return result;
}

Tensor matrix_power(const Tensor& a, nb::handle n) {
    if (!PyIndex_Check(n.ptr())) {
        (void)linalg::matrix_power(a, 1);  // what is wrong with the matrix comes first, as in NumPy
        fail<TypeError>("matrix_power: n is ", Shown{n}, ". An integer is required.");
    }
    const nb::object count = nb::steal(PyNumber_Index(n.ptr()));
    if (!count.is_valid()) throw nb::python_error();
    int overflow = 0;
    const int64_t narrow = PyLong_AsLongLongAndOverflow(count.ptr(), &overflow);
    if (!overflow) return linalg::matrix_power(a, narrow);
    return large_power(linalg::matrix_power(a, overflow < 0 ? -1 : 1),
                       nb::steal(PyNumber_Absolute(count.ptr())));
}

// Without rcond and rtol the cutoff is 1e-15; rtol=None is by the precision of the dtype.
Tensor pinv(const Tensor& a, nb::handle rcond, TruthFlag hermitian, nb::handle rtol) {
    const bool has_rtol = !rtol.is(numpy_attribute("_NoValue"));
    user_check(rcond.is_none() || !has_rtol, "pinv: `rtol` and `rcond` can't be both set.");
    if (!rcond.is_none()) return linalg::pinv(a, tensor_from(rcond), hermitian);
    if (!has_rtol) return linalg::pinv(a, 1e-15, hermitian);
    return rtol.is_none() ? linalg::pinv(a, linalg::relative_precision(a), hermitian)
                          : linalg::pinv(a, tensor_from(rtol), hermitian);
}

nb::object qr(const Tensor& a, nb::handle given) {
    std::string mode = nb::isinstance<nb::str>(given) ? nb::cast<std::string>(given) : "";
    if (mode == "f" || mode == "full" || mode == "e" || mode == "economic") {
        constexpr int level = 2;  // behind the function that the user called
        const std::string message = text("qr: the mode ", Shown{given},
                                         " is deprecated, as in NumPy. Use 'reduced', or 'raw'.");
        if (PyErr_WarnEx(PyExc_DeprecationWarning, message.c_str(), level) < 0)
            throw nb::python_error();
        if (mode[0] == 'e') return wrap(numpy::matrix_transpose(linalg::qr_raw(a)[0]));
        mode = "reduced";
    }
    if (mode == "r") return wrap(linalg::qr_r(a));
    if (mode == "raw") return nb::tuple(nb::cast(linalg::qr_raw(a)));
    user_check(mode == "reduced" || mode == "complete", "qr: Unrecognized mode ", Shown{given},
               ". 'reduced', 'complete', 'r' or 'raw'.");
    const auto parts = linalg::qr(a, mode);
    nb::list both;
    both.append(wrap(parts.Q));
    both.append(wrap(parts.R));
    return both;
}

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
    module.def("pinv", pinv, nb::arg("a"), nb::arg("rcond").none(), nb::arg("hermitian").none(),
               nb::arg("rtol").none(), located);
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
    module.def("qr", qr, nb::arg("a"), nb::arg("mode").none(), located,
               "A list of Q and R, else what another mode returns.");
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
    module.def("matrix_power", matrix_power, nb::arg("a"), nb::arg("n").none(), located);
    bind_solutions(module);
    bind_decompositions(module);
    bind_norms(module);
}

}  // namespace composit::python

// composit/numpy/polynomials.h.
#include "arrays.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/numpy/checked.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/polynomials.h"
#include "flags.h"
#include "location.h"
#include "numpy.h"
#include "shown.h"

#include <cmath>

namespace composit::python {

namespace {

// How often: a number, of which NumPy takes the whole part.
int64_t order_from(const char* function, nb::handle order) {
    const double number = number_from(order);
    numpy::check_float_fits(function, number, ir::DType::int64);
    return static_cast<int64_t>(number);
}

void warn_of_rank() {
    const nb::object kind = nb::module_::import_("numpy.exceptions").attr("RankWarning");
    constexpr int level = 2;  // behind the function that the user called
    if (PyErr_WarnEx(kind.ptr(), "polyfit: Polyfit may be poorly conditioned", level) < 0)
        throw nb::python_error();
}

// The coefficients' covariance, which is scaled by the residuals unless that is not wanted.
Tensor covariance_of(const numpy::PolynomialFit& fit, const Tensor& x, const Tensor& y,
                     int64_t order, bool is_scaled) {
    Tensor covariance = y.rank() == 2 ? numpy::expand_dims(fit.covariance, 2) : fit.covariance;
    if (!is_scaled) return covariance;
    const int64_t count = x.shape()[0];
    user_check(count > order,
               "polyfit: the number of data points must exceed order to scale the covariance: ",
               count, " and ", order, ".");
    const Tensor scale = numpy::apply("divide", {fit.residuals, count - order});
    return numpy::apply("multiply", {covariance, scale});
}

nb::object polyfit(const Tensor& given_x, const Tensor& given_y, nb::handle degree,
                   nb::object rcond, TruthFlag is_full, const MaybeOperand& weights,
                   nb::handle cov) {
    const int64_t order = order_from("polyfit", degree) + 1;
    const Tensor x = numpy::strong(given_x), y = numpy::strong(given_y);
    std::optional<double> least;
    if (!rcond.is_none()) least = number_from(rcond);
    const numpy::PolynomialFit fit = numpy::polyfit(x, y, order - 1, least, weights);
    nb::object found = wrap(fit.coefficients);
    if (is_full) {
        if (rcond.is_none())
            rcond =
                numpy_attribute(x.dtype() == ir::DType::float32 ? "float32" : "float64")(fit.rcond);
        return nb::make_tuple(found, wrap(fit.residuals), wrap(fit.rank), wrap(fit.singular_values),
                              rcond);
    }
    if (numpy::is_violated(numpy::apply("equal", {fit.rank, order}))) warn_of_rank();
    if (!truth_of(cov)) return found;
    const bool is_scaled = !(nb::isinstance<nb::str>(cov) && cov.equal(nb::str("unscaled")));
    return nb::make_tuple(found, wrap(covariance_of(fit, x, y, order, is_scaled)));
}

}  // namespace

void bind_numpy_polynomials(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("polyval", &numpy::polyval, located);
    module.def("polyadd", &numpy::polyadd, located);
    module.def("polysub", &numpy::polysub, located);
    module.def("polymul", &numpy::polymul, located);
    module.def("polydiv", &numpy::polydiv, located);
    module.def(
        "polyder",
        [](const Tensor& p, nb::handle m) { return numpy::polyder(p, order_from("polyder", m)); },
        nb::arg("p"), nb::arg("m").none(), located);
    module.def(
        "polyint",
        [](const Tensor& p, nb::handle m, const MaybeOperand& constants) {
            return numpy::polyint(p, order_from("polyint", m), constants);
        },
        nb::arg("p"), nb::arg("m").none(), nb::arg("constants").none(), located);
    module.def("poly", &numpy::poly, located);
    module.def("roots", &numpy::roots, located);
    module.def("polyfit", polyfit, nb::arg("x"), nb::arg("y"), nb::arg("degree").none(),
               nb::arg("rcond").none(), nb::arg("full").none(), nb::arg("weights").none(),
               nb::arg("cov").none(), located);
}

}  // namespace composit::python

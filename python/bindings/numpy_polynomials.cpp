// composit/numpy/polynomials.h.
#include "casters.h"
#include "composit/numpy/checked.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/polynomials.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

void bind_numpy_polynomials(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("polyval", &numpy::polyval, located);
    module.def("polyadd", &numpy::polyadd, located);
    module.def("polysub", &numpy::polysub, located);
    module.def("polymul", &numpy::polymul, located);
    module.def("polydiv", &numpy::polydiv, located);
    module.def("polyder", &numpy::polyder, located);
    module.def(
        "polyint",
        [](const Tensor& p, int64_t order, const MaybeOperand& constants) {
            return numpy::polyint(p, order, constants);
        },
        located);
    module.def("poly", &numpy::poly, located);
    module.def("roots", &numpy::roots, located);
    // The fields of PolynomialFit; and whether the rank is known not to be full.
    module.def(
        "polyfit",
        [](const Tensor& x, const Tensor& y, int64_t degree, std::optional<double> rcond,
           const MaybeOperand& weights, bool wants_covariance) {
            const numpy::PolynomialFit fit = numpy::polyfit(x, y, degree, rcond, weights);
            const Tensor is_full =
                numpy::apply("equal", {fit.rank, static_cast<int64_t>(degree + 1)});
            return nb::make_tuple(wrap(fit.coefficients), wrap(fit.residuals), wrap(fit.rank),
                                  wrap(fit.singular_values), fit.rcond,
                                  // It has none where the rank is not full: an error for who asks.
                                  wants_covariance ? wrap(fit.covariance) : nb::none(),
                                  numpy::is_violated(is_full));
        },
        nb::arg("x"), nb::arg("y"), nb::arg("degree"), nb::arg("rcond").none(),
        nb::arg("weights").none(), nb::arg("wants_covariance"), located);
}

}  // namespace composit::python

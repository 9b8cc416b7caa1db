// composit/numpy/polynomial_series.h, into module composit._core.polynomial.
#include "casters.h"
#include "composit/numpy/checked.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/polynomial_series.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

namespace series = numpy::polynomial;
using series::Basis;

void bind_numpy_polynomial_series(nb::module_& module) {
    const nb::call_guard<Located> located;
    nb::enum_<Basis>(module, "Basis", "Which polynomials a series is of.")
        .value("power", Basis::power)
        .value("chebyshev", Basis::chebyshev)
        .value("legendre", Basis::legendre)
        .value("hermite", Basis::hermite)
        .value("hermite_e", Basis::hermite_e)
        .value("laguerre", Basis::laguerre);
    module.def("val", &series::val, located);
    module.def("vander", &series::vander, located);
    module.def(
        "der",
        [](Basis basis, const Tensor& c, int64_t m, const Tensor& scale, int64_t axis) {
            return series::der(basis, c, m, scale, axis);
        },
        located);
    module.def(
        "integ",
        [](Basis basis, const Tensor& c, int64_t m, const std::vector<Tensor>& k,
           const Tensor& lower, const Tensor& scale,
           int64_t axis) { return series::integ(basis, c, m, k, lower, scale, axis); },
        located);
    module.def("companion", &series::companion, located);
    module.def("roots", &series::roots, located);
    // The fields of SeriesFit; and whether the rank is known not to be full.
    module.def(
        "fit",
        [](Basis basis, const Tensor& x, const Tensor& y, const std::vector<int64_t>& degrees,
           std::optional<double> rcond, const MaybeOperand& weights) {
            const series::SeriesFit fit = series::fit(basis, x, y, degrees, rcond, weights);
            const Tensor is_full =
                numpy::apply("equal", {fit.rank, static_cast<int64_t>(degrees.size())});
            return nb::make_tuple(wrap(fit.coefficients), wrap(fit.residuals), wrap(fit.rank),
                                  wrap(fit.singular_values), fit.rcond,
                                  numpy::is_violated(is_full));
        },
        nb::arg("basis"), nb::arg("x"), nb::arg("y"), nb::arg("degrees"), nb::arg("rcond").none(),
        nb::arg("weights").none(), located);
}

}  // namespace composit::python

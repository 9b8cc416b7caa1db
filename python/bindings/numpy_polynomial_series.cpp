// composit/numpy/polynomial_series.h, into module composit._core.polynomial.
#include "arrays.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/numpy/checked.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/polynomial_series.h"
#include "flags.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

namespace series = numpy::polynomial;
using series::Basis;

namespace {

// All degrees up to one, or those of a list.
std::vector<int64_t> degrees_from(const std::string& name, nb::handle given) {
    const nb::object array = numpy_attribute("asarray")(given);
    const auto rank = nb::cast<int64_t>(array.attr("ndim"));
    const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
    user_check<TypeError>(
        rank <= 1 && (kind == "i" || kind == "u") && nb::cast<int64_t>(array.attr("size")) > 0,
        name, ": deg must be an int or non-empty 1-D array of int");
    if (rank == 1) return integers_from(array.attr("tolist")());
    const int64_t last = integer_from(array);
    user_check(last >= 0, name, ": expected deg >= 0");
    std::vector<int64_t> degrees;
    for (int64_t degree = 0; degree <= last; ++degree) degrees.push_back(degree);
    return degrees;
}

nb::object fit(const std::string& name, Basis basis, const Tensor& x, const Tensor& y,
               nb::handle given, nb::handle rcond, TruthFlag is_full, const MaybeOperand& weights) {
    const std::vector<int64_t> degrees = degrees_from(name, given);
    std::optional<double> least;
    if (!rcond.is_none()) least = number_from(rcond);
    const series::SeriesFit found = series::fit(basis, x, y, degrees, least, weights);
    if (is_full) {
        nb::list report;
        for (const Tensor& each : {found.residuals, found.rank, found.singular_values})
            report.append(wrap(each));
        report.append(found.rcond);
        return nb::make_tuple(wrap(found.coefficients), report);
    }
    const Tensor is_full_rank =
        numpy::apply("equal", {found.rank, static_cast<int64_t>(degrees.size())});
    if (numpy::is_violated(is_full_rank)) {
        const nb::object kind = nb::module_::import_("numpy.exceptions").attr("RankWarning");
        constexpr int level = 2;  // behind the function that the user called
        if (PyErr_WarnEx(kind.ptr(), "The fit may be poorly conditioned", level) < 0)
            throw nb::python_error();
    }
    return wrap(found.coefficients);
}

}  // namespace

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
    module.def("fit", fit, nb::arg("name"), nb::arg("basis"), nb::arg("x"), nb::arg("y"),
               nb::arg("degrees").none(), nb::arg("rcond").none(), nb::arg("full").none(),
               nb::arg("weights").none(), located);
}

}  // namespace composit::python

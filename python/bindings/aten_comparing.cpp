// Closeness of tensors, and where they differ: composit/aten/comparing.h.
#include "aten.h"
#include "aten_numbers.h"
#include "casters.h"
#include "composit/aten/comparing.h"
#include "flags.h"
#include "location.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

namespace composit::python {

void bind_aten_comparing(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "isclose",
        [](const Tensor& x, const Tensor& y, double rtol, double atol, TruthFlag equal_nan) {
            return aten::isclose(x, y, rtol, atol, equal_nan);
        },
        nb::arg(), nb::arg(), nb::arg("rtol") = 1e-5, nb::arg("atol") = 1e-8,
        nb::arg("equal_nan") = false, located);
    // What is said of two tensors that are not close; None of others.
    module.def(
        "mismatch",
        [](const Tensor& actual, const Tensor& expected, nb::handle rtol, nb::handle atol,
           TruthFlag equal_nan, const std::string& name) -> nb::object {
            const aten::Number relative = step_number(rtol), absolute = step_number(atol);
            const auto found =
                aten::mismatch(actual, expected, relative.value(), absolute.value(), equal_nan);
            if (!found) return nb::none();
            return nb::str(aten::text_of(*found, relative, absolute, name).c_str());
        },
        nb::arg(), nb::arg(), nb::arg("rtol"), nb::arg("atol"), nb::arg("equal_nan") = false,
        nb::arg("name") = "Tensor-likes", located);
    module.def("close_tolerances", [](const std::vector<std::string>& names) {
        std::vector<ir::DType> dtypes;
        for (const std::string& name : names)
            if (const auto dtype = ir::find_dtype(name)) dtypes.push_back(*dtype);
        const aten::Tolerances found = aten::close_tolerances(dtypes);
        return std::make_pair(found.rtol, found.atol);
    });
}

}  // namespace composit::python

// composit/numpy/comparisons.h and complex_parts.h.
#include "casters.h"
#include "composit/numpy/comparisons.h"
#include "composit/numpy/complex_parts.h"
#include "flags.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

using numpy::Operand;

void bind_numpy_comparisons(nb::module_& module) {
    const nb::call_guard<Located> located;
    const auto tolerant = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Operand& a, const Operand& b, const Operand& rtol, const Operand& atol,
                       TruthFlag equal_nan) { return function(a, b, rtol, atol, equal_nan); },
            located);
    };
    tolerant("isclose", numpy::isclose);
    tolerant("allclose", numpy::allclose);
    module.def(
        "array_equal",
        [](const Operand& a1, const Operand& a2, TruthFlag equal_nan) {
            return numpy::array_equal(a1, a2, equal_nan);
        },
        located);
    module.def("array_equiv", &numpy::array_equiv, located);
    module.def("isneginf", &numpy::isneginf, located);
    module.def("isposinf", &numpy::isposinf, located);
    module.def("real", &numpy::real, located);
    module.def("imag", &numpy::imag, located);
    module.def(
        "angle", [](const Tensor& z, TruthFlag deg) { return numpy::angle(z, deg); }, located);
    module.def("iscomplex", &numpy::iscomplex, located);
    module.def("isreal", &numpy::isreal, located);
    module.def("iscomplexobj", &numpy::iscomplexobj, located);
    module.def("real_if_close", &numpy::real_if_close, located);
}

}  // namespace composit::python

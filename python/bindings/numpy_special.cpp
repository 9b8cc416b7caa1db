// composit/numpy/special.h.
#include "casters.h"
#include "composit/numpy/special.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

void bind_numpy_special(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("fix", &numpy::fix, located);
    module.def("sinc", &numpy::sinc, located);
    module.def(
        "nan_to_num",
        [](const Tensor& x, const numpy::Operand& nan, const MaybeOperand& posinf,
           const MaybeOperand& neginf) { return numpy::nan_to_num(x, nan, posinf, neginf); },
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), located);
}

}  // namespace composit::python

// composit/numpy/polynomials.h.
#include "casters.h"
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
}

}  // namespace composit::python

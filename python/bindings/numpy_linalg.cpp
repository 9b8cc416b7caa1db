// composit/numpy/linalg.h.
#include "casters.h"
#include "composit/numpy/linalg.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

namespace linalg = numpy::linalg;

void bind_numpy_linalg(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("cross", &linalg::cross, located);
    module.def("diagonal", &linalg::diagonal, located);
    module.def("multi_dot", &linalg::multi_dot, located);
    module.def("outer", &linalg::outer, located);
    module.def("trace", &linalg::trace, nb::arg(), nb::arg(), nb::arg().none(), located);
    module.def("vecdot", &linalg::vecdot, located);
}

}  // namespace composit::python

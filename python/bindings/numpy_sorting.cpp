// composit/numpy/sorting.h.
#include "casters.h"
#include "composit/numpy/sorting.h"
#include "flags.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

void bind_numpy_sorting(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("argsort", &numpy::argsort, located);
    module.def("sort", &numpy::sort, located);
    module.def("sort_complex", &numpy::sort_complex, located);
    module.def("argpartition", &numpy::argpartition, located);
    module.def("partition", &numpy::partition, located);
    module.def("lexsort", &numpy::lexsort, located);
    module.def(
        "searchsorted",
        [](const Tensor& sorted, const Tensor& values, bool is_right, const MaybeOperand& sorter) {
            return numpy::searchsorted(sorted, values,
                                       is_right ? numpy::Side::right : numpy::Side::left, sorter);
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), located);
    module.def(
        "median",
        [](const Tensor& x, const numpy::Axis& axis, IntegerFlag keepdims) {
            return numpy::median(x, axis, keepdims);
        },
        located);
}

}  // namespace composit::python

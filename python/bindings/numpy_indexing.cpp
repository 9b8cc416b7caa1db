// composit/numpy/indexing.h.
#include "casters.h"
#include "composit/numpy/indexing.h"
#include "indexing.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

void bind_numpy_indexing(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "get_item",
        [](const Tensor& x, nb::handle index) { return numpy::get_item(x, index_from(index)); },
        located);
    module.def(
        "set_item",
        [](const Tensor& x, nb::handle index, const numpy::Operand& value) {
            return numpy::set_item(x, index_from(index), value);
        },
        located);
    module.def(
        "add_at",
        [](const Tensor& x, nb::handle index, const numpy::Operand& value) {
            return numpy::add_at(x, index_from(index), value);
        },
        located);
    module.def("nonzero", &numpy::nonzero, located);
}

}  // namespace composit::python

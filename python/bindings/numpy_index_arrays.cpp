// composit/numpy/index_arrays.h.
#include "casters.h"
#include "composit/numpy/index_arrays.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

void bind_numpy_index_arrays(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("diag_indices", &numpy::diag_indices, located);
    module.def("diag_indices_from", &numpy::diag_indices_from, located);
    module.def("tril_indices", &numpy::tril_indices, nb::arg("n"), nb::arg("k"),
               nb::arg("m").none(), located);
    module.def("triu_indices", &numpy::triu_indices, nb::arg("n"), nb::arg("k"),
               nb::arg("m").none(), located);
    module.def("tril_indices_from", &numpy::tril_indices_from, located);
    module.def("triu_indices_from", &numpy::triu_indices_from, located);
    module.def("indices", &numpy::indices, located);
    module.def("sparse_indices", &numpy::sparse_indices, located);
    module.def("ix", &numpy::ix_, located);
    module.def("ravel_multi_index", &numpy::ravel_multi_index, located);
    module.def("unravel_index", &numpy::unravel_index, located);
    module.def("argwhere", &numpy::argwhere, located);
    module.def("flatnonzero", &numpy::flatnonzero, located);
}

}  // namespace composit::python

// composit/numpy/linear.h.
#include "casters.h"
#include "composit/numpy/linear.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

void bind_numpy_linear(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("matmul", &numpy::matmul, located);
    module.def("dot", &numpy::dot, located);
    module.def("inner", &numpy::inner, located);
    module.def("outer", &numpy::outer, located);
    module.def("vdot", &numpy::vdot, located);
    module.def(
        "tensordot",
        [](const Tensor& a, const Tensor& b, int64_t axes) { return numpy::tensordot(a, b, axes); },
        located);
    module.def(
        "tensordot_pairs",
        [](const Tensor& a, const Tensor& b, const std::vector<int64_t>& axes_a,
           const std::vector<int64_t>& axes_b) { return numpy::tensordot(a, b, axes_a, axes_b); },
        located);
    module.def(
        "einsum",
        [](const std::string& subscripts, const std::vector<Tensor>& operands) {
            return numpy::einsum(subscripts, operands);
        },
        located);
    module.def("diagonal", &numpy::diagonal, located);
    module.def("trace", &numpy::trace, located);
    module.def("diag", &numpy::diag, located);
}

}  // namespace composit::python

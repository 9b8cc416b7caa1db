// composit/numpy/elementwise.h and operand.h.
#include "casters.h"
#include "composit/numpy/elementwise.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

using numpy::Operand;

void bind_numpy_elementwise(nb::module_& module) {
    const nb::call_guard<Located> located;
    // Calls come from generated functions, positionally: one operand per argument.
    module.def(
        "apply",
        [](const std::string& row, nb::args operands) {
            std::vector<Operand> list;
            for (nb::handle operand : operands) list.emplace_back(tensor_from(operand));
            return numpy::apply(row, list);
        },
        located);
    module.def(
        "apply_in",
        [](const std::string& row, ir::DType dtype, nb::args operands) {
            std::vector<Operand> list;
            for (nb::handle operand : operands) list.emplace_back(tensor_from(operand));
            return numpy::apply(row, list, dtype);
        },
        located);
    module.def("round", &numpy::round, located);
    module.def("divmod", &numpy::divmod, located);
    module.def("frexp", &numpy::frexp, located);
    module.def("modf", &numpy::modf, located);
    module.def("result_type", &numpy::result_type);
    module.def("promoted", &numpy::promoted, located);
    module.def("strong", &numpy::strong, located);
    bind_row_function(module);
}

}  // namespace composit::python

// Orthogonal matrices: composit/aten/orthogonal.h.
#include "aten.h"
#include "casters.h"
#include "composit/aten/orthogonal.h"
#include "location.h"

namespace composit::python {

void bind_aten_orthogonal(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "orthogonal",
        [](const Tensor& x, const std::string& map) { return aten::orthogonal(x, map); }, located);
    module.def("householder_form", &aten::householder_form, located);
    module.def("nearest_orthogonal", &aten::nearest_orthogonal, located);
}

}  // namespace composit::python

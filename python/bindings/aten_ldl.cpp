// Factors of symmetric matrices: composit/aten/ldl.h.
#include "aten.h"
#include "casters.h"
#include "composit/aten/ldl.h"
#include "flags.h"
#include "location.h"

namespace composit::python {

void bind_aten_ldl(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "ldl_factor",
        [](const Tensor& a, TruthFlag hermitian) {
            const aten::LdlResult found = aten::ldl_factor(a, hermitian);
            return nb::make_tuple(wrap(found.ld), wrap(found.pivots), wrap(found.info));
        },
        nb::arg(), nb::arg("hermitian") = false, located);
    module.def(
        "ldl_solve",
        [](const Tensor& ld, const Tensor& pivots, const Tensor& b, TruthFlag hermitian) {
            return aten::ldl_solve(ld, pivots, b, hermitian);
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg("hermitian") = false, located);
}

}  // namespace composit::python

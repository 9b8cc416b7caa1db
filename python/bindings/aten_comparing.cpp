// Closeness of tensors, and where they differ: composit/aten/comparing.h.
#include "aten.h"
#include "casters.h"
#include "composit/aten/comparing.h"
#include "flags.h"
#include "location.h"

namespace composit::python {

void bind_aten_comparing(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "isclose",
        [](const Tensor& x, const Tensor& y, double rtol, double atol, TruthFlag equal_nan) {
            return aten::isclose(x, y, rtol, atol, equal_nan);
        },
        nb::arg(), nb::arg(), nb::arg("rtol") = 1e-5, nb::arg("atol") = 1e-8,
        nb::arg("equal_nan") = false, located);
    // (count, size, first, absolute, absolute_at, relative, relative_at), or None.
    module.def(
        "mismatch",
        [](const Tensor& actual, const Tensor& expected, double rtol, double atol,
           TruthFlag equal_nan) -> nb::object {
            const auto found = aten::mismatch(actual, expected, rtol, atol, equal_nan);
            if (!found) return nb::none();
            return nb::make_tuple(found->count, found->size, tuple_from(found->first),
                                  wrap(found->absolute), tuple_from(found->absolute_at),
                                  wrap(found->relative), tuple_from(found->relative_at));
        },
        nb::arg(), nb::arg(), nb::arg("rtol"), nb::arg("atol"), nb::arg("equal_nan") = false,
        located);
}

}  // namespace composit::python

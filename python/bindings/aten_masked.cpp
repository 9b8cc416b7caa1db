// What masks leave out: composit/aten/masked.h.
#include "aten.h"
#include "casters.h"
#include "composit/aten/masked.h"
#include "flags.h"
#include "location.h"

namespace composit::python {

void bind_aten_masked(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "identity_filled",
        [](const Tensor& x, const Tensor& mask, const std::string& operation, double order) {
            return aten::identity_filled(x, mask, operation, order);
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg("order") = 2, located);
    module.def("check_masked_mean", &aten::check_masked_mean);
    module.def(
        "masked_dims",
        [](const std::optional<std::vector<int64_t>>& dims, int64_t rank) {
            return aten::masked_dims(dims, rank);
        },
        nb::arg().none(), nb::arg());
    module.def(
        "group_softmax",
        [](const Tensor& x, const Tensor& groups, int64_t count, TruthFlag is_log) {
            return aten::group_softmax(x, groups, count, is_log);
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg("is_log") = false, located);
}

}  // namespace composit::python

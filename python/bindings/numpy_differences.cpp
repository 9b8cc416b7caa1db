// composit/numpy/differences.h.
#include "casters.h"
#include "composit/numpy/differences.h"
#include "flags.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

using MaybeDType = std::optional<ir::DType>;
using MaybeAxis = std::optional<int64_t>;

void bind_numpy_differences(nb::module_& module) {
    const nb::call_guard<Located> located;
    const auto totals = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, MaybeAxis axis, MaybeDType dtype,
                       TruthFlag include_initial) {
                return function(x, axis, dtype, include_initial);
            },
            located);
    };
    totals("cumulative_sum", numpy::cumulative_sum);
    totals("cumulative_prod", numpy::cumulative_prod);
    module.def(
        "ediff1d",
        [](const Tensor& x, const MaybeOperand& to_end, const MaybeOperand& to_begin) {
            return numpy::ediff1d(x, to_end, to_begin);
        },
        nb::arg(), nb::arg().none(), nb::arg().none(), located);
    module.def(
        "gradient",
        [](const Tensor& x, nb::tuple spacing, const numpy::Axis& axis, int64_t edge_order) {
            std::vector<numpy::Operand> steps;
            for (nb::handle step : spacing) steps.emplace_back(tensor_from(step));
            return numpy::gradient(x, steps, axis, edge_order);
        },
        nb::arg("x"), nb::arg("spacing"), nb::arg("axis").none(), nb::arg("edge_order"), located);
    module.def(
        "trapezoid",
        [](const Tensor& y, const MaybeOperand& x, const numpy::Operand& dx, int64_t axis) {
            return numpy::trapezoid(y, x, dx, axis);
        },
        nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), located);
    module.def(
        "unwrap",
        [](const Tensor& p, const MaybeOperand& discont, int64_t axis,
           const numpy::Operand& period) { return numpy::unwrap(p, discont, axis, period); },
        nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), located);
}

}  // namespace composit::python

// composit/numpy/nan_reductions.h.
#include "casters.h"
#include "composit/numpy/nan_reductions.h"
#include "flags.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

using numpy::Axis;
using MaybeDType = std::optional<ir::DType>;
using MaybeAxis = std::optional<int64_t>;

// `initial`, `where` and `mean` are None where they are not given.
void bind_numpy_nan_reductions(nb::module_& module) {
    const nb::call_guard<Located> located;
    const auto totals = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, const Axis& axis, MaybeDType dtype, IntegerFlag keepdims,
                       const MaybeOperand& initial, const MaybeOperand& where) {
                return function(x, axis, dtype, keepdims, initial, where);
            },
            located);
    };
    totals("nansum", numpy::nansum);
    totals("nanprod", numpy::nanprod);
    const auto extrema = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, const Axis& axis, IntegerFlag keepdims,
                       const MaybeOperand& initial, const MaybeOperand& where) {
                return function(x, axis, keepdims, initial, where);
            },
            located);
    };
    extrema("nanmax", numpy::nanmax);
    extrema("nanmin", numpy::nanmin);
    module.def(
        "nanmean",
        [](const Tensor& x, const Axis& axis, MaybeDType dtype, IntegerFlag keepdims,
           const MaybeOperand& where) { return numpy::nanmean(x, axis, dtype, keepdims, where); },
        located);
    const auto spreads = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, const Axis& axis, MaybeDType dtype, double ddof,
                       IntegerFlag keepdims, const MaybeOperand& where, const MaybeOperand& mean) {
                return function(x, axis, dtype, ddof, keepdims, where, mean);
            },
            located);
    };
    spreads("nanvar", numpy::nanvar);
    spreads("nanstd", numpy::nanstd);
    const auto positions = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, MaybeAxis axis, IntegerFlag keepdims) {
                return function(x, axis, keepdims);
            },
            located);
    };
    positions("nanargmax", numpy::nanargmax);
    positions("nanargmin", numpy::nanargmin);
    module.def("nancumsum", &numpy::nancumsum, located);
    module.def("nancumprod", &numpy::nancumprod, located);
}

}  // namespace composit::python

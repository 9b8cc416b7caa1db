// composit/numpy/sets.h.
#include "casters.h"
#include "composit/numpy/sets.h"
#include "flags.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {
namespace {

nb::object wrap_or_none(const Tensor& x) { return x ? nb::object(wrap(x)) : nb::none(); }

}  // namespace

void bind_numpy_sets(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "unique",
        [](const Tensor& x, std::optional<int64_t> axis, TruthFlag equal_nan, TruthFlag indices,
           TruthFlag inverse) {
            const numpy::Unique found = numpy::unique(x, axis, equal_nan, {indices, inverse});
            return nb::make_tuple(wrap(found.values), wrap_or_none(found.indices),
                                  wrap_or_none(found.inverse), wrap(found.counts));
        },
        nb::arg("x"), nb::arg("axis").none(), nb::arg("equal_nan").none(),
        nb::arg("indices").none(), nb::arg("inverse").none(), located);
    module.def("union1d", &numpy::union1d, located);
    module.def(
        "intersect1d",
        [](const Tensor& a, const Tensor& b, TruthFlag is_unique, TruthFlag indices) {
            const numpy::Intersection found = numpy::intersect1d(a, b, is_unique, indices);
            return nb::make_tuple(wrap(found.values), wrap_or_none(found.indices_a),
                                  wrap_or_none(found.indices_b));
        },
        nb::arg("a"), nb::arg("b"), nb::arg("is_unique").none(), nb::arg("indices").none(),
        located);
    const auto difference = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& a, const Tensor& b, TruthFlag is_unique) {
                return function(a, b, is_unique);
            },
            nb::arg("a"), nb::arg("b"), nb::arg("is_unique").none(), located);
    };
    difference("setdiff1d", numpy::setdiff1d);
    difference("setxor1d", numpy::setxor1d);
    module.def(
        "isin",
        [](const Tensor& x, const Tensor& tested, TruthFlag invert, bool by_table) {
            return numpy::isin(x, tested, invert, by_table);
        },
        nb::arg("x"), nb::arg("tested"), nb::arg("invert").none(), nb::arg("by_table"), located);
}

}  // namespace composit::python

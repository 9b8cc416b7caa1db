// composit/numpy/creation.h.
#include "casters.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/spacing.h"
#include "location.h"
#include "numpy.h"

#include <type_traits>
#include <utility>

namespace composit::python {

using ir::DType;
using ir::Shape;
using MaybeDType = std::optional<DType>;

namespace {

// Functions whose results are arrays, also those of no dimension.
template <class... Arguments>
auto whole(Tensor (*function)(Arguments...)) {
    return [function](std::decay_t<Arguments>... arguments) {
        return wrap_array(function(std::move(arguments)...));
    };
}

}  // namespace

void bind_numpy_creation(nb::module_& module) {
    using namespace nb::literals;
    const nb::call_guard<Located> located;
    module.def("zeros", whole(&numpy::zeros), "shape"_a, "dtype"_a = nb::none(), "name"_a = "",
               located);
    module.def("ones", whole(&numpy::ones), "shape"_a, "dtype"_a = nb::none(), "name"_a = "",
               located);
    module.def("empty", whole(&numpy::empty), "shape"_a, "dtype"_a = nb::none(), "name"_a = "",
               located);
    module.def("full", whole(&numpy::full), "shape"_a, "value"_a, "dtype"_a = nb::none(),
               "name"_a = "", located);
    module.def("zeros_like", whole(&numpy::zeros_like), "x"_a, "dtype"_a = nb::none(),
               "shape"_a = nb::none(), located);
    module.def("ones_like", whole(&numpy::ones_like), "x"_a, "dtype"_a = nb::none(),
               "shape"_a = nb::none(), located);
    module.def("empty_like", whole(&numpy::empty_like), "x"_a, "dtype"_a = nb::none(),
               "shape"_a = nb::none(), located);
    module.def("full_like", whole(&numpy::full_like), "x"_a, "value"_a, "dtype"_a = nb::none(),
               "shape"_a = nb::none(), located);
    module.def(
        "arange_integers",
        [](int64_t start, int64_t stop, int64_t step, MaybeDType dtype, const std::string& name) {
            return numpy::arange(start, stop, step, dtype, name);
        },
        located);
    module.def(
        "arange_floats",
        [](double start, double stop, double step, MaybeDType dtype, const std::string& name) {
            return numpy::arange(start, stop, step, dtype, name);
        },
        located);
    module.def("linspace", &numpy::linspace, "start"_a, "stop"_a, "count"_a, "endpoint"_a,
               "dtype"_a = nb::none(), "name"_a = "", located);
    module.def("spaced", &numpy::spaced, "start"_a, "stop"_a, "count"_a, "endpoint"_a,
               "dtype"_a.none(), "axis"_a, located);
    module.def("logspace", &numpy::logspace, "start"_a, "stop"_a, "count"_a, "endpoint"_a, "base"_a,
               "dtype"_a.none(), "axis"_a, located);
    module.def("geomspace", &numpy::geomspace, "start"_a, "stop"_a, "count"_a, "endpoint"_a,
               "dtype"_a.none(), "axis"_a, located);
    module.def("eye", &numpy::eye, "rows"_a, "columns"_a = nb::none(), "k"_a = 0,
               "dtype"_a = nb::none(), "name"_a = "", located);
    module.def("identity", &numpy::identity, "n"_a, "dtype"_a = nb::none(), "name"_a = "", located);
    module.def("tri", &numpy::tri, "rows"_a, "columns"_a = nb::none(), "k"_a = 0,
               "dtype"_a = nb::none(), "name"_a = "", located);
    module.def("tril", &numpy::tril, "x"_a, "k"_a = 0, located);
    module.def("triu", &numpy::triu, "x"_a, "k"_a = 0, located);
}

}  // namespace composit::python

// composit/numpy/sorting.h.
#include "arrays.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/numpy/sorting.h"
#include "flags.h"
#include "location.h"
#include "numpy.h"
#include "shown.h"

#include <string_view>
#include <type_traits>

namespace composit::python {
namespace {

// Every order is stable here, whatever is asked for; a kind is known by its first letter.
void check_sort(const std::string& function, nb::handle kind, nb::handle order, nb::handle stable) {
    user_check<NotSupported>(order.is_none(), function, ": order=", Shown{order},
                             " is not supported yet. Leave it out.");
    if (kind.is_none()) return;
    user_check(stable.is_none(), function,
               ": `kind` and `stable` parameters can't be provided at the same time. Use only one "
               "of them.");
    const std::string name = nb::str(kind).c_str();
    user_check(
        !name.empty() && std::string_view("qhmsQHMS").find(name[0]) != std::string_view::npos,
        function, ": sort kind must be one of 'quick', 'heap', or 'stable' (got ", Shown{kind},
        ")");
}

void check_selection(const std::string& function, nb::handle kind, nb::handle order) {
    user_check<NotSupported>(order.is_none(), function, ": order=", Shown{order},
                             " is not supported yet. Leave it out.");
    if (!nb::isinstance<nb::str>(kind)) refuse_argument(kind, "The text 'introselect'");
    user_check(nb::cast<std::string>(kind) == "introselect", function, ": kind is ", Shown{kind},
               ". 'introselect' is required.");
}

// kth: an integer, or a list of some.
std::vector<int64_t> selected_places(const std::string& function, nb::handle kth) {
    nb::object found;
    const auto refuse = [&]<class E>(std::type_identity<E>) {
        fail<E>(function, ": kth is ", Shown{kth}, ". An integer, or a list of some, is required.");
    };
    try {
        found = numpy_attribute("atleast_1d")(kth);
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_ValueError)) throw;
        refuse(std::type_identity<ValueError>());
    }
    if (nb::cast<int64_t>(found.attr("ndim")) > 1) refuse(std::type_identity<ValueError>());
    const auto letter = nb::cast<std::string>(found.attr("dtype").attr("kind"));
    if (letter != "i" && letter != "u") refuse(std::type_identity<TypeError>());
    return integers_from(found.attr("tolist")());
}

}  // namespace

void bind_numpy_sorting(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("argsort", &numpy::argsort, located);
    module.def("sort", &numpy::sort, located);
    module.def("sort_complex", &numpy::sort_complex, located);
    module.def("check_sort", check_sort, nb::arg("function"), nb::arg("kind").none(),
               nb::arg("order").none(), nb::arg("stable").none());
    const auto select = [&](const char* name, auto function) {
        module.def(
            name,
            [=](const Tensor& x, nb::handle kth, std::optional<int64_t> axis, nb::handle kind,
                nb::handle order) {
                check_selection(name, kind, order);
                return function(x, selected_places(name, kth), axis);
            },
            nb::arg("x"), nb::arg("kth").none(), nb::arg("axis").none(), nb::arg("kind").none(),
            nb::arg("order").none(), located);
    };
    select("argpartition", numpy::argpartition);
    select("partition", numpy::partition);
    module.def("lexsort", &numpy::lexsort, located);
    module.def(
        "searchsorted",
        [](const Tensor& sorted, const Tensor& values, bool is_right, const MaybeOperand& sorter) {
            return numpy::searchsorted(sorted, values,
                                       is_right ? numpy::Side::right : numpy::Side::left, sorter);
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), located);
    module.def(
        "median",
        [](const Tensor& x, const numpy::Axis& axis, IntegerFlag keepdims) {
            return numpy::median(x, axis, keepdims);
        },
        located);
}

}  // namespace composit::python

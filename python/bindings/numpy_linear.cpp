// composit/numpy/linear.h.
#include "arrays.h"
#include "axes.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/numpy/assembling.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/subscripts.h"
#include "content.h"
#include "location.h"
#include "numpy.h"
#include "outputs.h"
#include "shown.h"

#include <algorithm>

namespace composit::python {
namespace {

bool is_axis_list(nb::handle value) {
    return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
}

numpy::NumberedAxes numbered_axes(nb::handle numbers) {
    if (!is_axis_list(numbers))
        refuse_argument(numbers, "Subscripts, or a list of numbers of axes");
    numpy::NumberedAxes axes;
    for (nb::handle number : numbers) {
        if (number.is(nb::handle(Py_Ellipsis)))
            axes.emplace_back();
        else
            axes.emplace_back(integer_from(number));
    }
    return axes;
}

// einsum(a, [0, 1], b, [1, 2], [0, 2]) as text; the operands are put into `tensors`.
std::string read_numbers(const nb::tuple& given, std::vector<nb::object>& tensors) {
    std::vector<numpy::NumberedAxes> operands;
    std::optional<numpy::NumberedAxes> result;
    for (size_t i = 0; i + 1 < given.size(); i += 2) {
        tensors.emplace_back(given[i]);
        operands.push_back(numbered_axes(given[i + 1]));
    }
    if (given.size() % 2 == 1) result = numbered_axes(given[given.size() - 1]);
    return numpy::lettered(operands, result);
}

nb::object einsum(const nb::tuple& given, nb::handle out, nb::handle dtype) {
    user_check(given.size() > 0, "einsum: no arguments are given. Subscripts are required.");
    std::vector<nb::object> tensors;
    std::string subscripts;
    if (nb::isinstance<nb::str>(given[0])) {
        subscripts = nb::cast<std::string>(given[0]);
        for (size_t i = 1; i < given.size(); ++i) tensors.emplace_back(given[i]);
    } else {
        subscripts = read_numbers(given, tensors);
    }
    const bool is_alone = out.is_none() && dtype.is_none() && tensors.size() == 1;
    if (is_alone && is_tensor(tensors[0]) && numpy::only_selects(subscripts)) {
        const auto& x = content_of<LazyTensor>(tensors[0]);
        if (const auto order = numpy::order_of_axes(subscripts, x.tensor().rank()))
            return wrap_view(numpy::transpose(x.tensor(), *order), x);
        return wrap_selection([=](const Tensor& seen) { return numpy::einsum(subscripts, {seen}); },
                              x, false);
    }
    std::vector<Tensor> operands;
    for (const nb::object& each : tensors) operands.push_back(tensor_from(each));
    if (!dtype.is_none()) {
        const ir::DType to = dtype_from(dtype);
        for (Tensor& x : operands) x = numpy::astype(x, to);
    } else if (!out.is_none() && has_attribute(out, "dtype")) {  // it takes part in the promotion
        for (Tensor& x : operands) x = numpy::strong(x);
        operands = numpy::promoted_with_output("einsum", operands, dtype_from(out.attr("dtype")));
    }
    return write_out("einsum", wrap(numpy::einsum(subscripts, operands)), out, {});
}

Tensor tensordot(const Tensor& a, const Tensor& b, nb::handle axes) {
    if (!PyIndex_Check(axes.ptr())) {
        const char* const required = "An integer, or two sequences of axes,";
        if (has_attribute(axes, "__len__") && nb::len(axes) != 2)
            refuse_argument<ValueError>(axes, required);
        if (!has_attribute(axes, "__getitem__") || nb::isinstance<nb::str>(axes) ||
            nb::isinstance<nb::dict>(axes))
            refuse_argument(axes, required);
        return numpy::tensordot(a, b, integers_from(nb::object(axes[0])),
                                integers_from(nb::object(axes[1])));
    }
    const int64_t count = integer_from(axes);
    // No axes, as those from one to another before it.
    if (count < 0) return numpy::tensordot(a, b, 0);
    const ir::Shape &first = a.shape(), &second = b.shape();
    if (count > std::min(a.rank(), b.rank())) {
        const auto begin = count <= a.rank() ? first.end() - count : first.end();
        const size_t pairs = std::min(static_cast<size_t>(first.end() - begin), second.size());
        user_check<IndexError>(
            !std::equal(begin, begin + static_cast<std::ptrdiff_t>(pairs), second.begin()),
            "tensordot: axes is ", count, ", the operands have shapes [", first, ", ", second,
            "]. At least so many axes are required.");
    }
    return numpy::tensordot(a, b, count);
}

// ----- products of vectors and matrices over their last axes, or those that axes= names

struct CoreProduct {
    std::string_view name;
    int64_t first, second, result;  // how many axes operands and result have of it
};
constexpr CoreProduct core_products[] = {
    {"matmul", 2, 2, 2}, {"matvec", 2, 1, 1}, {"vecmat", 1, 2, 1}, {"vecdot", 1, 1, 0}};

// The axes of an entry of axes=, of which there must be so many.
nb::object axes_of_entry(const std::string& name, size_t number, nb::handle given, int64_t count) {
    nb::object entry = nb::borrow(given);
    if (!nb::isinstance<nb::tuple>(given)) {
        user_check<TypeError>(PyIndex_Check(given.ptr()), name, ": axes item ", number, " is ",
                              Shown{given}, ". It should be a tuple.");
        entry = nb::make_tuple(integer_from(given));
    }
    user_check<AxisError>(static_cast<int64_t>(nb::len(entry)) == count, name, ": axes item ",
                          number, " is ", Shown{entry}, ". It has ", count, " core dimensions.");
    std::vector<int64_t> some;
    for (nb::handle axis : entry) some.push_back(integer_from(axis));
    std::ranges::sort(some);
    user_check(std::ranges::adjacent_find(some) == some.end(), name, ": axes item ", number, " is ",
               Shown{entry}, ". One value is repeated.");
    return entry;
}

std::vector<int64_t> last_axes(size_t count) {
    std::vector<int64_t> axes;
    for (size_t i = count; i > 0; --i) axes.push_back(-static_cast<int64_t>(i));
    return axes;
}

Tensor of_last_axes(std::string_view name, const Tensor& a, const Tensor& b, int64_t axis) {
    if (name == "matmul") return numpy::matmul(a, b);
    if (name == "matvec") return numpy::matvec(a, b);
    if (name == "vecmat") return numpy::vecmat(a, b);
    return numpy::vecdot(a, b, axis);
}

Tensor on_axes(const CoreProduct& core, Tensor a, Tensor b, nb::handle axes, bool keepdims) {
    const std::string name(core.name);
    user_check<TypeError>(nb::isinstance<nb::list>(axes), name, ": axes is ", Shown{axes},
                          ". axes should be a list.");
    const bool is_matmul = name == "matmul";
    const int64_t first = is_matmul ? std::min<int64_t>(2, a.rank()) : core.first,
                  second = is_matmul ? std::min<int64_t>(2, b.rank()) : core.second,
                  result = is_matmul ? first + second - 2 : core.result + (keepdims ? 1 : 0);
    const size_t count = nb::len(axes);
    const bool may_lack = result == 0 || keepdims;
    user_check(count == 3 || (may_lack && count == 2), name,
               ": axes should be a list with an entry for all 3 inputs and outputs; entries for "
               "outputs can only be omitted if none of them has core axes.");
    const int64_t counts[] = {first, second, result};
    nb::list entries;
    for (size_t i = 0; i < count; ++i)
        entries.append(axes_of_entry(name, i, nb::object(axes[i]), counts[i]));
    const auto moved = [&](const Tensor& x, size_t number) {
        const std::vector<int64_t> places =
            places_from(name, nb::object(entries[number]), x.rank());
        return numpy::moveaxis(x, places, last_axes(places.size()));
    };
    a = moved(a, 0);
    b = moved(b, 1);
    Tensor made = of_last_axes(name, a, b, -1);
    if (keepdims) made = numpy::expand_dims(made, -1);
    if (count < 3) return made;
    const std::vector<int64_t> places = places_from(name, nb::object(entries[2]), made.rank());
    return numpy::moveaxis(made, last_axes(places.size()), places);
}

nb::object product(const std::string& name, nb::object x1, nb::object x2, nb::handle axes,
                   int64_t axis, bool keepdims, nb::handle out, const std::string& casting,
                   nb::handle order, nb::handle dtype, nb::handle subok) {
    check_layout(order, subok);
    const nb::object operands =
        operands_in(name, nb::make_tuple(x1, x2), dtype, nb::str(casting.c_str()));
    const Tensor a = tensor_from(nb::object(operands[0])), b = tensor_from(nb::object(operands[1]));
    const auto& core = *std::ranges::find(core_products, name, &CoreProduct::name);
    user_check<TypeError>(axes.is_none() || axis == -1, name,
                          ": cannot specify both 'axis' and 'axes'");
    const bool has_axes = !axes.is_none() && (name != "matmul" || std::min(a.rank(), b.rank()) > 0);
    Tensor made;
    if (has_axes) {
        made = on_axes(core, a, b, axes, keepdims);
    } else {
        made = of_last_axes(name, a, b, axis);
        if (keepdims) made = numpy::expand_dims(made, axis);
    }
    return write_out(name, wrap(made), out, {casting, true});
}

}  // namespace

void bind_numpy_linear(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("matmul", &numpy::matmul, located);
    module.def("dot", &numpy::dot, located);
    module.def("inner", &numpy::inner, located);
    module.def("outer", &numpy::outer, located);
    module.def("vdot", &numpy::vdot, located);
    module.def("product", product, nb::arg("name"), nb::arg("x1").none(), nb::arg("x2").none(),
               nb::arg("axes").none(), nb::arg("axis"), nb::arg("keepdims"), nb::arg("out").none(),
               nb::arg("casting"), nb::arg("order").none(), nb::arg("dtype").none(),
               nb::arg("subok").none(), located,
               "matmul, matvec, vecmat or vecdot with all of NumPy's options.");
    module.def("tensordot", tensordot, nb::arg("a"), nb::arg("b"), nb::arg("axes").none(), located);
    module.def("einsum", einsum, nb::arg("operands"), nb::arg("out").none(),
               nb::arg("dtype").none(), located);
    module.def("diagonal", &numpy::diagonal, located);
    module.def("trace", &numpy::trace, located);
    module.def("diag", &numpy::diag, located);
}

}  // namespace composit::python

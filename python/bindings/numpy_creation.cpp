// composit/numpy/creation.h.
#include "arrays.h"
#include "axes.h"
#include "casters.h"
#include "composit/numpy/assembling.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/spacing.h"
#include "content.h"
#include "location.h"
#include "numpy.h"
#include "outputs.h"
#include "shown.h"

#include <algorithm>
#include <limits>
#include <string_view>
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

void check_creation(const std::string& function, nb::handle order, std::string_view known,
                    nb::handle like) {
    if (!order.is_none()) {
        const std::string text =
            nb::isinstance<nb::str>(order) ? nb::cast<std::string>(order) : std::string();
        user_check(text.size() == 1 && known.find(text) != known.npos, function, ": order must be ",
                   known == "CF" ? "'C' or 'F'" : "one of 'C', 'F', 'A', or 'K'", " (got ",
                   Shown{order}, ")");
    }
    user_check<TypeError>(like.is_none() || has_attribute(like, "__array_function__"), function,
                          ": like=", Shown{like},
                          " implements no __array_function__. Give an array.");
}

void check_depth(nb::handle value, int64_t most) {
    constexpr int64_t most_axes = 64;  // of NumPy's arrays
    if (most == most_axes) return;
    user_check(most >= 0 && most < most_axes, "array: ndmax is ", most, ". 0 to ", most_axes,
               " are required.");
    if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) return;
    user_check(nb::cast<int64_t>(numpy_attribute("ndim")(value)) <= most,
               "array: setting an array element with a sequence. The requested array would exceed "
               "the maximum number of dimension of ",
               most, ".");
}

bool is_python_number(nb::handle value) {
    return PyFloat_CheckExact(value.ptr()) || PyLong_CheckExact(value.ptr()) ||
           PyBool_Check(value.ptr());
}

// What arange is given, as NumPy reads its arguments: (stop,) or (start, stop, step).
nb::tuple range_of(nb::object first, nb::object stop, nb::object step, nb::object start) {
    user_check<TypeError>(start.is_none() || first.is_none(),
                          "arange: start is given twice. Give it once.");
    const bool has_start = !start.is_none();
    if (has_start) first = std::move(start);
    user_check<TypeError>(!stop.is_none() || (!has_start && !first.is_none()),
                          "arange: stop is not given. It is required.");
    if (stop.is_none()) return nb::make_tuple(first);
    return nb::make_tuple(first, stop, step);
}

// arange of whatever NumPy takes for numbers.
nb::object arange(const nb::tuple& given, nb::object dtype, const std::string& name) {
    const bool is_stop = given.size() == 1;
    nb::object start = is_stop ? nb::none() : nb::object(given[0]), stop = given[is_stop ? 0 : 1],
               step = is_stop ? nb::none() : nb::object(given[2]);
    if (start.is_none()) start = nb::int_(0);
    if (step.is_none()) step = nb::int_(1);
    const nb::object numbers[] = {start, stop, step};
    const auto all = [&](auto is) { return std::ranges::all_of(numbers, is); };
    if (!all([](nb::handle x) { return !PyComplex_Check(x.ptr()); }))
        return wrap_array(ir::constant(
            array_from(numpy_attribute("arange")(start, stop, step, nb::arg("dtype") = dtype)),
            name));
    const MaybeDType to = dtype.is_none() ? MaybeDType() : dtype_from(dtype);
    if (all([](nb::handle x) { return PyIndex_Check(x.ptr()) && !PyFloat_Check(x.ptr()); }))
        return wrap_array(
            numpy::arange(integer_from(start), integer_from(stop), integer_from(step), to, name));
    return wrap_array(
        numpy::arange(number_from(start), number_from(stop), number_from(step), to, name));
}

void check_samples(const char* function, int64_t count) {
    user_check(count >= 0, function, ": Number of samples, ", count, ", must be non-negative.");
}

// make(dtype), whose own errors come before that of a dtype which is none, as in NumPy.
template <class Make>
auto with_dtype_read_last(nb::handle dtype, const Make& make) {
    MaybeDType known;
    try {
        known = nb::cast<MaybeDType>(dtype);
    } catch (...) {
        (void)make(MaybeDType());
        throw;
    }
    return make(known);
}

nb::tuple linspace(nb::handle start, nb::handle stop, int64_t count, bool endpoint,
                   nb::handle given_dtype, nb::handle axis) {
    check_samples("linspace", count);
    const auto dtype = nb::cast<MaybeDType>(given_dtype);
    const int64_t parts = endpoint ? count - 1 : count;
    nb::object step = nb::float_(std::numeric_limits<double>::quiet_NaN());
    if (is_python_number(start) && is_python_number(stop)) {
        const double first = number_from(start), last = number_from(stop);
        one_axis_from("linspace", axis, 1);
        const Tensor values = numpy::linspace(first, last, count, endpoint, dtype);
        if (parts > 0)
            step = wrap_array(
                numpy::scalar(DType::float64, (last - first) / static_cast<double>(parts)));
        return nb::make_tuple(wrap_array(values), step);
    }
    const Tensor first = tensor_from(start), last = tensor_from(stop);
    const int64_t place = one_axis_from("linspace", axis, 1 + std::max(first.rank(), last.rank()));
    const Tensor values = numpy::spaced(first, last, count, endpoint, dtype, place);
    if (parts > 0)
        step = wrap(numpy::apply(
            "divide",
            {numpy::apply("subtract", {numpy::strong(last), numpy::strong(first)}), parts}));
    return nb::make_tuple(wrap(values), step);
}

}  // namespace

nb::object number_read(const std::string& function, nb::handle value, DType dtype) {
    if (!nb::isinstance<nb::str>(value) && !nb::isinstance<nb::bytes>(value))
        return nb::borrow(value);
    PyObject* kind = reinterpret_cast<PyObject*>(&PyLong_Type);
    if (dtype == DType::boolean) kind = reinterpret_cast<PyObject*>(&PyBool_Type);
    if (ir::is_floating(dtype)) kind = reinterpret_cast<PyObject*>(&PyFloat_Type);
    if (ir::is_complex(dtype)) kind = reinterpret_cast<PyObject*>(&PyComplex_Type);
    try {
        return nb::handle(kind)(value);
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_ValueError)) throw;
    }
    fail<ValueError>(function, ": ", Shown{value}, " says no number. One of ", dtype,
                     " is required.");
}

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
    module.def(
        "full_like",
        [](const Tensor& x, nb::handle value, MaybeDType dtype, std::optional<Shape> shape) {
            const nb::object number = number_read("full_like", value, dtype.value_or(x.dtype()));
            return wrap_array(numpy::full_like(x, tensor_from(number), dtype, std::move(shape)));
        },
        "x"_a, "value"_a, "dtype"_a = nb::none(), "shape"_a = nb::none(), located);
    module.def("number_read", number_read, "function"_a, "value"_a.none(), "dtype"_a,
               "The number that a text says, for a dtype; all else as it is.");
    module.def("check_creation", check_creation, "function"_a, "order"_a.none(), "known"_a = "CKAF",
               "like"_a = nb::none(), "Refuses what is no order, and like= that is no array.");
    module.def("check_depth", check_depth, "value"_a.none(), "most"_a,
               "ValueError for lists within lists deeper than so many.");
    module.def(
        "with_rank",
        [](nb::handle x, int64_t rank) {
            const Tensor tensor = tensor_from(x);
            if (tensor.rank() >= rank) return nb::borrow(x);
            return wrap_view(numpy::with_rank(tensor, rank), content_of<LazyTensor>(x));
        },
        located);
    module.def("range_of", range_of, "first"_a.none(), "stop"_a.none(), "step"_a.none(),
               "start"_a.none());
    module.def("arange", arange, "given"_a, "dtype"_a.none(), "name"_a, located);
    module.def("linspace", linspace, "start"_a.none(), "stop"_a.none(), "count"_a, "endpoint"_a,
               "dtype"_a.none(), "axis"_a.none(), located,
               "The values, and the step between them.");
    module.def(
        "logspace",
        [](const numpy::Operand& start, const numpy::Operand& stop, int64_t count, bool endpoint,
           const numpy::Operand& base, nb::handle given_dtype, nb::handle axis) {
            check_samples("logspace", count);
            const auto dtype = nb::cast<MaybeDType>(given_dtype);
            if (!PyTuple_Check(axis.ptr()) && !PyList_Check(axis.ptr()))
                return numpy::logspace(start, stop, count, endpoint, base, dtype,
                                       integer_from(axis));
            const Tensor made = numpy::logspace(start, stop, count, endpoint, base, dtype);
            return numpy::moveaxis(made, 0, one_axis_from("logspace", axis, made.rank()));
        },
        "start"_a, "stop"_a, "count"_a, "endpoint"_a, "base"_a, "dtype"_a.none(), "axis"_a.none(),
        located);
    module.def(
        "geomspace",
        [](const numpy::Operand& start, const numpy::Operand& stop, int64_t count, bool endpoint,
           nb::handle given_dtype, nb::handle axis) {
            const Tensor made = with_dtype_read_last(given_dtype, [&](MaybeDType dtype) {
                return numpy::geomspace(start, stop, count, endpoint, dtype);
            });
            return numpy::moveaxis(made, 0, one_axis_from("geomspace", axis, made.rank()));
        },
        "start"_a, "stop"_a, "count"_a, "endpoint"_a, "dtype"_a.none(), "axis"_a.none(), located);
    module.def("eye", &numpy::eye, "rows"_a, "columns"_a = nb::none(), "k"_a = 0,
               "dtype"_a = nb::none(), "name"_a = "", located);
    module.def("identity", &numpy::identity, "n"_a, "dtype"_a = nb::none(), "name"_a = "", located);
    module.def("tri", &numpy::tri, "rows"_a, "columns"_a = nb::none(), "k"_a = 0,
               "dtype"_a = nb::none(), "name"_a = "", located);
    module.def("tril", &numpy::tril, "x"_a, "k"_a = 0, located);
    module.def("triu", &numpy::triu, "x"_a, "k"_a = 0, located);
}

}  // namespace composit::python

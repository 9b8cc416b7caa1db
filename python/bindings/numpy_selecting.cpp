// composit/numpy/selecting.h and writing.h.
#include "arguments.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/numpy/selecting.h"
#include "composit/numpy/writing.h"
#include "indexing.h"
#include "location.h"
#include "numpy.h"
#include "shown.h"

#include <string_view>

namespace composit::python {
namespace {

// One integer, a slice, or an array of integers or a mask; no array of floats, no float, no text.
numpy::Positions positions_from(const char* function, nb::handle value) {
    const bool is_fraction = PyFloat_Check(value.ptr()) || PyComplex_Check(value.ptr());
    if (is_fraction && std::string_view(function) == "insert")
        refuse_argument(value, "An integer, a slice, a mask or several integers");
    user_check<IndexError>(!is_fraction && !nb::isinstance<nb::str>(value), function,
                           ": arrays used as indices must be of integer (or boolean) type, not ",
                           Shown{value}, ".");
    if (has_attribute(value, "dtype") && !nb::object(value.attr("dtype")).is_none()) {
        const nb::object dtype = value.attr("dtype");
        const auto kind = nb::cast<std::string>(dtype.attr("kind"));
        user_check<IndexError>(kind != "f" && kind != "c", function,
                               ": arrays used as indices must be of integer (or boolean) type, "
                               "not ",
                               Said{dtype}, ".");
    }
    if (PySlice_Check(value.ptr())) return std::get<numpy::Slice>(index_from(value)[0]);
    if (PyLong_CheckExact(value.ptr())) return integer_from(value);
    return tensor_from(value);
}

// Conditions as a list: it may be a condition itself, by NumPy's rule.
std::vector<Tensor> conditions_from(const Tensor& x, nb::handle given) {
    const auto rank = [](nb::handle value) {
        return has_attribute(value, "ndim") ? nb::cast<int64_t>(value.attr("ndim")) : 0;
    };
    const bool is_number = PyLong_Check(given.ptr()) || PyFloat_Check(given.ptr()) ||
                           (has_attribute(given, "ndim") && rank(given) == 0);
    if (is_number) return {tensor_from(given)};
    if (!has_attribute(given, "__iter__")) refuse_argument(given, "A sequence");
    std::vector<nb::object> all;
    for (nb::handle each : given) all.push_back(nb::borrow(each));
    const bool is_list = !all.empty() && (PyList_Check(all[0].ptr()) || rank(all[0]) > 0);
    if (!is_list && x.rank() > 0) return {tensor_from(given)};
    std::vector<Tensor> conditions;
    for (const nb::object& each : all) conditions.push_back(tensor_from(each));
    return conditions;
}

void bind_writing(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("put_along_axis", &numpy::put_along_axis, nb::arg("x"), nb::arg("indices"),
               nb::arg("values"), nb::arg("axis").none(), located);
    module.def("fill_diagonal", &numpy::fill_diagonal, located);
    module.def("put", &numpy::put, located);
    module.def("place", &numpy::place, located);
    module.def("putmask", &numpy::putmask, located);
    module.def(
        "copyto",
        [](const Tensor& x, const numpy::Operand& source, const std::string& casting,
           const MaybeOperand& where) { return numpy::copyto(x, source, casting, where); },
        nb::arg("x"), nb::arg("source"), nb::arg("casting"), nb::arg("where").none(), located);
}

}  // namespace

void bind_numpy_selecting(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "select",
        [](const std::vector<Tensor>& conditions, const std::vector<Tensor>& choices,
           const numpy::Operand& otherwise) {
            return numpy::select(conditions, {choices.begin(), choices.end()}, otherwise);
        },
        located);
    // Pieces are values, or functions, which take what is selected, then these arguments.
    module.def(
        "piecewise",
        [](const Tensor& x, nb::handle given, const nb::list& pieces, const nb::tuple& arguments,
           const nb::dict& named) {
            const std::vector<Tensor> conditions = conditions_from(x, given);
            std::vector<numpy::Piece> all;
            for (nb::handle piece : pieces) {
                if (!PyCallable_Check(piece.ptr())) {
                    all.emplace_back(numpy::Operand(tensor_from(piece)));
                    continue;
                }
                all.emplace_back([=, piece = nb::borrow(piece)](const Tensor& selected) {
                    return tensor_from(piece(wrap(selected), *arguments, **named));
                });
            }
            return numpy::piecewise(x, conditions, all);
        },
        located);
    module.def("choose", &numpy::choose, located);
    module.def("extract", &numpy::extract, located);
    module.def("compress", &numpy::compress, nb::arg("condition"), nb::arg("x"),
               nb::arg("axis").none(), located);
    module.def("trim_zeros", &numpy::trim_zeros, located);
    module.def(
        "insert",
        [](const Tensor& x, nb::handle positions, const numpy::Operand& values,
           std::optional<int64_t> axis) {
            return numpy::insert(x, positions_from("insert", positions), values, axis);
        },
        nb::arg("x"), nb::arg("positions").none(), nb::arg("values"), nb::arg("axis").none(),
        located);
    module.def(
        "delete",
        [](const Tensor& x, nb::handle positions, std::optional<int64_t> axis) {
            return numpy::delete_(x, positions_from("delete", positions), axis);
        },
        nb::arg("x"), nb::arg("positions").none(), nb::arg("axis").none(), located);
    // Functions of the user's: what they return is taken like any operand.
    module.def(
        "apply_along_axis",
        [](nb::object function, int64_t axis, const Tensor& x) {
            const auto call = [&](const Tensor& row) { return tensor_from(function(wrap(row))); };
            return numpy::apply_along_axis(call, axis, x);
        },
        located);
    module.def(
        "apply_over_axes",
        [](nb::object function, const Tensor& x, const std::vector<int64_t>& axes) {
            const auto call = [&](const Tensor& at, int64_t axis) {
                return tensor_from(function(wrap(at), axis));
            };
            return numpy::apply_over_axes(call, x, axes);
        },
        located);
    bind_writing(module);
}

}  // namespace composit::python

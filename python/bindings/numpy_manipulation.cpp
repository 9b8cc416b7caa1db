// composit/numpy/manipulation.h.
#include "arrays.h"
#include "axes.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/numpy/bits.h"
#include "composit/numpy/casting.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/padding.h"
#include "flags.h"
#include "location.h"
#include "numpy.h"
#include "outputs.h"
#include "shown.h"
#include "viewing.h"

#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

namespace composit::python {
namespace {

using numpy::Axis;
using MaybeAxis = std::optional<int64_t>;
using Integers = std::vector<int64_t>;

nb::object view_of(nb::handle x, const Tensor& result) {
    return is_tensor(x) ? wrap_view(result, content_of<LazyTensor>(x)) : wrap(result);
}

// order= in upper case, by its first letter as NumPy takes it.
char order_letter(const std::string& function, nb::handle order, std::string_view known) {
    char letter = 0;
    if (nb::isinstance<nb::str>(order) && nb::len(order) > 0)
        letter = static_cast<char>(
            std::toupper(static_cast<unsigned char>(nb::cast<std::string>(order)[0])));
    if (letter != 0 && known.find(letter) != known.npos) return letter;
    std::string required;
    for (const char each : known) required += text(required.empty() ? "'" : ", '", each, "'");
    fail<ValueError>(function, ": order=", Shown{order}, " is not known. One of ", required,
                     " is required.");
}

// Whether elements lie in memory column after column, and not row after row, too.
bool lies_by_columns(nb::handle a) {
    if (!is_tensor(a))
        return has_attribute(a, "flags") && has_attribute(a.attr("flags"), "fnc") &&
               nb::cast<bool>(a.attr("flags").attr("fnc"));
    return nb::cast<bool>(a.attr("is_contiguous_in")(true)) &&
           !nb::cast<bool>(a.attr("is_contiguous_in")(false));
}

nb::object transposed_view(nb::handle a) { return view_of(a, numpy::transpose(tensor_from(a))); }

nb::object reshape_in(nb::handle a, nb::handle shape, nb::handle order, nb::handle copy) {
    const char letter = order_letter("reshape", order, "CFA");
    nb::object result;
    if (letter == 'F' || (letter == 'A' && lies_by_columns(a))) {
        Integers lengths = integers_from(shape);
        std::ranges::reverse(lengths);
        const nb::object columns = transposed_view(a);
        result = transposed_view(view_of(columns, numpy::reshape(tensor_from(columns), lengths)));
    } else {
        result = view_of(a, numpy::reshape(tensor_from(a), integers_from(shape)));
    }
    if (copy.is(nb::bool_(false)) && is_tensor(a)) {
        const nb::object root = a.attr("root")();
        user_check(nb::object(result.attr("root")()).is(root.is_none() ? a : nb::handle(root)),
                   "Unable to avoid creating a copy while reshaping.");
    }
    if (copy.is_none() || !truth_of(copy)) return result;
    return result.attr("copied")(letter == 'F');
}

nb::object ravel(nb::handle x) {
    const Tensor tensor = tensor_from(x), line = numpy::ravel(tensor);
    if (!is_tensor(x)) return wrap(line);
    const auto& content = content_of<LazyTensor>(x);
    const bool is_view = eager::is_row_major(tensor.shape(), content.cell()->strides());
    return is_view ? wrap_view(line, content) : wrap_copy(line);
}

nb::object ravel_in(nb::handle a, nb::handle order) {
    const char letter = order_letter("ravel", order, "CFAK");
    const bool is_turned = letter == 'F' || (letter != 'C' && lies_by_columns(a));
    return is_turned ? ravel(transposed_view(a)) : ravel(a);
}

Tensor with_an_axis(const Tensor& x, MaybeAxis axis) {
    return axis && x.rank() == 0 ? numpy::atleast_1d(x) : x;
}

// A float by its whole part, or what Python counts with; not valid for all else.
nb::object whole_or_index(nb::handle value) {
    const bool is_float = PyFloat_Check(value.ptr());
    if (!is_float && !PyIndex_Check(value.ptr())) return {};
    nb::object number =
        nb::steal(is_float ? PyNumber_Long(value.ptr()) : PyNumber_Index(value.ptr()));
    if (number.is_valid() || !PyErr_ExceptionMatches(PyExc_TypeError)) {
        if (!number.is_valid()) throw nb::python_error();
        return number;
    }
    PyErr_Clear();  // an array of several
    return number;
}

Tensor repeat(const Tensor& a, nb::handle repeats, MaybeAxis axis) {
    const Tensor x = with_an_axis(a, axis);
    const nb::object times = whole_or_index(repeats);
    return times.is_valid() ? numpy::repeat(x, integer_from(times), axis)
                            : numpy::repeat(x, integers_from(repeats), axis);
}

// Lists of indices: empty ones, and bools, count as integers.
nb::object whole_indices(nb::handle indices) {
    if (!PyList_Check(indices.ptr()) && !PyTuple_Check(indices.ptr())) return nb::borrow(indices);
    try {
        const nb::object found = numpy_attribute("asarray")(indices);
        const auto kind = nb::cast<std::string>(found.attr("dtype").attr("kind"));
        if (kind == "b" || kind == "f") return found.attr("astype")(numpy_attribute("int64"));
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    }
    return nb::borrow(indices);
}

nb::object take(const Tensor& a, nb::handle given, MaybeAxis axis, nb::handle out,
                const std::string& mode) {
    const nb::object indices = number_read("take", whole_indices(given), ir::DType::int64);
    const Tensor result = numpy::take(with_an_axis(a, axis), tensor_from(indices), axis, mode);
    check_buffer(result, out);
    return write_out("take", wrap(result), out, {.casting = "unsafe"});
}

// Shifts by their whole part, and those that 64 bits do not hold less whole turns along every axis.
nb::object within_turns_of_one(nb::handle shift, int64_t size) {
    const bool is_infinite =
        PyFloat_Check(shift.ptr()) && !std::isfinite(PyFloat_AS_DOUBLE(shift.ptr()));
    nb::object by = is_infinite ? nb::object() : whole_or_index(shift);
    if (!by.is_valid()) return nb::borrow(shift);
    const nb::object bits = by.attr("bit_length")();
    constexpr int most_bits = 62;
    if (nb::cast<int64_t>(bits) <= most_bits) return by;
    by = nb::steal(PyNumber_Remainder(by.ptr(), nb::int_(std::max<int64_t>(size, 1)).ptr()));
    if (!by.is_valid()) throw nb::python_error();
    return by;
}

nb::object within_turns(nb::handle shift, int64_t size) {
    if (!PyList_Check(shift.ptr()) && !PyTuple_Check(shift.ptr()))
        return within_turns_of_one(shift, size);
    nb::list all;
    for (nb::handle each : shift) all.append(within_turns_of_one(each, size));
    return all;
}

std::pair<int64_t, int64_t> pair_of_axes(nb::handle axes) {
    const char* const required = "A pair of axes";
    if (!has_attribute(axes, "__len__")) refuse_argument(axes, required);
    if (nb::len(axes) != 2) refuse_argument<ValueError>(axes, required);
    return {integer_from(nb::object(axes[0])), integer_from(nb::object(axes[1]))};
}

// ----- pad's arguments

// A number, or numbers, of these kinds as a pair for each axis.
nb::object pairs_from(nb::handle value, int64_t rank, std::string_view kinds,
                      const char* required) {
    nb::object given, pairs;
    try {
        given = numpy_attribute("asarray")(value);
        pairs = numpy_attribute("broadcast_to")(given, nb::make_tuple(rank, 2));
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
        refuse_argument<ValueError>(value, required);
    }
    if (kinds.find(nb::cast<std::string>(given.attr("dtype").attr("kind"))) == kinds.npos)
        refuse_argument(value, required);
    return pairs.attr("tolist")();
}

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

constexpr const char* const width_required =
    "An integer, or a pair of them for all axes or for each,";
constexpr const char* const number_required =
    "A number, or a pair of them for all axes or for each,";

// A pair for each axis; of a dictionary none is added along axes that are not named.
Pairs pad_widths(nb::handle given, int rank) {
    if (!nb::isinstance<nb::dict>(given))
        return nb::cast<Pairs>(pairs_from(given, rank, "iu", width_required));
    Pairs widths(static_cast<size_t>(rank), {0, 0});
    for (auto [axis, width] : nb::borrow<nb::dict>(given)) {
        const int64_t at = integer_from(axis);
        user_check<IndexError>(at >= -rank && at < rank, "pad: axis ", at,
                               " of pad_width is out of bounds for an array of ", rank,
                               " dimensions. Axes are ", -rank, " to ", rank - 1, ".");
        const nb::object pair = pairs_from(width, 1, "iu", width_required);
        widths[static_cast<size_t>(at < 0 ? at + rank : at)] =
            nb::cast<std::pair<int64_t, int64_t>>(nb::object(pair[0]));
    }
    return widths;
}

// Modes, and the option that each of them has.
struct PadMode {
    std::string_view name, option;
};
constexpr PadMode pad_modes[] = {{"constant", "constant_values"},
                                 {"linear_ramp", "end_values"},
                                 {"maximum", "stat_length"},
                                 {"mean", "stat_length"},
                                 {"median", "stat_length"},
                                 {"minimum", "stat_length"},
                                 {"reflect", "reflect_type"},
                                 {"symmetric", "reflect_type"},
                                 {"edge", ""},
                                 {"wrap", ""},
                                 {"empty", ""}};

const PadMode& pad_mode_from(nb::handle mode, const nb::dict& options) {
    const auto name = nb::isinstance<nb::str>(mode) ? nb::cast<std::string>(mode) : std::string();
    const auto* const found = std::ranges::find(pad_modes, name, &PadMode::name);
    if (found == std::end(pad_modes)) {
        std::vector<std::string_view> names;
        for (const PadMode& each : pad_modes) names.push_back(each.name);
        fail<ValueError>("pad: mode ", Shown{mode}, " is not supported. One of ", join(names),
                         " is required.");
    }
    nb::list odd;
    for (auto [option, value] : options)
        if (nb::cast<std::string>(option) != found->option) odd.append(option);
    odd.attr("sort")();
    user_check(odd.size() == 0, "pad: unsupported keyword arguments for mode ", Shown{mode}, ": ",
               Shown{odd});
    return *found;
}

Tensor pad(const Tensor& x, const Pairs& widths, nb::handle given_mode, const nb::dict& given) {
    const PadMode& mode = pad_mode_from(given_mode, given);
    const std::string name(mode.name);
    const auto option = [&](const char* key) {
        return given.contains(key) ? nb::object(given[key]) : nb::none();
    };
    const nb::object value = option("constant_values");
    const auto is_several = [](nb::handle v) {
        return PyList_Check(v.ptr()) || PyTuple_Check(v.ptr()) ||
               (has_attribute(v, "ndim") && nb::cast<int64_t>(v.attr("ndim")) > 0);
    };
    if (name == "empty" || (name == "constant" && !is_several(value)))
        return numpy::pad(x, widths, name,
                          given.contains("constant_values") ? numpy::Operand(tensor_from(value))
                                                            : numpy::Operand(0));
    numpy::PadOptions options;
    if (mode.option.ends_with("values")) {
        const std::string key(mode.option);
        const nb::object numbers =
            given.contains(key.c_str()) ? nb::object(given[key.c_str()]) : nb::int_(0);
        const nb::object pairs = pairs_from(numbers, x.rank(), "biufc", number_required);
        for (nb::handle pair : pairs)
            options.values.emplace_back(tensor_from(nb::object(pair[0])),
                                        tensor_from(nb::object(pair[1])));
    } else if (const nb::object lengths = option("stat_length"); !lengths.is_none()) {
        options.stat_lengths =
            nb::cast<Pairs>(pairs_from(lengths, x.rank(), "iu", number_required));
    }
    options.is_odd = option("reflect_type").equal(nb::str("odd"));
    return numpy::pad(x, widths, name, options);
}

void bind_views(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("places_of", places_from, nb::arg("function"), nb::arg("axes").none(),
               nb::arg("rank"), "Which axes these are, counted from the front.");
    module.def("one_axis", one_axis_from, nb::arg("function"), nb::arg("axis").none(),
               nb::arg("rank"), "The one axis that an integer names, or a list of one.");
    module.def("axes_of", [](const std::string& function, const Axis& axis, int rank) {
        return axis.of(function, rank);
    });
    module.def("reshape", viewing<Integers>(numpy::reshape), located);
    module.def("reshape_in", reshape_in, nb::arg("a"), nb::arg("shape").none(),
               nb::arg("order").none(), nb::arg("copy").none(), located);
    module.def("ravel", ravel, nb::arg("x"), located);
    module.def("order_letter", order_letter, nb::arg("function"), nb::arg("order").none(),
               nb::arg("known"), "order= in upper case, by its first letter as NumPy takes it.");
    module.def("ravel_in", ravel_in, nb::arg("a"), nb::arg("order").none(), located);
    module.def("transpose", viewing<std::optional<Integers>>(numpy::transpose), located);
    module.def("permute_dims", viewing<Integers>(numpy::permute_dims), located);
    module.def("matrix_transpose", viewing<>(numpy::matrix_transpose), located);
    module.def("swapaxes", viewing<int64_t, int64_t>(numpy::swapaxes), located);
    module.def("moveaxis", viewing<Axis, Axis>(numpy::moveaxis), located);
    module.def("rollaxis", viewing<int64_t, int64_t>(numpy::rollaxis), located);
    module.def("expand_dims", viewing<Axis>(numpy::expand_dims), located);
    module.def("squeeze", viewing<Axis>(numpy::squeeze), located);
    module.def("atleast_1d", viewing<>(numpy::atleast_1d), located);
    module.def("atleast_2d", viewing<>(numpy::atleast_2d), located);
    module.def("atleast_3d", viewing<>(numpy::atleast_3d), located);
    module.def("broadcast_to", viewing<Integers>(numpy::broadcast_to), located);
    module.def("flip", viewing<Axis>(numpy::flip), located);
    module.def(
        "rot90",
        [](nb::handle m, int64_t k, nb::handle axes) {
            return view_of(m, numpy::rot90(tensor_from(m), k, pair_of_axes(axes)));
        },
        nb::arg("m"), nb::arg("k"), nb::arg("axes").none(), located);
}

void bind_parts(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("concatenate", &numpy::concatenate, located);
    module.def("stack", &numpy::stack, located);
    module.def("hstack", &numpy::hstack, located);
    module.def("vstack", &numpy::vstack, located);
    module.def("dstack", &numpy::dstack, located);
    module.def(
        "append",
        [](const Tensor& x, const Tensor& values, MaybeAxis axis) {
            return numpy::append(x, values, axis);
        },
        located);
    module.def(
        "split",
        [](nb::handle x, int64_t sections, int64_t axis) {
            return viewed(numpy::split(tensor_from(x), sections, axis), x);
        },
        located);
    module.def(
        "split_at",
        [](nb::handle x, const Integers& indices, int64_t axis) {
            return viewed(numpy::split(tensor_from(x), indices, axis), x);
        },
        located);
    module.def(
        "array_split",
        [](nb::handle x, int64_t sections, int64_t axis) {
            return viewed(numpy::array_split(tensor_from(x), sections, axis), x);
        },
        located);
}

}  // namespace

void bind_numpy_manipulation(nb::module_& module) {
    const nb::call_guard<Located> located;
    bind_views(module);
    bind_parts(module);
    module.def("flatten", [](const Tensor& x) { return wrap_copy(numpy::flatten(x)); }, located);
    module.def("broadcast_arrays", &numpy::broadcast_arrays, located);
    module.def("broadcast_shapes", [](nb::args shapes) {
        std::vector<ir::Shape> list;
        for (nb::handle shape : shapes) list.push_back(integers_from(shape));
        return numpy::broadcast_shapes(list);
    });
    module.def(
        "astype",
        [](const Tensor& x, ir::DType dtype) { return wrap_copy(numpy::astype(x, dtype)); },
        located);
    module.def(
        "roll",
        [](const Tensor& x, nb::handle shift, const Axis& axis) {
            return numpy::roll(x, integers_from(within_turns(shift, x.size())), axis);
        },
        nb::arg("x"), nb::arg("shift").none(), nb::arg("axis").none(), located);
    module.def("repeat", repeat, nb::arg("a"), nb::arg("repeats").none(), nb::arg("axis").none(),
               located);
    module.def("tile", &numpy::tile, located);
    module.def("resize", &numpy::resize, located);
    module.def("packbits", &numpy::packbits, nb::arg("x"), nb::arg("axis").none(), nb::arg("order"),
               located);
    module.def("unpackbits", &numpy::unpackbits, nb::arg("x"), nb::arg("axis").none(),
               nb::arg("count").none(), nb::arg("order"), located);
    module.def("pad_widths", pad_widths, nb::arg("given").none(), nb::arg("rank"));
    module.def("pad", pad, nb::arg("x"), nb::arg("widths"), nb::arg("mode").none(),
               nb::arg("options"), located);
    module.def("take", take, nb::arg("a"), nb::arg("indices").none(), nb::arg("axis").none(),
               nb::arg("out").none(), nb::arg("mode"), located);
    module.def(
        "take_along_axis",
        [](const Tensor& x, const Tensor& indices, MaybeAxis axis) {
            return numpy::take_along_axis(x, indices, axis);
        },
        located);
    module.def(
        "diff",
        [](const Tensor& x, int64_t n, int64_t axis, const MaybeOperand& prepend,
           const MaybeOperand& append) { return numpy::diff(x, n, axis, prepend, append); },
        nb::arg("x"), nb::arg("n"), nb::arg("axis"), nb::arg("prepend").none(),
        nb::arg("append").none(), located);
    module.def("sliding_window_view", &numpy::sliding_window_view, located);
    module.def("meshgrid", &numpy::meshgrid, located);
}

}  // namespace composit::python

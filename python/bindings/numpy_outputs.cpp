// composit/numpy/outputs.h and casting.h, and calls of ufuncs with all that these take.
#include "casters.h"
#include "composit/numpy/casting.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "content.h"
#include "location.h"
#include "numpy.h"
#include "outputs.h"
#include "provided.h"
#include "set_item.h"
#include "shown.h"

namespace composit::python {
namespace {

constexpr const char* const rules_of_casting = "('no', 'equiv', 'safe', 'same_kind', 'unsafe')";

std::string casting_from(nb::handle casting) {
    user_check<TypeError>(nb::isinstance<nb::str>(casting), "casting is ", Shown{casting},
                          ". One of ", rules_of_casting, " is required.");
    return nb::cast<std::string>(casting);
}

bool is_array(nb::handle value) { return nb::isinstance(value, numpy_attribute("ndarray")); }

void copy_into(const std::string& function, nb::handle out, nb::handle values) {
    const nb::object lengths = out.attr("shape"), of_values = values.attr("shape");
    user_check(lengths.equal(of_values), function, ": out has shape ", Shown{lengths},
               ", the result ", Shown{of_values}, ". Equal shapes are required.");
    try {
        numpy_attribute("copyto")(out, values.attr("evaluated")(),
                                  nb::arg("casting") = "same_kind");
    } catch (nb::python_error& error) {  // what out holds, or that it is read-only
        if (error.matches(PyExc_TypeError))
            fail<TypeError>(function, ": ", nb::str(error.value()).c_str());
        if (error.matches(PyExc_ValueError))
            fail<ValueError>(function, ": ", nb::str(error.value()).c_str());
        throw;
    }
}

// NumPy's warning of what is in a result where nothing was computed. Three frames of Python are
// between this and the user: __call__, what asks operands first, and the user's own.
void warn_of_gaps() {
    constexpr int level = 3;
    if (PyErr_WarnEx(PyExc_UserWarning,
                     "'where' used without 'out': elsewhere composit has zeros, NumPy what was in "
                     "memory. If this is intentional, use out=None.",
                     level) < 0)
        throw nb::python_error();
}

// One output for each result, None where there is none.
std::vector<nb::object> outputs_of(const std::string& name, const nb::list& places, size_t count,
                                   nb::handle out) {
    std::vector<nb::object> outputs(count, nb::none());
    for (size_t i = 0; i < places.size(); ++i) outputs[i] = nb::borrow(places[i]);
    if (out.is_none()) return outputs;
    if (count == 1) return {the_output(out)};
    user_check<TypeError>(nb::isinstance<nb::tuple>(out), name, ": out is ", KindOf{out},
                          ". A tuple of two, tensors or None, is required.");
    user_check(nb::len(out) == count,
               "The 'out' tuple must have exactly one entry per ufunc output");
    for (size_t i = 0; i < count; ++i) outputs[i] = out[i];
    return outputs;
}

nb::object masked(const std::string& function, const Tensor& result, nb::handle where,
                  nb::handle out) {
    if (where.is(nb::bool_(true))) return wrap(result);
    const nb::object below = the_output(out);
    return wrap(
        numpy::masked_by(function, result, tensor_from(where),
                         below.is_none() ? numpy::Operand() : numpy::Operand(tensor_from(below))));
}

// Operands in the dtype that is asked for; as they are where nothing is.
template <class Cast>
nb::object in_dtype(const Cast& cast, const std::string& function, nb::object operands,
                    nb::handle dtype, nb::handle casting) {
    const std::string rule = casting_from(casting);
    if (numpy::is_same_kind(rule) && dtype.is_none()) return operands;
    std::optional<ir::DType> to;
    if (!dtype.is_none()) to = dtype_from(dtype);
    if (!has_attribute(operands, "__iter__")) refuse_argument(operands, "A sequence of arrays");
    return nb::cast(cast(function, tensors_from(operands), to, rule));
}

// What a call of a ufunc asks for beside its operands.
struct CallOptions {
    nb::object out, where, dtype, casting, order, subok, signature, sig;
};

// A bound of clip: integers that the dtype does not hold, or ends with, bound nothing.
MaybeOperand bound_from(nb::handle given, ir::DType dtype, bool is_low) {
    if (given.is_none()) return {};
    if (PyLong_CheckExact(given.ptr()) && ir::is_integer(dtype)) {
        const nb::object limits = numpy_attribute("iinfo")(dtype_object(dtype));
        const nb::object limit = limits.attr(is_low ? "min" : "max");
        const int beyond =
            PyObject_RichCompareBool(given.ptr(), limit.ptr(), is_low ? Py_LE : Py_GE);
        if (beyond < 0) throw nb::python_error();
        if (beyond) return {};
    }
    return {tensor_from(given)};
}

// (low, high) of clip's two pairs of names for them; numpy._NoValue where they are not given.
std::pair<nb::object, nb::object> bounds_of_clip(nb::object a_min, nb::object a_max, nb::object low,
                                                 nb::object high) {
    const auto is_given = [](nb::handle x) { return !x.is(numpy_attribute("_NoValue")); };
    if (!is_given(a_min) && !is_given(a_max))
        return {is_given(low) ? low : nb::none(), is_given(high) ? high : nb::none()};
    user_check<TypeError>(is_given(a_min) && is_given(a_max),
                          "clip() missing 1 required positional argument: '",
                          is_given(a_min) ? "a_max" : "a_min", "'");
    user_check(!is_given(low) && !is_given(high),
               "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is "
               "forbidden.");
    return {a_min, a_max};
}

nb::object clip(nb::handle a, nb::object a_min, nb::object a_max, nb::handle out, nb::object min,
                nb::object max, nb::handle dtype, nb::handle casting, nb::handle order,
                nb::dict options) {
    nb::object where = nb::bool_(true);
    for (auto [name, value] : options) {
        user_check<TypeError>(name.equal(nb::str("where")), "clip: ", Said{name}, "=", Shown{value},
                              ": there is no such option. where is one.");
        where = nb::borrow(value);
    }
    const auto [low, high] =
        bounds_of_clip(std::move(a_min), std::move(a_max), std::move(min), std::move(max));
    const std::string letter =
        nb::isinstance<nb::str>(order) ? nb::cast<std::string>(order) : std::string();
    const bool is_known =
        letter.size() == 1 && std::string_view("KACF").find(letter) != std::string_view::npos;
    user_check<NotSupported>(order.is_none() || is_known, "clip: order=", Shown{order},
                             " is not supported yet. Leave it out.");
    const Tensor x = numpy::strong(tensor_from(a));
    user_check<TypeError>(x.dtype() != ir::DType::boolean || !low.is_none() || !high.is_none(),
                          "clip: a is bool, and there is no bound. One is required.");
    const Tensor bounded =
        numpy::clip(x, bound_from(low, x.dtype(), true), bound_from(high, x.dtype(), false));
    nb::object result = bounded == x ? wrap_copy(bounded) : wrap(bounded);
    const auto cast = [&](nb::handle to) {
        result = result.attr("astype")(to, nb::arg("casting") = casting);
    };
    if (!dtype.is_none()) cast(dtype);
    result = masked("clip", tensor_from(result), where, out);
    if (!out.is_none() && !casting.equal(nb::str("same_kind"))) cast(the_output(out).attr("dtype"));
    return write_out("clip", std::move(result), out, {.widens = true});
}

nb::object call_ufunc(const std::string& name, const std::vector<std::string>& rows, size_t inputs,
                      nb::tuple operands, const CallOptions& given, bool has_output) {
    check_layout(given.order, given.subok);
    const bool is_masked = !given.where.is(nb::bool_(true));
    const nb::list places = positional_outputs(name, operands, inputs, rows.size(), given.out);
    for (nb::handle place : places) has_output = has_output || !place.is_none();
    if (is_masked && !has_output) warn_of_gaps();
    nb::object whole =
        nb::steal(PyTuple_GetSlice(operands.ptr(), 0, static_cast<Py_ssize_t>(inputs)));
    if (!given.signature.is_none() || !given.sig.is_none())
        whole = provided("in_signature")(name, whole, given.signature, given.sig, given.dtype,
                                         given.casting);
    const std::vector<nb::object> outputs = outputs_of(name, places, rows.size(), given.out);
    user_check<NotSupported>(name != "frexp" || given.dtype.is_none(),
                             "frexp: dtype=", Shown{given.dtype},
                             " is not supported yet. Leave it out.");
    const std::string casting = casting_from(given.casting);
    std::optional<ir::DType> dtype;
    if (!given.dtype.is_none()) dtype = dtype_from(given.dtype);
    std::vector<numpy::Operand> list;
    for (nb::handle operand : whole) list.emplace_back(tensor_from(operand));
    // All are made before one is written: out may be an operand.
    std::vector<nb::object> results;
    for (size_t i = 0; i < rows.size(); ++i)
        results.push_back(
            masked(name, numpy::apply_by(rows[i], list, dtype, casting), given.where, outputs[i]));
    for (size_t i = 0; i < rows.size(); ++i)
        results[i] = write_out(name, results[i], outputs[i], {casting, true});
    if (rows.size() == 1) return results[0];
    return nb::make_tuple(results[0], results[1]);
}

}  // namespace

void bind_numpy_outputs(nb::module_& module) {
    using namespace nb::literals;
    const nb::call_guard<Located> located;
    module.def("the_output", &the_output, "out"_a.none());
    module.def(
        "write_out",
        [](const std::string& function, nb::object result, nb::handle out,
           const std::string& casting,
           bool widens) { return write_out(function, std::move(result), out, {casting, widens}); },
        "function"_a, "result"_a, "out"_a.none(), "casting"_a = "same_kind", "widens"_a = false,
        located, "The result, or `out` with the result written over it.");
    module.def(
        "call_ufunc",
        [](const std::string& name, const std::vector<std::string>& rows, size_t inputs,
           nb::tuple operands, nb::object out, bool has_output, nb::object where, nb::object dtype,
           nb::object casting, nb::object order, nb::object subok, nb::object signature,
           nb::object sig) {
            return call_ufunc(name, rows, inputs, operands,
                              {out, where, dtype, casting, order, subok, signature, sig},
                              has_output);
        },
        "name"_a, "rows"_a, "inputs"_a, "operands"_a, "out"_a.none(), "has_output"_a,
        "where"_a.none(), "dtype"_a.none(), "casting"_a.none(), "order"_a.none(), "subok"_a.none(),
        "signature"_a.none(), "sig"_a.none(), located,
        "A call of a ufunc: its rows over the operands, written where it says.");
    module.def("clip", clip, "a"_a, "a_min"_a.none(), "a_max"_a.none(), "out"_a.none(),
               "min"_a.none(), "max"_a.none(), "dtype"_a.none(), "casting"_a, "order"_a.none(),
               "options"_a, located);
    module.def("check_layout", check_layout, "order"_a.none(), "subok"_a.none() = true,
               "Refuses what is no order and no bool: both say nothing about tensors.");
    module.def(
        "joinable",
        [](const std::string& function, nb::object parts, nb::handle dtype, nb::handle casting) {
            return in_dtype(numpy::cast_parts, function, std::move(parts), dtype, casting);
        },
        "function"_a, "parts"_a.none(), "dtype"_a.none(), "casting"_a.none(), located,
        "The same of parts to be joined.");
    module.def("check_buffer", check_buffer, "result"_a, "out"_a.none());
    module.def("check_difference", &numpy::check_difference_cast, "dtype"_a, "target"_a);
}

void check_layout(nb::handle order, nb::handle subok) {
    if (!order.is_none()) {
        user_check<TypeError>(nb::isinstance<nb::str>(order), "order must be str, not ",
                              KindOf{order});
        numpy::check_order(nb::cast<std::string>(order));
    }
    user_check<TypeError>(PyBool_Check(subok.ptr()), "'subok' must be a boolean, not ",
                          KindOf{subok});
}

nb::list positional_outputs(const std::string& name, const nb::tuple& operands, size_t inputs,
                            size_t outputs, nb::handle out) {
    const size_t count = operands.size();
    user_check<TypeError>(
        count >= inputs && count <= inputs + outputs && (count == inputs || out.is_none()), name,
        "() takes from ", inputs, " to ", inputs + outputs, " positional arguments but ", count,
        count == 1 ? " was" : " were", " given");
    nb::list places;
    for (size_t i = inputs; i < count; ++i) places.append(operands[i]);
    return places;
}

nb::object operands_in(const std::string& function, nb::object operands, nb::handle dtype,
                       nb::handle casting) {
    return in_dtype(numpy::cast_inputs, function, std::move(operands), dtype, casting);
}

void check_buffer(const Tensor& result, nb::handle out) {
    if (!out.is_none() && has_attribute(out, "dtype"))
        numpy::check_buffer_cast(dtype_from(out.attr("dtype")), result.dtype());
}

nb::object the_output(nb::handle out) {
    if (!nb::isinstance<nb::tuple>(out)) return nb::borrow(out);
    user_check(nb::len(out) == 1, "The 'out' tuple must have exactly one entry per ufunc output");
    return out[0];
}

nb::object write_out(const std::string& function, nb::object result, nb::handle given,
                     const numpy::OutputRules& rules) {
    const nb::object out = the_output(given);
    if (out.is_none()) return result;
    const bool is_cell = is_tensor(out) && !is_scalar(out);
    user_check<TypeError>(is_cell || is_array(out), "return arrays must be of ArrayType");
    const Tensor made = tensor_from(result);
    if (is_cell) {
        const auto& cell = content_of<LazyTensor>(out);
        const ir::TensorType type = cell.type();
        cell.check_writeable();
        cell.replace(numpy::written_as(function, made, type.shape, type.dtype, rules));
        return out;
    }
    const ir::Shape shape = integers_from(out.attr("shape"));
    Tensor values = made;
    if (rules.widens && numpy::broadcasts_to(made.shape(), shape))
        values = numpy::broadcast_to(made, shape);
    if (!numpy::is_same_kind(rules.casting))
        values = numpy::cast_output(function, values, dtype_from(out.attr("dtype")), rules.casting);
    copy_into(function, out, values == made ? result : wrap(values));
    return out;
}

}  // namespace composit::python

// What PyTorch demands of the operands of composit.torch's functions, asked of Python's arguments.
#include "composit/aten/operand_rules.h"

#include "bindings.h"
#include "composit/base/error.h"
#include "composit/ir/dtype_traits.h"
#include "provided.h"
#include "torch_objects.h"

#include <nanobind/stl/string_view.h>

#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace composit::python {
namespace {

// Objects of Python that no class makes a tensor of.
bool is_plain(PyObject* value) {
    return value == Py_None || PyLong_CheckExact(value) || PyBool_Check(value) ||
           PyFloat_CheckExact(value) || PyComplex_CheckExact(value) ||
           PyUnicode_CheckExact(value) || PyList_CheckExact(value) || PyTuple_CheckExact(value) ||
           PyDict_CheckExact(value);
}

[[noreturn]] void refuse(std::string_view name, std::string_view operand, int place,
                         PyObject* value) {
    fail<TypeError>(name, "(): argument '", operand, "' (position ", place,
                    ") must be Tensor, not ", Py_TYPE(value)->tp_name);
}

void check_tensors(std::string_view name, const nb::tuple& arguments, bool is_method) {
    const auto count = arguments.size();
    if (count == 0) return;
    PyObject* const first = PyTuple_GET_ITEM(arguments.ptr(), 0);
    PyObject* const other = count > 1 ? PyTuple_GET_ITEM(arguments.ptr(), 1) : nullptr;
    const bool is_second_plain = other && is_plain(other);
    if (!is_plain(first) && !is_second_plain) return;  // nearly always
    const auto rule = aten::tensor_operands(
        name.ends_with("_") ? name.substr(0, name.size() - 1) : name, is_method);
    const bool is_number_refused =
        !rule.takes_number_first || (is_second_plain && !rule.takes_two_numbers);
    if (is_plain(first) && !rule.first.empty() && is_number_refused)
        refuse(name, rule.first, 1, first);
    if (is_second_plain && !rule.second.empty()) refuse(name, rule.second, 2, other);
}

// None of what is no tensor, or has no elements: PyTorch takes `torch.tensor([])` for any index.
std::optional<ir::DType> dtype_of_object(nb::handle value) {
    if (!value.is_valid() || !is_tensor_of_torch(value)) return std::nullopt;
    const ir::TensorType type = type_seen(value);
    if (ir::element_count(type.shape) == 0) return std::nullopt;
    return type.dtype;
}

// Whether PyTorch takes an operand as one number: what is no tensor, has no dimensions, or has one
// element of the first operand's dtype.
bool is_one_number(nb::handle value, std::optional<ir::DType> first) {
    if (!is_tensor_of_torch(value)) return true;
    const ir::TensorType type = type_seen(value);
    return type.shape.empty() || (type.dtype == first && ir::element_count(type.shape) == 1);
}

void check_operands(std::string_view name, const nb::tuple& arguments, const nb::dict& named,
                    bool is_method) {
    check_tensors(name, arguments, is_method);
    if (named.contains("out_dtype")) return;  // products that widen
    std::vector<std::optional<ir::DType>> all;
    for (const nb::handle value : arguments) all.push_back(dtype_of_object(value));
    const auto by_name = [&named](std::string_view operand) -> nb::handle {
        return named.size() ? PyDict_GetItemString(named.ptr(), operand.data()) : nullptr;
    };
    const auto dtype_of = [&](size_t place, std::string_view operand) {
        return place < all.size() ? all[place] : dtype_of_object(by_name(operand));
    };
    const nb::handle asked = by_name("dtype");
    const bool asks_for_dtype = (asked.is_valid() && !asked.is_none()) || arguments.size() > 2;
    aten::check_operand_dtypes(name, all, dtype_of, asks_for_dtype);
    // `2 * x` has the number first; PyTorch turns it round.
    const auto operand = [&](size_t place, std::string_view by) -> nb::handle {
        return place < arguments.size() ? nb::handle(arguments[place]) : by_name(by);
    };
    const nb::handle first = operand(0, "input"), second = operand(1, "other");
    const bool is_scaled =
        first.is_valid() && second.is_valid() &&
        (!is_tensor_of_torch(first) || is_one_number(second, dtype_of_object(first)));
    for (const auto& [key, value] : named)
        if (!key.equal(nb::str("out"))) all.push_back(dtype_of_object(value));
    aten::check_stored_floats(name, all, asks_for_dtype, is_scaled);
}

// A number of Python's that is too large for a double is too large for short floats.
void check_number_fits(nb::handle number, ir::DType dtype) {
    if (PyComplex_Check(number.ptr())) return;
    double value = PyFloat_AsDouble(number.ptr());
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) throw nb::python_error();
        PyErr_Clear();
        value = std::numeric_limits<double>::max();
    }
    aten::check_fits(value, dtype);
}

// `dtype` is one of torch's, or none.
void check_made(std::string_view function, nb::handle dtype) {
    if (!nb::isinstance(dtype, provided("torch_dtype"))) return;
    const auto made = nb::cast<ir::DType>(nb::object(dtype.attr("numpy")));
    aten::check_stored_floats(function, {made}, false, false);
}

}  // namespace

void bind_operand_rules(nb::module_& module) {
    module.def("check_fits", check_number_fits, nb::arg("number"), nb::arg("dtype"),
               "RuntimeError for a number that is too large for a dtype of short floats.");
    module.def("check_made", check_made, nb::arg("function"), nb::arg("dtype").none(),
               "NotImplementedError where PyTorch's function makes no tensors of that dtype.");
    module.def(
        "scalar_type_name",
        [](std::string_view dtype) { return ir::scalar_type_name(ir::dtype_from_name(dtype)); },
        nb::arg("dtype"), "PyTorch's name of a dtype in its errors: 'Float' of 'float32'.");
    module.def(
        "check_operands", check_operands, nb::arg("name"), nb::arg("arguments"), nb::arg("named"),
        nb::arg("is_method"),
        "Checks the operands of a function of composit.torch as PyTorch does before it computes. "
        "TypeError: a number, a text, a list or None stands where a tensor must. RuntimeError: "
        "dtypes differ where PyTorch promotes none. NotImplementedError: PyTorch has no kernel for "
        "their dtype.");
}

}  // namespace composit::python

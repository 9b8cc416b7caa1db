// The functions of composit.torch, as Python calls them: what is known at this point of the trace
// is recognised at once, all else goes to a function of Python's.
#include "anywhere.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/eager/operation_strides.h"
#include "content.h"
#include "following.h"
#include "function_object.h"
#include "torch_objects.h"

#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

// What sees calls first on this thread, or null: a function of the function that is called, its
// arguments and its named ones, which returns a result, or NotImplemented for what it leaves alone.
thread_local nb::object* before_calls = nullptr;

nb::object call_seen_first(PyObject* of, PyObject* const* values, size_t count, PyObject* names) {
    const auto named = static_cast<size_t>(names ? PyTuple_GET_SIZE(names) : 0);
    nb::object arguments = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (size_t i = 0; i < count; ++i)
        PyTuple_SET_ITEM(arguments.ptr(), static_cast<Py_ssize_t>(i), Py_NewRef(values[i]));
    nb::dict options;
    for (size_t i = 0; i < named; ++i)
        options[nb::handle(PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i)))] =
            nb::handle(values[count + i]);
    const nb::object first = *before_calls;  // it may be another within the call
    return first(nb::handle(of), arguments, options);
}

PyObject* call(PyObject* of, PyObject* const* values, size_t flagged, PyObject* names) {
    return guarded([&]() -> PyObject* {
        const FunctionObject* const self = as_function(of);
        const auto count = static_cast<size_t>(PyVectorcall_NARGS(flagged));
        nb::object made;
        if (before_calls) {
            made = call_seen_first(of, values, count, names);
            if (made.is(nb::borrow(Py_NotImplemented))) made.reset();
        } else if (self->is_reflected && count == 2 && !names) {
            PyObject* const turned[] = {values[1], values[0]};
            made = follow(self->function, turned, count, nullptr);
        } else {
            made = follow(self->function, values, count, names);
        }
        if (made.is_valid()) return made.release().ptr();
        PyObject* const result = PyObject_Vectorcall(self->otherwise, values, flagged, names);
        if (!result) throw nb::python_error();
        return result;
    });
}

PyObject* new_function(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject *function = nullptr, *otherwise = nullptr;
    int is_reflected = 0;
    if (!PyArg_ParseTuple(args, "OO|p", &function, &otherwise, &is_reflected)) return nullptr;
    PyObject* const self = new_function_object(type, call, function, otherwise);
    if (self) as_function(self)->is_reflected = is_reflected != 0;
    return self;
}

bool has_own_order(nb::handle value) {
    if (!is_tensor(value)) return false;
    const auto& held = content_of<LazyTensor>(value);
    const ir::Shape& shape = held.type().shape;
    return shape.size() > 1 && !eager::is_row_major(shape, held.cell()->strides());
}

// How the results of functions lie that are not laid out as elementwise ones: in row-major order,
// or with their axes as those of the first operand.
enum class Order : uint8_t { rows, first };
std::map<PyObject*, Order>& orders_of_results() {
    static std::map<PyObject*, Order> orders;  // the functions live for ever
    return orders;
}
void set_order_of_results(const nb::object& function, std::string_view order) {
    user_check(order == "rows" || order == "first", "set_order_of_results: the order is '", order,
               "'. 'rows' or 'first' is required.");
    orders_of_results()[function.inc_ref().ptr()] = order == "rows" ? Order::rows : Order::first;
}

// The result of an operation over those operands, in memory as PyTorch lays it out.
nb::object laid_out(const nb::object& function, nb::object result,
                    const std::vector<nb::handle>& operands) {
    if (!is_tensor(result)) return result;
    const auto& made = content_of<LazyTensor>(result);
    if (made.type().shape.size() < 2 || made.cell()->is_view()) return result;
    const auto known = orders_of_results().find(function.ptr());
    if (known != orders_of_results().end() && known->second == Order::rows)
        return wrap_cell(eager::Cell::make(made.tensor()));
    if (known != orders_of_results().end() && is_tensor(operands[0])) {
        const eager::Cell& first = *content_of<LazyTensor>(operands[0]).cell();
        if (first.type().shape == made.type().shape)
            return wrap_cell(eager::Cell::make_in_order_of(first, made.tensor()));
    }
    std::vector<eager::PlacedOperand> placed;
    for (const nb::handle operand : operands) {
        if (!is_tensor(operand)) continue;
        const eager::Cell& cell = *content_of<LazyTensor>(operand).cell();
        placed.push_back({cell.tensor(), cell.strides()});
    }
    auto strides = eager::operation_strides(made.tensor(), placed);
    if (!strides || *strides == made.cell()->strides()) return result;
    return wrap_cell(eager::Cell::make(made.tensor(), std::move(strides)));
}

nb::object called_in_operation(const nb::object& function, const nb::args& arguments,
                               const nb::kwargs& named) {
    const ArraysLieAnywhere anywhere;
    nb::object result = function(*arguments, **named);
    bool is_laid_out = std::any_of(arguments.begin(), arguments.end(), has_own_order);
    for (const auto& [name, value] : named) is_laid_out = is_laid_out || has_own_order(value);
    if (!is_laid_out) return result;  // nearly always
    std::vector<nb::handle> operands(arguments.begin(), arguments.end());
    for (const auto& [name, value] : named) operands.push_back(value);
    if (!nb::isinstance<nb::tuple>(result)) return laid_out(function, std::move(result), operands);
    nb::list parts;
    for (const nb::handle part : result)
        parts.append(laid_out(function, nb::borrow(part), operands));
    if (PyTuple_CheckExact(result.ptr())) return nb::tuple(parts);
    return result.attr("_make")(parts);
}

// A function's result for a tuple and a dictionary of arguments; NotImplemented where it is
// unknown.
nb::object follow_call(nb::handle function, const nb::tuple& arguments, const nb::dict& named) {
    std::vector<PyObject*> values(arguments.size() + named.size());
    const size_t count = arguments.size();
    for (size_t i = 0; i < count; ++i)
        values[i] = PyTuple_GET_ITEM(arguments.ptr(), static_cast<Py_ssize_t>(i));
    nb::object names;
    if (named.size() > 0) {
        names = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(named.size())));
        size_t i = 0;
        for (auto [name, value] : named) {
            PyTuple_SET_ITEM(names.ptr(), static_cast<Py_ssize_t>(i), name.inc_ref().ptr());
            values[count + i++] = value.ptr();
        }
    }
    nb::object made = follow(function, values.data(), count, names.ptr());
    return made.is_valid() ? made : nb::borrow(Py_NotImplemented);
}

}  // namespace

void bind_torch_functions(nb::module_& module) {
    module.attr("TorchFunction") = make_function_type("composit._core.TorchFunction", new_function);
    module.def(
        "see_calls_first",
        [](const nb::object& function) {
            delete before_calls;
            before_calls = function.is_none() ? nullptr : new nb::object(function);
        },
        nb::arg("function").none(),
        "Functions of composit.torch that this thread calls are given to `function` first, with a "
        "tuple and a dictionary of arguments: its result is theirs, unless it is NotImplemented. "
        "None: no more.");
    module.def(
        "called_in_operation", called_in_operation,
        "function(*args, **kwargs), an operation of PyTorch over tensors: arrays that become "
        "constants are its own and lie anywhere, and its result lies in memory as PyTorch's.");
    module.def("set_order_of_results", set_order_of_results, nb::arg("function"), nb::arg("order"),
               "How the results lie of a function that called_in_operation calls, where no "
               "elementwise operation makes them: 'rows', in row-major order, or 'first', with "
               "their axes as those of the first operand. ValueError: another order.");
    module.def("follow", follow_call, nb::arg("function"), nb::arg("arguments"), nb::arg("named"),
               "An operation's result where it is known at this point of the trace; else "
               "NotImplemented.");
}

}  // namespace composit::python

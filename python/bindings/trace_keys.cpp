// Keys of composit.torch's operations (composit/torch/steps.py): what an operation is told apart by
// from others at its point of a trace, and the tensors that become leaves of the trace for it.
#include "trace_keys.h"

#include "bindings.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/ir/body.h"
#include "content.h"
#include "flags.h"
#include "following.h"
#include "level.h"
#include "provided.h"
#include "tape.h"
#include "torch_objects.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

TraceObject* trace_of(nb::handle trace) { return reinterpret_cast<TraceObject*>(trace.ptr()); }

// -1 for what is no constant, or has an origin it is read from; -2 for a Python scalar.
int64_t code_of(const LazyTensor& tensor) {
    const ir::Tensor& held = tensor.tensor();
    if (held.type().weak) return -2;
    return ir::is_constant(held.node()) ? number_of_type(held.type(), held.node().device()) : -1;
}

// Elements between neighbours along each axis, where that is not row-major; else None.
nb::object strides_of(nb::handle lazy) {
    const LazyTensor& tensor = content_of<LazyTensor>(lazy);
    if (tensor.cell()->is_row_major()) return nb::none();
    nb::list strides;
    for (const int64_t stride : tensor.cell()->strides()) strides.append(stride);
    return nb::tuple(strides);
}

bool is_same_node(nb::handle one, nb::handle other) {
    return content_of<LazyTensor>(one).tensor() == content_of<LazyTensor>(other).tensor();
}

// What a tensor holds as a constant: computed from something else now, unless it is a view of
// values that are there.
nb::object constant_held(nb::handle tensor) {
    nb::object lazy = lazy_of(tensor);
    if (code_of(content_of<LazyTensor>(lazy)) != -1) return lazy;
    nb::object viewed = lazy.attr("viewed_constant")();
    return viewed.is_none() ? provided("leaf_value")(tensor) : viewed;
}

long long most_places() {
    static const auto most = nb::cast<long long>(provided("most_places"));
    return most;
}

// Adds an operand to the key, and as a place or itself to the operands; false where that is not
// possible.
bool encode_sequence(nb::handle trace, nb::handle value, nb::list& key, nb::list& operands) {
    const Level level(" in an argument");
    const bool is_list = PyList_CheckExact(value.ptr());
    const nb::handle kind(reinterpret_cast<PyObject*>(is_list ? &PyList_Type : &PyTuple_Type));
    key.append(nb::make_tuple(kind, nb::len(value)));
    nb::list made;
    for (nb::handle item : value)
        if (!encode(trace, item, key, made)) return false;
    operands.append(is_list ? nb::object(made) : nb::object(nb::tuple(made)));
    return true;
}

bool encode_slice(nb::handle trace, nb::handle value, nb::list& key, nb::list& operands) {
    key.append(nb::handle(reinterpret_cast<PyObject*>(&PySlice_Type)));
    nb::list made;
    for (const char* part : {"start", "stop", "step"}) {
        const nb::object item = value.attr(part);
        if (!item.is_none() && !PyLong_CheckExact(item.ptr())) return false;
        if (!encode(trace, item, key, made)) return false;
    }
    operands.append(value);
    return true;
}

bool encode_float(nb::handle value, nb::list& key, nb::list& operands) {
    const double number = PyFloat_AS_DOUBLE(value.ptr());
    key.append(nb::handle(reinterpret_cast<PyObject*>(&PyFloat_Type)));
    // Zeros of both signs are equal.
    key.append(number != 0 ? nb::borrow(value) : nb::steal(PyObject_Str(value.ptr())));
    operands.append(value);
    return !std::isnan(number);
}

// ----- how an operation is recognised again

// What an argument must be (bindings/following.cpp), where `known` tensors were in the trace before
// the call.
nb::object check_of(const TraceObject* trace, int64_t known, std::set<int64_t>& seen,
                    nb::handle value) {
    if (is_tensor_of_torch(value)) {
        const TensorObject* const tensor = as_tensor(value);
        const int64_t place = tensor->place;
        if (place < known || !seen.insert(place).second) return nb::make_tuple("place", place);
        const nb::object held = leaf_at(trace, place), lazy = lazy_of(value);
        int64_t code = -2;  // what is evaluated first is never recognised
        if (is_same_node(held, lazy))
            code = 8 * code_of(content_of<LazyTensor>(lazy)) + 2 * tensor->is_tainted + 4 +
                   is_recorded(tensor);
        return nb::make_tuple("leaf", place, code, strides_of(held));
    }
    if (PyFloat_CheckExact(value.ptr())) return nb::make_tuple("number", value);
    if (!PyList_CheckExact(value.ptr()) && !PyTuple_Check(value.ptr()))
        return nb::make_tuple("plain", value);
    const Level level(" in an argument");
    nb::list items;
    for (nb::handle item : value) items.append(check_of(trace, known, seen, item));
    return nb::make_tuple(PyList_CheckExact(value.ptr()) ? "list" : "tuple", items);
}

// ----- operands again

}  // namespace

// An operand with LazyTensors in the places' stead. A view shares its source's cell.
nb::object operand_of_trace(nb::handle trace, nb::handle value, nb::handle detached,
                            nb::handle lazies, bool is_view) {
    if (value.type().is(provided("trace_place"))) {
        const nb::object number = value.attr("number");
        nb::object lazy = lazies[number];
        if (is_view) {
            const nb::object tensor = result_at(trace, nb::cast<int64_t>(number));
            if (!tensor.is_none()) lazy = lazy_of(tensor);
        }
        const int is_detached = PySequence_Contains(detached.ptr(), number.ptr());
        if (is_detached < 0) throw nb::python_error();
        return is_detached ? nb::object(provided("stop_gradient")(lazy)) : lazy;
    }
    if (!PyList_CheckExact(value.ptr()) && !PyTuple_CheckExact(value.ptr()))
        return nb::borrow(value);
    const Level level(" in an argument");
    nb::list items;
    for (nb::handle item : value)
        items.append(operand_of_trace(trace, item, detached, lazies, is_view));
    return PyList_CheckExact(value.ptr()) ? nb::object(items) : nb::object(nb::tuple(items));
}

// Whether a result lies in memory of an operand, or is no whole.
bool shares_memory(nb::handle result, nb::handle operands) {
    if (!nb::cast<bool>(nb::object(result.attr("is_plain")))) return true;
    const auto is_same = [&](nb::handle x) { return is_tensor(x) && is_same_node(result, x); };
    for (nb::handle value : operands) {
        if (is_same(value)) return true;
        if (!PyList_CheckExact(value.ptr()) && !PyTuple_CheckExact(value.ptr())) continue;
        for (nb::handle item : value)
            if (is_same(item)) return true;
    }
    return false;
}

bool enter_leaf(nb::handle of, nb::handle value, nb::list& key) {
    TensorObject* const tensor = as_tensor(value);
    if (tensor->is_pending) return false;
    const bool is_leaf_recorded = is_recorded(tensor);
    const nb::object first = lazy_of(value);
    if (is_leaf_recorded && (code_of(content_of<LazyTensor>(first)) < 0 || !tensor->is_leaf))
        return false;
    const nb::object lazy = constant_held(value);
    const int64_t code = code_of(content_of<LazyTensor>(lazy));
    TraceObject* const trace = trace_of(of);  // computing may have ended it
    if (code < 0 || !trace->is_open) return false;
    const Py_ssize_t number = PyList_GET_SIZE(trace->tensors);
    if (number >= most_places()) return false;
    tensor->mark = trace->mark;
    tensor->place = number;
    append(trace->tensors, value);
    if (trace->is_built) append(trace->lazies, nb::object(lazy.attr("copied_in_order")()));
    append(trace->records, is_leaf_recorded ? nb::borrow(value) : nb::none());
    if (is_leaf_recorded) leaf_of(value).readings().note(content_of<LazyTensor>(lazy).tensor());
    append(trace->bound, lazy);
    append(trace->bound_places, nb::int_(number));
    // Whether it is a view does not matter: views of it are made of itself.
    const int64_t flags = is_leaf_recorded + 2 * tensor->is_tainted + 4 * lazy_of(value).is(lazy);
    key.append(8 * code + flags);
    if (const nb::object strides = strides_of(lazy); !strides.is_none()) key.append(strides);
    return true;
}

bool encode(nb::handle trace, nb::handle value, nb::list& key, nb::list& operands) {
    PyTypeObject* const kind = Py_TYPE(value.ptr());
    if (kind == &PyLong_Type || kind == &PyBool_Type || kind == &PyUnicode_Type ||
        value.is_none() || value.ptr() == Py_Ellipsis) {
        key.append(nb::handle(reinterpret_cast<PyObject*>(kind)));
        key.append(value);
        operands.append(value);
        return true;
    }
    if (is_tensor_of_torch(value)) {
        if (as_tensor(value)->mark != trace_of(trace)->mark && !enter_leaf(trace, value, key))
            return false;
        const nb::object stands = provided("place_of_number")(as_tensor(value)->place);
        key.append(stands);
        operands.append(stands);
        return true;
    }
    if (kind == &PyFloat_Type) return encode_float(value, key, operands);
    if (kind == &PyList_Type || PyTuple_Check(value.ptr()))
        return encode_sequence(trace, value, key, operands);
    if (kind == &PySlice_Type) return encode_slice(trace, value, key, operands);
    if (!value.type().is(provided("torch_dtype"))) return false;
    key.append(value);
    operands.append(nb::object(value.attr("numpy")));
    return true;
}

nb::object leaf_at(const TraceObject* trace, int64_t place) {
    PyObject* const places = trace->bound_places;
    Py_ssize_t low = 0, high = PyList_GET_SIZE(places);
    while (low < high) {
        const Py_ssize_t middle = (low + high) / 2;
        if (PyLong_AsLongLong(PyList_GET_ITEM(places, middle)) < place)
            low = middle + 1;
        else
            high = middle;
    }
    user_check<IndexError>(low < PyList_GET_SIZE(trace->bound), "no leaf is at place ", place);
    return nb::borrow(PyList_GET_ITEM(trace->bound, low));
}

std::pair<nb::tuple, nb::dict> checks_of(nb::handle trace, int64_t known, nb::handle args,
                                         nb::handle named) {
    std::set<int64_t> seen;
    nb::list checks;
    for (nb::handle value : args) checks.append(check_of(trace_of(trace), known, seen, value));
    nb::dict of_names;
    if (!named.is_none())
        for (auto [name, value] : nb::borrow<nb::dict>(named))
            of_names[name] = check_of(trace_of(trace), known, seen, value);
    return {nb::tuple(checks), of_names};
}

void bind_trace_keys(nb::module_& module) {
    module.def(
        "encode",
        [](nb::handle trace, nb::handle value, nb::list key, nb::list operands) {
            return encode(trace, value, key, operands);
        },
        nb::arg("trace"), nb::arg("value").none(), nb::arg("key"), nb::arg("operands"),
        "Adds an operand to the key, and as a place or itself to the operands; False where that is "
        "not possible.");
    module.def(
        "leaf_at", [](nb::handle trace, int64_t place) { return leaf_at(trace_of(trace), place); },
        nb::arg("trace"), nb::arg("place"), "What the leaf at a place holds.");
    module.def("strides_of", strides_of, nb::arg("lazy"),
               "Elements between neighbours along each axis, where that is not row-major.");
    module.def("checks_of", checks_of, nb::arg("trace"), nb::arg("known"), nb::arg("args"),
               nb::arg("named"),
               "What the core recognises a call by, where so many tensors were in the trace.");
    module.def("results_of", results_of_state, nb::arg("trace"), nb::arg("state"), nb::arg("first"),
               nb::arg("source").none(),
               "The results, without nodes, of the operation that led to a state; of a view its "
               "source is given.");
}

}  // namespace composit::python

// What users of composit.torch give: data of new tensors, indices, arguments of captured functions.
#include "arrays.h"
#include "cell.h"
#include "composit/base/error.h"
#include "content.h"
#include "level.h"
#include "provided.h"
#include "shown.h"
#include "tape.h"
#include "torch_objects.h"
#include "trace_keys.h"
#include "values.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

constexpr int most_dimensions = 128;  // PyTorch's

bool is_exact_number(nb::handle value) {
    PyObject* const object = value.ptr();
    return PyBool_Check(object) || PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
           PyComplex_CheckExact(object);
}

// Whether a list or tuple holds numbers alone, whose classes are added then.
bool holds_exact_numbers(nb::handle data, nb::set& given) {
    PyObject** const items = PySequence_Fast_ITEMS(data.ptr());
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(data.ptr());
    std::vector<PyTypeObject*> kinds;
    for (Py_ssize_t i = 0; i < count; ++i) {
        if (!kinds.empty() && Py_TYPE(items[i]) == kinds.back()) continue;
        if (!is_exact_number(items[i])) return false;
        kinds.push_back(Py_TYPE(items[i]));
    }
    std::sort(kinds.begin(), kinds.end());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    for (PyTypeObject* const kind : kinds) given.add(nb::handle(reinterpret_cast<PyObject*>(kind)));
    return true;
}

// The number of a tensor of one element; its dtype is added.
nb::object number_of_tensor(nb::handle tensor, nb::set& given, bool of_integers) {
    user_check<ValueError>(ir::element_count(type_seen(tensor).shape) == 1,
                           "only one element tensors can be converted to Python scalars");
    const nb::object values = provided("torch_values")(tensor);
    const nb::object dtype = values.attr("dtype");
    const auto kind = nb::cast<std::string>(nb::object(dtype.attr("kind")));
    user_check<TypeError>(!of_integers || kind == "b" || kind == "i" || kind == "u",
                          "only integer tensors of a single element can be converted to an index");
    given.add(dtype);
    return values.attr("item")();
}

// Nested lists with numbers in place of tensors. Adds to `given` the dtypes of tensors and arrays,
// and the classes of Python's numbers. ValueError for lists within more lists than there are
// dimensions, as those that hold themselves.
nb::object plain_data(nb::handle data, nb::set& given, bool of_integers, int depth) {
    if (PyList_Check(data.ptr()) || PyTuple_Check(data.ptr())) {
        user_check<ValueError>(depth < most_dimensions, "too many dimensions '", KindOf{data}, "'");
        if (holds_exact_numbers(data, given))
            return PyList_CheckExact(data.ptr()) ? nb::borrow(data)
                                                 : nb::object(nb::list(nb::borrow(data)));
        nb::list made;
        for (nb::handle item : data) made.append(plain_data(item, given, of_integers, depth + 1));
        return made;
    }
    if (is_tensor_of_torch(data)) return number_of_tensor(data, given, of_integers);
    if (is_tensor(data) || nb::isinstance(data, numpy_attribute("ndarray")) ||
        nb::isinstance(data, numpy_attribute("generic"))) {
        given.add(nb::object(data.attr("dtype")));
        return nb::borrow(data);
    }
    for (PyTypeObject* const type : {&PyBool_Type, &PyLong_Type, &PyFloat_Type, &PyComplex_Type})
        if (PyObject_TypeCheck(data.ptr(), type))
            given.add(nb::handle(reinterpret_cast<PyObject*>(type)));
    return nb::borrow(data);
}

// What PyTorch says of lists whose lengths differ; nothing where it is not that.
std::string uneven_lists(nb::handle data, int64_t dim) {
    if (!PyList_Check(data.ptr()) || nb::len(data) == 0) return {};
    const nb::list items = nb::borrow<nb::list>(data);
    if (!PyList_Check(nb::object(items[0]).ptr())) return {};
    const size_t length = nb::len(nb::object(items[0]));
    for (nb::handle item : items)
        if (PyList_Check(item.ptr()) && nb::len(item) != length)
            return composit::text("expected sequence of length ", length, " at dim ", dim + 1,
                                  " (got ", nb::len(item), ")");
    for (nb::handle item : items)
        if (std::string found = uneven_lists(item, dim + 1); !found.empty()) return found;
    return {};
}

// (the array of a number or of nested lists, the dtypes and classes of what is in them).
nb::tuple array_of_data(nb::handle data, bool of_integers) {
    nb::set given;
    const nb::object plain = plain_data(data, given, of_integers, 0);
    nb::object array;
    try {
        array = numpy_attribute("asarray")(plain);
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_ValueError)) throw;
        const std::string uneven = uneven_lists(plain, 0);
        throw ValueError(uneven.empty() ? composit::text("tensor: ", Said{error.value()}) : uneven);
    }
    const auto kind = nb::cast<std::string>(nb::object(array.attr("dtype").attr("kind")));
    user_check<TypeError>(kind != "O" && kind != "S" && kind != "U", "tensor: ", Shown{plain},
                          " holds what is no number. Numbers are required.");
    return nb::make_tuple(array, given);
}

// ----- indices

nb::list parts_of_index(nb::handle index) {
    nb::list parts;
    if (PyTuple_Check(index.ptr()))
        for (nb::handle part : index) parts.append(part);
    else
        parts.append(index);
    return parts;
}

bool is_basic_part(nb::handle part) {
    if (part.is_none() || part.is(nb::handle(Py_Ellipsis)) || PySlice_Check(part.ptr()))
        return true;
    if (PyBool_Check(part.ptr())) return false;
    return PyLong_Check(part.ptr()) || nb::isinstance(part, numpy_attribute("integer"));
}

// Tensors without dimensions as integers, so that they index as integers do; those that a trace has
// no values of index as they are.
nb::object as_places(nb::handle index) {
    if (PyTuple_Check(index.ptr())) {
        const Level level(" in an index");
        nb::list parts;
        for (nb::handle part : index) parts.append(as_places(part));
        return nb::tuple(parts);
    }
    if (is_tensor_of_torch(index)) {
        const ir::TensorType type = type_seen(index);
        const bool is_mask = type.dtype == ir::DType::boolean || type.dtype == ir::DType::uint8;
        if (!type.shape.empty() || is_mask) return nb::borrow(index);
        const bool is_traced =
            as_tensor(index)->lazy && !nb::cast<bool>(lazy_of(index).attr("has_value")());
        return is_traced ? nb::borrow(index) : nb::object(index.attr("item")());
    }
    if (nb::isinstance(index, numpy_attribute("ndarray")))
        return provided("torch_from_numpy")(index);
    return nb::borrow(index);
}

}  // namespace

// A list with sequences, tensors, slices, None or an ellipsis in it is a tuple of indices, as
// PyTorch reads it; an ellipsis behind another one with nothing behind it says nothing.
nb::object parted_index(nb::handle index) {
    constexpr size_t longest = 32;  // PyTorch's: of more there are no dimensions
    const auto is_part = [](nb::handle item) {
        return item.is_none() || item.is(nb::handle(Py_Ellipsis)) || PySlice_Check(item.ptr()) ||
               is_tensor_of_torch(item) ||
               (PySequence_Check(item.ptr()) && !PyUnicode_Check(item.ptr()));
    };
    nb::object parts = nb::borrow(index);
    if (PyList_Check(index.ptr()) && nb::len(index) < longest) {
        const nb::list items = nb::borrow<nb::list>(index);
        if (std::any_of(items.begin(), items.end(), is_part)) parts = nb::tuple(items);
    }
    if (!PyTuple_Check(parts.ptr())) return parts;
    const nb::list kept(parts);
    const auto is_ellipsis = [&](size_t i) { return kept[i].is(nb::handle(Py_Ellipsis)); };
    size_t count = nb::len(kept), others = 0;
    for (size_t i = 0; i < count; ++i) others += is_ellipsis(i);
    for (; others > 1 && is_ellipsis(count - 1); --others) --count;
    if (count == nb::len(kept)) return parts;
    while (nb::len(kept) > count) nb::del(kept[nb::len(kept) - 1]);
    return nb::tuple(kept);
}

// (the index, with integers and tensors in place of others; whether it consists of integers,
// slices, None and an ellipsis alone). ValueError for slices that go backwards.
nb::tuple read_index(nb::handle given) {
    const nb::object index = parted_index(given);
    bool is_basic = true;
    for (nb::handle part : parts_of_index(index)) {
        is_basic = is_basic && is_basic_part(part);
        if (!PySlice_Check(part.ptr())) continue;
        const nb::object step = part.attr("step");
        user_check<ValueError>(
            !PyLong_Check(step.ptr()) ||
                PyObject_RichCompareBool(step.ptr(), nb::int_(0).ptr(), Py_GT) == 1,
            "step must be greater than zero");
    }
    return nb::make_tuple(is_basic ? index : as_places(index), is_basic);
}

namespace {

// ----- arguments of captured functions

bool is_plain_value(nb::handle value) {
    PyObject* const object = value.ptr();
    return value.is_none() || PyLong_Check(object) || PyFloat_Check(object) ||
           PyComplex_Check(object) || PyUnicode_Check(object) || PyBytes_Check(object) ||
           value.is(nb::handle(Py_Ellipsis)) || PySlice_Check(object) ||
           nb::isinstance(value, provided("torch_dtype"));
}

// What of an argument decides over the graph; its tensors are added. `unknown` is the class of
// errors for others.
nb::object kind_of_argument(nb::handle value, nb::list& tensors, nb::handle unknown) {
    if (is_tensor_of_torch(value)) {
        tensors.append(value);
        const TensorObject* const tensor = as_tensor(value);
        const ir::TensorType type = type_seen(value);
        return nb::make_tuple(
            value.type(), dtype_object(type.dtype), tuple_from(type.shape),
            nb::make_tuple(is_recorded(tensor), bool(tensor->is_leaf), bool(tensor->is_tainted)),
            provided("torch_place_of")(value));
    }
    if (is_plain_value(value)) {
        const bool by_text = PyFloat_Check(value.ptr()) || PyComplex_Check(value.ptr()) ||
                             PySlice_Check(value.ptr());
        return nb::make_tuple(value.type(),
                              by_text ? nb::object(nb::repr(value)) : nb::borrow(value));
    }
    const Level level(" in an argument");
    nb::list made;
    made.append(value.type());
    if (PyList_CheckExact(value.ptr()) || PyTuple_CheckExact(value.ptr()) ||
        value.type().is(provided("torch_size"))) {
        for (nb::handle item : value) made.append(kind_of_argument(item, tensors, unknown));
        return nb::tuple(made);
    }
    if (PyDict_CheckExact(value.ptr())) {
        for (const auto& [key, item] : nb::borrow<nb::dict>(value))
            made.append(nb::make_tuple(key, kind_of_argument(item, tensors, unknown)));
        return nb::tuple(made);
    }
    PyErr_SetString(unknown.ptr(), composit::text("an argument is a ", KindOf{value}).c_str());
    throw nb::python_error();
}

// ----- results of captured functions

// What the result of a captured function is made of: ("result", i), ("argument", i), ("other",
// value), ("several", class, parts), ("named", pairs). The symbols of its tensors are added to
// `outputs`, and to `detached` whether they have no gradient.
class ResultReader {
  public:
    ResultReader(nb::object trace, const nb::list& given, nb::object symbols, nb::handle unknown)
        : trace_(std::move(trace)), symbols_(std::move(symbols)), unknown_(unknown) {
        for (size_t i = 0; i < given.size(); ++i) places_.emplace(nb::object(given[i]).ptr(), i);
    }

    nb::object read(nb::handle value) {
        if (is_tensor_of_torch(value)) return tensor(value);
        if (is_plain_value(value)) return nb::make_tuple("other", value);
        const Level level(" in a result");
        if (PyDict_CheckExact(value.ptr())) {
            nb::list pairs;
            for (const auto& [key, item] : nb::borrow<nb::dict>(value))
                pairs.append(nb::make_tuple(key, read(item)));
            return nb::make_tuple("named", pairs);
        }
        const bool has_parts = PyList_CheckExact(value.ptr()) || PyTuple_CheckExact(value.ptr()) ||
                               value.type().is(provided("torch_size")) ||
                               has_attribute(value, "_fields");
        if (!has_parts) refuse(composit::text("a result is a ", KindOf{value}));
        nb::list parts;
        for (nb::handle item : value) parts.append(read(item));
        return nb::make_tuple("several", value.type(), parts);
    }

    const nb::list& outputs() const { return outputs_; }
    const nb::list& detached() const { return detached_; }

  private:
    [[noreturn]] void refuse(const std::string& why) const {
        PyErr_SetString(unknown_.ptr(), why.c_str());
        throw nb::python_error();
    }

    nb::object tensor(nb::handle value) {
        const auto argument = places_.find(value.ptr());
        if (argument != places_.end()) return nb::make_tuple("argument", argument->second);
        const auto* const trace = reinterpret_cast<TraceObject*>(trace_.ptr());
        const TensorObject* const held = as_tensor(value);
        if (held->mark != trace->mark) refuse("a result is made outside");
        if (held->is_leaf || !result_at(trace_, held->place).is(value))
            return nb::make_tuple("other", value);
        if (is_there(held->root) &&
            PySequence_Contains(trace->bound_places,
                                nb::int_(as_tensor(held->root)->place).ptr()) == 1)
            refuse("a result is a view of what is given");
        outputs_.append(symbols_[nb::int_(held->place)]);
        detached_.append(!is_recorded(held));
        return nb::make_tuple("result", outputs_.size() - 1);
    }

    const nb::object trace_, symbols_;
    const nb::handle unknown_;
    std::unordered_map<PyObject*, size_t> places_;
    nb::list outputs_, detached_;
};

nb::tuple parts_of_result(nb::handle value, nb::object trace, const nb::list& given,
                          nb::object symbols, nb::handle unknown) {
    ResultReader reader(std::move(trace), given, std::move(symbols), unknown);
    const nb::object parts = reader.read(value);
    return nb::make_tuple(parts, reader.outputs(), reader.detached());
}

// The result that is made of these parts, of other tensors and arguments.
nb::object result_of_parts(nb::handle parts, const nb::list& results, const nb::list& given) {
    const auto what = nb::cast<std::string>(nb::object(parts[0]));
    const nb::object held = parts[1];
    if (what == "other") return held;
    if (what == "result") return results[nb::cast<size_t>(held)];
    if (what == "argument") return given[nb::cast<size_t>(held)];
    if (what == "named") {
        nb::dict made;
        for (nb::handle pair : held)
            made[nb::object(pair[0])] = result_of_parts(nb::object(pair[1]), results, given);
        return made;
    }
    nb::list items;
    for (nb::handle item : nb::object(parts[2]))
        items.append(result_of_parts(item, results, given));
    return has_attribute(held, "_fields") ? held(*items) : held(items);
}

}  // namespace

void bind_torch_data(nb::module_& module) {
    module.def("array_of_data", array_of_data, nb::arg("data").none(), nb::arg("of_integers"),
               "(the array of a number or of nested lists, the dtypes and classes of what is in "
               "them). Tensors of one element count as numbers.");
    module.def("read_index", read_index, nb::arg("index").none(),
               "(the index, with integers and tensors in place of others; whether it consists of "
               "integers, slices, None and an ellipsis alone).");
    module.def("parts_of_result", parts_of_result, nb::arg("value").none(), nb::arg("trace"),
               nb::arg("given"), nb::arg("symbols"), nb::arg("unknown"),
               "(what the result of a captured function is made of, the symbols of its tensors, "
               "whether each has no gradient).");
    module.def("result_of_parts", result_of_parts, nb::arg("parts"), nb::arg("results"),
               nb::arg("given"), "The result of these parts, of other tensors and arguments.");
    module.def("kind_of_argument", kind_of_argument, nb::arg("value").none(), nb::arg("tensors"),
               nb::arg("unknown"),
               "What of an argument of a captured function decides over the graph; its tensors are "
               "added. An error of the class `unknown` where a graph cannot have it.");
}

}  // namespace composit::python

// Attributes of composit.torch's modules: parameters, buffers, modules, and what is found in a tree
// of them.
#include "arguments.h"
#include "composit/base/error.h"
#include "composit/eager/recording.h"
#include "flags.h"
#include "location.h"
#include "modules.h"
#include "provided.h"
#include "shown.h"
#include "torch_objects.h"
#include "values.h"

#include <nanobind/stl/string.h>

#include <array>
#include <sstream>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

constexpr std::array<const char*, 3> groups = {"_parameters", "_buffers", "_modules"};

PyObject* group_name(size_t group) {
    static const std::array<PyObject*, 3> names = {PyUnicode_InternFromString(groups[0]),
                                                   PyUnicode_InternFromString(groups[1]),
                                                   PyUnicode_InternFromString(groups[2])};
    return names[group];
}

enum Group : size_t { parameters, buffers, modules };

// The attributes that Python keeps of an object.
nb::object own_attributes(nb::handle module) {
    nb::object own = nb::steal(PyObject_GenericGetDict(module.ptr(), nullptr));
    if (!own.is_valid()) throw nb::python_error();
    return own;
}

// A group of the module's; null before Module.__init__ ran.
PyObject* group_of(nb::handle own, Group group) {
    return PyDict_GetItemWithError(own.ptr(), group_name(group));
}

bool has_item(PyObject* dictionary, nb::handle name) {
    if (!dictionary) return false;
    const int found = PyDict_Contains(dictionary, name.ptr());
    if (found < 0) throw nb::python_error();
    return found == 1;
}

void set_in(PyObject* dictionary, nb::handle name, nb::handle value) {
    if (PyObject_SetItem(dictionary, name.ptr(), value.ptr()) < 0) throw nb::python_error();
}

void take_out(nb::handle dictionary, nb::handle name) {
    if (has_item(dictionary.ptr(), name) && PyDict_DelItem(dictionary.ptr(), name.ptr()) < 0)
        throw nb::python_error();
}

void forget_persistence(nb::handle own, nb::handle name) {
    PyObject* const names = PyDict_GetItemString(own.ptr(), "_non_persistent_buffers_set");
    if (names && PySet_Discard(names, name.ptr()) < 0) throw nb::python_error();
}

bool is_of_class(nb::handle value, const char* provided_class) {
    const nb::object of = provided(provided_class);
    return PyObject_TypeCheck(value.ptr(), reinterpret_cast<PyTypeObject*>(of.ptr()));
}

bool is_parameter(nb::handle value) {
    return is_tensor_of_torch(value) && is_of_class(value, "torch_parameter");
}
bool is_buffer(nb::handle value) {
    return is_tensor_of_torch(value) && is_of_class(value, "torch_buffer");
}
// Classes of Python's own and tensors are quickly told to be none.
bool may_be_module(nb::handle value) {
    return (Py_TYPE(value.ptr())->tp_flags & Py_TPFLAGS_HEAPTYPE) && !is_tensor_of_torch(value);
}
bool is_module(nb::handle value) {
    return may_be_module(value) && is_of_class(value, "torch_module");
}

// The value, or the module of composit.torch that a module of PyTorch offers in its place.
nb::object as_module(nb::handle value) {
    if (!may_be_module(value) || is_of_class(value, "torch_module")) return nb::borrow(value);
    static PyObject* const name = PyUnicode_InternFromString("composit_module");
    nb::object offered =
        nb::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(Py_TYPE(value.ptr())), name));
    if (offered.is_valid()) return offered(value);
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw nb::python_error();
    PyErr_Clear();
    return nb::borrow(value);
}

// The name of a value's type, or of a type, with its module, as PyTorch's messages have it.
std::string named_type(nb::handle value) {
    if (is_tensor_of_torch(value)) return nb::cast<std::string>(nb::object(value.attr("type")()));
    const nb::handle kind = PyType_Check(value.ptr()) ? value : nb::handle(value.type());
    const auto place = nb::cast<std::string>(nb::object(kind.attr("__module__")));
    const auto name = nb::cast<std::string>(nb::object(kind.attr("__qualname__")));
    return place == "builtins" ? name : place + "." + name;
}

[[noreturn]] void refuse_unprepared(const char* what) {
    const std::string text =
        std::string("cannot assign ") + what + " before Module.__init__() call";
    PyErr_SetString(PyExc_AttributeError, with_location(text).c_str());
    throw nb::python_error();
}

// For a value that cannot take the place of a parameter, module or buffer.
void check_kind(nb::handle name, nb::handle value, const char* what, const char* wanted,
                bool fits) {
    user_check<TypeError>(fits, "cannot assign ", Shown{nb::str(named_type(value).c_str())}, " as ",
                          what, " ", Shown{name}, " (", wanted, " expected)");
}

// As Python shows a key.
[[noreturn]] void refuse_name(const std::string& text) {
    PyErr_SetObject(PyExc_KeyError, nb::str(text.c_str()).ptr());
    throw nb::python_error();
}

// For a name that what is registered cannot have.
void check_name(nb::handle module, nb::handle name, const std::string& what, nb::handle group) {
    user_check<TypeError>(PyUnicode_Check(name.ptr()), what, " name should be a string. Got ",
                          PyUnicode_Check(name.ptr()) ? std::string() : named_type(name));
    const auto text = nb::cast<std::string>(name);
    if (!has_item(group.ptr(), name) && has_attribute(module, text.c_str()))
        refuse_name("attribute '" + text + "' already exists");
    if (text.find('.') != text.npos)
        refuse_name(what + " name can't contain \".\"" +
                    (what == "module" ? ", got: " + text : std::string()));
    if (text.empty()) refuse_name(what + " name can't be empty string \"\"");
}

// Makes a name free for a group: takes it out of all others. In the group itself it keeps its
// place.
void make_free(nb::handle own, nb::handle name, Group kept) {
    for (const Group group : {parameters, buffers, modules})
        if (group != kept)
            if (PyObject* const held = group_of(own, group)) take_out(held, name);
    take_out(own, name);
    if (kept != buffers) forget_persistence(own, name);
}

void set_attribute(nb::handle self, nb::handle name, nb::handle given) {
    const nb::object own = own_attributes(self);
    const nb::object value = as_module(given);
    const nb::object text = nb::borrow(name);
    if (is_parameter(value)) {
        if (!group_of(own, parameters)) refuse_unprepared("parameters");
        make_free(own, text, parameters);
        self.attr("register_parameter")(text, value);
    } else if (has_item(group_of(own, parameters), text)) {
        check_kind(name, value, "parameter", "torch.nn.Parameter or None", value.is_none());
        set_in(group_of(own, parameters), text, value);
    } else if (is_module(value)) {
        if (!group_of(own, modules)) refuse_unprepared("module");
        make_free(own, text, modules);
        set_in(group_of(own, modules), text, value);
    } else if (has_item(group_of(own, modules), text)) {
        check_kind(name, value, "child module", "torch.nn.Module or None", value.is_none());
        set_in(group_of(own, modules), text, value);
    } else if (is_buffer(value)) {
        if (!group_of(own, buffers)) refuse_unprepared("buffer");
        make_free(own, text, buffers);
        self.attr("register_buffer")(text, value, nb::object(value.attr("persistent")));
    } else if (has_item(group_of(own, buffers), text)) {
        check_kind(name, value, "buffer", "torch.nn.Buffer, torch.Tensor or None",
                   value.is_none() || is_tensor_of_torch(value));
        set_in(group_of(own, buffers), text, value);
    } else if (PyObject_GenericSetAttr(self.ptr(), text.ptr(), value.ptr()) < 0) {
        throw nb::python_error();
    }
}

nb::object attribute_in_groups(nb::handle self, nb::handle name) {
    const nb::object own = own_attributes(self);
    for (const Group group : {parameters, buffers, modules})
        if (PyObject* const held = group_of(own, group))
            if (PyObject* const found = PyDict_GetItemWithError(held, name.ptr()))
                return nb::borrow(found);
    PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute %R",
                 nb::str(nb::object(self.type().attr("__name__"))).c_str(), name.ptr());
    throw nb::python_error();
}

void delete_attribute(nb::handle self, nb::handle name) {
    const nb::object own = own_attributes(self);
    for (const Group group : {parameters, buffers, modules}) {
        PyObject* const held = group_of(own, group);
        if (!has_item(held, name)) continue;
        take_out(held, name);
        forget_persistence(own, name);
        return;
    }
    if (PyObject_GenericSetAttr(self.ptr(), name.ptr(), nullptr) < 0) throw nb::python_error();
}

void register_parameter(nb::handle self, nb::handle name, nb::handle value) {
    const nb::object own = own_attributes(self);
    PyObject* const held = group_of(own, parameters);
    if (!held) refuse_unprepared("parameter");
    check_name(self, name, "parameter", held);
    if (!value.is_none()) {
        const bool fits = is_parameter(value);
        user_check<TypeError>(fits, "cannot assign '", fits ? std::string() : named_type(value),
                              "' object to parameter '", Said{name},
                              "' (torch.nn.Parameter or None required)");
        user_check(truth_of(value.attr("is_leaf")), "Cannot assign non-leaf Tensor to parameter '",
                   Said{name}, "'. Model parameters must be created explicitly. To express '",
                   Said{name},
                   "' as a function of another Tensor, compute the value in the forward() method.");
    }
    set_in(held, name, value);
}

void register_buffer(nb::handle self, nb::handle name, nb::handle value, bool is_persistent) {
    const nb::object own = own_attributes(self);
    PyObject* const held = group_of(own, buffers);
    if (!held) refuse_unprepared("buffer");
    check_name(self, name, "buffer", held);
    const bool fits = value.is_none() || is_tensor_of_torch(value);
    user_check<TypeError>(fits, "cannot assign '", fits ? std::string() : named_type(value),
                          "' object to buffer '", Said{name}, "' (torch Tensor or None required)");
    set_in(held, name, value);
    if (is_persistent)
        forget_persistence(own, name);
    else
        self.attr("_non_persistent_buffers_set").attr("add")(name);
}

void register_module(nb::handle self, nb::handle name, nb::handle given) {
    const nb::object value = as_module(given);
    const bool fits = value.is_none() || is_module(value);
    user_check<TypeError>(fits, fits ? std::string() : named_type(value),
                          " is not a Module subclass");
    const nb::dict held = group_in(self, "_modules");
    check_name(self, name, "module", held);
    set_in(held.ptr(), name, value);
}

// ----- what is in a tree

nb::str joined_path(nb::handle prefix, nb::handle name) {
    if (PyUnicode_GetLength(prefix.ptr()) == 0) return nb::str(name);
    return nb::steal<nb::str>(PyUnicode_FromFormat("%U.%S", prefix.ptr(), name.ptr()));
}

// Whether a class says itself what is in its modules.
bool names_modules_itself(nb::handle module) {
    static PyObject* const name = PyUnicode_InternFromString("named_modules");
    const nb::object own = nb::steal(PyObject_GetAttr(module.type().ptr(), name));
    const nb::object usual = nb::steal(PyObject_GetAttr(provided("torch_module").ptr(), name));
    if (!own.is_valid() || !usual.is_valid()) throw nb::python_error();
    return !own.is(usual);
}

void collect_modules(nb::handle self, nb::object memo, nb::handle prefix, bool once,
                     nb::list& found) {
    const nb::object number = nb::steal(PyLong_FromVoidPtr(self.ptr()));
    const int is_known = PySequence_Contains(memo.ptr(), number.ptr());
    if (is_known < 0) throw nb::python_error();
    if (is_known) return;
    if (once && PySet_Check(memo.ptr())) {
        if (PySet_Add(memo.ptr(), number.ptr()) < 0) throw nb::python_error();
    } else if (once) {
        memo.attr("add")(number);
    }
    found.append(nb::make_tuple(prefix, self));
    for (const auto& [name, child] : items_now(group_in(self, "_modules"))) {
        if (child.is_none()) continue;
        const nb::str path = joined_path(prefix, name);
        if (is_module(child) && !names_modules_itself(child)) {
            collect_modules(child, memo, path, once, found);
            continue;
        }
        for (nb::handle each : nb::object(child.attr("named_modules")(memo, path, once)))
            found.append(each);
    }
}

nb::list named_modules(nb::handle self, nb::handle memo, nb::handle prefix, bool once) {
    nb::list found;
    collect_modules(self, memo.is_none() ? nb::object(nb::set()) : nb::borrow(memo), prefix, once,
                    found);
    return found;
}

nb::list named_children(nb::handle self) {
    std::unordered_set<PyObject*> seen;
    nb::list found;
    for (const auto& [name, child] : items_now(group_in(self, "_modules")))
        if (!child.is_none() && seen.insert(child.ptr()).second)
            found.append(nb::make_tuple(name, child));
    return found;
}

// (path, tensor) of a group of each module.
nb::list named_tensors(nb::handle self, const std::string& group, nb::handle prefix, bool recurse,
                       bool once) {
    std::unordered_set<PyObject*> seen;
    nb::list found;
    nb::list every;
    if (!recurse)
        every.append(nb::make_tuple(prefix, self));
    else if (!names_modules_itself(self))
        collect_modules(self, nb::set(), prefix, true, every);
    else
        for (nb::handle each : nb::object(self.attr("named_modules")(nb::arg("prefix") = prefix)))
            every.append(each);
    for (nb::handle each : every)
        for (const auto& [name, tensor] :
             items_now(nb::object(nb::object(each[1]).attr(group.c_str())))) {
            if (tensor.is_none() || (!seen.insert(tensor.ptr()).second && once)) continue;
            found.append(nb::make_tuple(joined_path(nb::object(each[0]), name), tensor));
        }
    return found;
}

// What fn makes of all parameters, of their gradients, and of buffers takes their places.
void apply_to_tensors(nb::handle self, nb::handle fn, bool recurse) {
    const eager::NoGrad scope;
    if (recurse)
        for (nb::handle child : nb::list(nb::object(self.attr("children")())))
            child.attr("_apply")(fn);
    for (const auto& [name, tensor] : items_now(group_in(self, "_parameters"))) {
        if (tensor.is_none()) continue;
        nb::object held = tensor;
        held.attr("data") = fn(nb::object(held.attr("data")));
        const nb::object gradient = held.attr("grad");
        if (!gradient.is_none()) held.attr("_grad") = fn(gradient);
    }
    nb::dict own = group_in(self, "_buffers");
    for (const auto& [name, tensor] : items_now(own))
        if (!tensor.is_none()) own[name] = fn(tensor);
}

// The device and the dtype that Module.to(...) names; None for what it does not.
nb::tuple destination(const nb::tuple& args, const nb::dict& named, nb::handle dtypes) {
    const auto option = [&](const char* name) {
        return named.contains(name) ? nb::object(named[name]) : nb::object(nb::none());
    };
    nb::object device = option("device"), dtype = option("dtype");
    for (nb::handle value : args) {
        if (is_tensor_of_torch(value)) {
            device = value.attr("device");
            dtype = value.attr("dtype");
        } else if (nb::isinstance(value, dtypes)) {
            dtype = nb::borrow(value);
        } else if (!value.is_none() && !PyBool_Check(value.ptr())) {
            device = nb::borrow(value);
        }
    }
    user_check<TypeError>(
        dtype.is_none() || truth_of(dtype.attr("is_floating_point")) ||
            truth_of(dtype.attr("is_complex")),
        "nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=",
        Said{dtype});
    return nb::make_tuple(device, dtype);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

// The lines between a module's brackets, of which one alone stands on the line of its name.
std::string text_of_module(const std::string& name, const std::string& extra,
                           const std::vector<std::string>& children) {
    std::vector<std::string> lines = lines_of(extra);
    if (lines.size() <= 1 && children.empty()) return name + "(" + extra + ")";
    lines.insert(lines.end(), children.begin(), children.end());
    std::string made = name + "(\n";
    for (const std::string& line : lines) made += "  " + line + "\n";
    return made + ")";
}

std::string indented(const std::string& text) {
    std::string made;
    for (const char c : text) made += c == '\n' ? std::string("\n  ") : std::string(1, c);
    return made;
}

std::string module_text(nb::handle self) {
    std::vector<std::string> children;
    for (const auto& [name, child] : items_now(group_in(self, "_modules")))
        children.push_back(std::string("(") + nb::str(name).c_str() +
                           "): " + indented(nb::repr(child).c_str()));
    return text_of_module(nb::cast<std::string>(nb::object(self.attr("_get_name")())),
                          nb::cast<std::string>(nb::object(self.attr("extra_repr")())), children);
}

}  // namespace

nb::dict group_in(nb::handle module, const char* name) {
    return nb::borrow<nb::dict>(nb::object(module.attr(name)));
}

std::vector<std::pair<nb::object, nb::object>> items_now(nb::handle dictionary) {
    std::vector<std::pair<nb::object, nb::object>> items;
    if (PyDict_Check(dictionary.ptr())) {
        for (auto [key, value] : nb::borrow<nb::dict>(dictionary))
            items.emplace_back(nb::borrow(key), nb::borrow(value));
        return items;
    }
    for (nb::handle item : nb::list(nb::object(dictionary.attr("items")())))
        items.emplace_back(nb::object(item[0]), nb::object(item[1]));
    return items;
}

void bind_module_attributes(nb::module_& module) {
    module.def("as_module", as_module, nb::arg("value").none());
    module.def("type_name", named_type, nb::arg("value").none());
    module.def("set_attribute", set_attribute, nb::arg("module"), nb::arg("name"),
               nb::arg("value").none());
    module.def("attribute", attribute_in_groups, nb::arg("module"), nb::arg("name"));
    module.def("delete_attribute", delete_attribute, nb::arg("module"), nb::arg("name"));
    module.def("register_parameter", register_parameter, nb::arg("module"), nb::arg("name").none(),
               nb::arg("value").none());
    module.def("register_buffer", register_buffer, nb::arg("module"), nb::arg("name").none(),
               nb::arg("value").none(), nb::arg("is_persistent"));
    module.def("register_module", register_module, nb::arg("module"), nb::arg("name").none(),
               nb::arg("value").none());
    module.def("named_modules", named_modules, nb::arg("module"), nb::arg("memo").none(),
               nb::arg("prefix"), nb::arg("once"));
    module.def("named_children", named_children, nb::arg("module"));
    module.def("named_tensors", named_tensors, nb::arg("module"), nb::arg("group"),
               nb::arg("prefix"), nb::arg("recurse"), nb::arg("once"));
    module.def("apply_to_tensors", apply_to_tensors, nb::arg("module"), nb::arg("function"),
               nb::arg("recurse"));
    module.def("destination", destination, nb::arg("args"), nb::arg("named"), nb::arg("dtypes"));
    module.def("text", module_text, nb::arg("module"));
}

}  // namespace composit::python

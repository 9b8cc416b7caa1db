#include "structures.h"

#include "cell.h"
#include "composit/base/error.h"
#include "level.h"
#include "shown.h"
#include "values.h"

#include <nanobind/stl/string.h>

#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

PyObject* structure_name(const char* text) { return PyUnicode_InternFromString(text); }

bool type_has(nb::handle value, PyObject* name) {
    const nb::object found =
        nb::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(Py_TYPE(value.ptr())), name));
    if (found.is_valid()) return true;
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw nb::python_error();
    PyErr_Clear();
    return false;
}

bool has_fields(nb::handle value) {
    static PyObject* const fields = structure_name("_fields");
    return type_has(value, fields);
}

// Whether it is made by a dataclass, of its fields alone, and is no array itself.
bool is_record_of_fields(nb::handle value) {
    static PyObject* const fields = structure_name("__dataclass_fields__");
    if (PyType_Check(value.ptr()) || !type_has(value, fields) || has_attribute(value, "__array__"))
        return false;
    const nb::object all = nb::module_::import_("dataclasses").attr("fields")(value);
    for (nb::handle field : all)
        if (!nb::cast<bool>(nb::object(field.attr("init")))) return false;
    return true;
}

// Functions that take containers of other libraries apart: (names, items, rebuild), or None.
// Written and read under the interpreter's lock.
std::vector<nb::object>& other_libraries() {
    static auto* all = new std::vector<nb::object>;
    return *all;
}

bool is_plain_leaf(nb::handle value) {
    PyObject* const object = value.ptr();
    return PyFloat_Check(object) || PyLong_Check(object) || PyUnicode_Check(object) ||
           PyType_Check(object) || nb::isinstance<LazyTensor>(value);
}

bool is_container_of_others(nb::handle value, Container& made) {
    if (other_libraries().empty() || is_plain_leaf(value)) return false;
    const std::vector<nb::object> functions = other_libraries();  // one may add another
    for (const nb::object& take_apart : functions) {
        const nb::object parts = take_apart(value);
        if (parts.is_none()) continue;
        made.kind = Container::Kind::other;
        made.type = nb::borrow(value.type());
        for (nb::handle name : nb::object(parts[0])) made.keys.push_back(nb::borrow(name));
        for (nb::handle item : nb::object(parts[1])) made.items.push_back(nb::borrow(item));
        made.rebuild = parts[2];
        return true;
    }
    return false;
}

bool is_of(nb::handle value, nb::handle kind) {
    const int is = PyObject_IsInstance(value.ptr(), kind.ptr());
    if (is < 0) throw nb::python_error();
    return is == 1;
}

void collect_leaves(nb::handle value, nb::handle kind, nb::list& found,
                    std::unordered_set<PyObject*>* seen) {
    if (!kind.is_none() && is_of(value, kind)) {
        if (!seen || seen->insert(value.ptr()).second) found.append(value);
        return;
    }
    const Container container = container_of(value);
    if (container.is_leaf()) {
        if (kind.is_none() && (!seen || seen->insert(value.ptr()).second)) found.append(value);
        return;
    }
    const Level level(" in a structure");
    for (const nb::object& item : container.items) collect_leaves(item, kind, found, seen);
}

nb::list leaves(nb::handle value, nb::handle kind, bool distinct) {
    nb::list found;
    std::unordered_set<PyObject*> seen;
    collect_leaves(value, kind, found, distinct ? &seen : nullptr);
    return found;
}

// Only containers of exactly these classes are gone through, and named tuples.
nb::object changed(nb::handle value, nb::handle change) {
    const bool is_plain = PyTuple_CheckExact(value.ptr()) || PyList_CheckExact(value.ptr()) ||
                          PyDict_CheckExact(value.ptr()) ||
                          (PyTuple_Check(value.ptr()) && has_fields(value));
    if (!is_plain) return change(value);
    const Container container = container_of(value);
    const Level level(" in a structure");
    std::vector<nb::object> parts;
    for (const nb::object& item : container.items) parts.push_back(changed(item, change));
    return container.build(parts);
}

// The structure with function(value, the other structure's) where both are of the kind.
nb::object mapped_pairs(nb::handle value, nb::handle other, nb::handle function, nb::handle kind) {
    if (is_of(value, kind)) return is_of(other, kind) ? function(value, other) : nb::borrow(value);
    const Container container = container_of(value);
    if (container.is_leaf()) return nb::borrow(value);
    const Level level(" in a structure");
    const Container beside = container_of(other);
    std::vector<nb::object> parts;
    if (container.kind == Container::Kind::dictionary) {
        for (size_t i = 0; i < container.items.size(); ++i)
            parts.push_back(mapped_pairs(container.items[i], nb::object(other[container.keys[i]]),
                                         function, kind));
        return container.build(parts);
    }
    user_check(beside.items.size() == container.items.size(), "a structure of ",
               container.items.size(), " items stands beside one of ", beside.items.size(),
               ". As many are required.");
    for (size_t i = 0; i < container.items.size(); ++i)
        parts.push_back(mapped_pairs(container.items[i], beside.items[i], function, kind));
    return container.build(parts);
}

// ----- taken apart and put together

// What puts other leaves into a structure's places.
class Rebuild {
  public:
    Rebuild(nb::handle value, nb::list& found) { collect(value, found); }

    nb::object build(nb::handle given) const {
        const nb::list leaves{nb::borrow(given)};
        size_t part = 0, leaf = 0;
        return build_part(leaves, part, leaf);
    }

  private:
    void collect(nb::handle value, nb::list& found) {
        parts_.push_back(container_of(value, true));
        const std::vector<nb::object> items = std::move(parts_.back().items);
        parts_.back().items = std::vector<nb::object>(items.size());  // that many parts follow
        if (parts_.back().kind == Container::Kind::leaf) found.append(value);
        const Level level(" in a structure");
        for (const nb::object& item : items) collect(item, found);
    }

    nb::object build_part(const nb::list& leaves, size_t& part, size_t& leaf) const {
        const Container& made = parts_[part++];
        if (made.kind == Container::Kind::none) return nb::none();
        if (made.kind == Container::Kind::leaf) {
            user_check(leaf < nb::len(leaves), "a structure is put together from ", nb::len(leaves),
                       " leaves. More are required.");
            return leaves[leaf++];
        }
        const Level level(" in a structure");
        std::vector<nb::object> items;
        for (size_t i = 0; i < made.items.size(); ++i)
            items.push_back(build_part(leaves, part, leaf));
        return made.build(items);
    }

    std::vector<Container> parts_;  // containers before what they contain
};

nb::tuple flatten(nb::handle value) {
    nb::list found;
    nb::object rebuild = nb::cast(Rebuild(value, found), nb::rv_policy::move);
    return nb::make_tuple(found, rebuild);
}

// ----- described

std::string class_name(nb::handle type) {
    return nb::cast<std::string>(nb::object(type.attr("__name__")));
}

// The structure as text, with * for leaves.
std::string outline(nb::handle value) {
    const Container container = container_of(value, true);
    if (container.kind == Container::Kind::none) return "None";
    if (container.is_leaf()) return "*";
    const Level level(" in a structure");
    std::string inner;
    for (size_t i = 0; i < container.items.size(); ++i) {
        if (i > 0) inner += ", ";
        if (container.kind == Container::Kind::dictionary)
            inner += std::string(nb::repr(container.keys[i]).c_str()) + ": ";
        if (container.kind == Container::Kind::record || container.kind == Container::Kind::other)
            inner += std::string(nb::str(container.keys[i]).c_str()) + "=";
        inner += outline(container.items[i]);
    }
    if (container.kind == Container::Kind::dictionary) return "{" + inner + "}";
    if (container.kind == Container::Kind::record || container.kind == Container::Kind::other)
        return class_name(container.type) + "(" + inner + ")";
    if (PyList_Check(value.ptr())) return "[" + inner + "]";
    const bool is_named = container.kind == Container::Kind::named_tuple;
    return (is_named ? class_name(container.type) : std::string()) + "(" + inner +
           (container.items.size() == 1 ? ",)" : ")");
}

void add_names(nb::handle value, const std::string& root, std::vector<std::string>& names) {
    const Container container = container_of(value, true);
    if (container.kind == Container::Kind::none) return;
    if (container.is_leaf()) {
        names.push_back(root);
        return;
    }
    const Level level(" in a structure");
    for (size_t i = 0; i < container.items.size(); ++i) {
        const bool is_sequence = container.kind == Container::Kind::sequence;
        const std::string key =
            is_sequence ? std::to_string(i) : std::string(nb::str(container.keys[i]).c_str());
        if (is_sequence)  // places alone make no name
            add_names(container.items[i], root.empty() ? root : root + "_" + key, names);
        else
            add_names(container.items[i], root.empty() ? key : root + "_" + key, names);
    }
}

std::vector<std::string> names_of(nb::handle value, const std::string& root) {
    std::vector<std::string> names;
    add_names(value, root, names);
    return names;
}

// The names, numbered where several leaves would have one name.
std::vector<std::string> distinct_names_of(nb::handle value) {
    std::vector<std::string> names = names_of(value, "");
    std::map<std::string, size_t> counts, numbers;
    for (const std::string& name : names) ++counts[name];
    for (std::string& name : names)
        if (!name.empty() && counts[name] > 1) {
            const std::string whole = name;
            name += "_" + std::to_string(numbers[whole]++);
        }
    return names;
}

bool is_axis(nb::handle value) {
    return value.is_none() || (PyLong_Check(value.ptr()) && !PyBool_Check(value.ptr()));
}

size_t count_leaves(nb::handle value) {
    const Container container = container_of(value, true);
    if (container.is_leaf()) return container.kind == Container::Kind::leaf;
    const Level level(" in a structure");
    size_t count = 0;
    for (const nb::object& item : container.items) count += count_leaves(item);
    return count;
}

// For each leaf of `value` the integer or None of `prefix`, whose structure begins as value's: an
// entry holds for all below it.
void add_axes(const std::string& name, nb::handle prefix, nb::handle value, nb::list& found) {
    if (is_axis(prefix)) {
        for (size_t count = count_leaves(value); count > 0; --count) found.append(prefix);
        return;
    }
    const bool is_mapping = PyDict_Check(prefix.ptr());
    user_check<TypeError>(is_mapping || PyTuple_Check(prefix.ptr()) || PyList_Check(prefix.ptr()),
                          name, ": ", Shown{prefix},
                          " is not an axis. An integer, None, or a structure of them is required.");
    const Container parts = container_of(prefix), items = container_of(value);
    bool fits = parts.items.size() == items.items.size();
    if (is_mapping)
        fits = fits && PyDict_Check(value.ptr()) &&
               nb::object(prefix.attr("keys")()).equal(nb::object(value.attr("keys")()));
    else
        fits = fits && prefix.type().is(value.type());
    user_check(fits, name, ": ", Shown{prefix}, " is given for the structure ",
               fits ? std::string() : outline(value), ". One that begins the same is required.");
    const Level level(" in a structure");
    for (size_t i = 0; i < items.items.size(); ++i)
        add_axes(name, is_mapping ? nb::object(prefix[items.keys[i]]) : parts.items[i],
                 items.items[i], found);
}

nb::list spread_axes(const std::string& name, nb::handle prefix, nb::handle value) {
    nb::list found;
    add_axes(name, prefix, value, found);
    return found;
}

}  // namespace

nb::object Container::build(const std::vector<nb::object>& parts) const {
    if (kind == Kind::dictionary || kind == Kind::record) {
        nb::dict named;
        for (size_t i = 0; i < parts.size(); ++i) named[keys[i]] = parts[i];
        return kind == Kind::dictionary ? nb::object(named) : type(**named);
    }
    nb::list list;
    for (const nb::object& part : parts) list.append(part);
    if (kind == Kind::other) return rebuild(list);
    if (kind == Kind::named_tuple) return type(*list);
    if (type.is(nb::handle(reinterpret_cast<PyObject*>(&PyList_Type)))) return list;
    if (type.is(nb::handle(reinterpret_cast<PyObject*>(&PyTuple_Type)))) return nb::tuple(list);
    return type(list);
}

Container container_of(nb::handle value, bool with_records) {
    Container made;
    PyObject* const object = value.ptr();
    if (value.is_none()) {
        made.kind = Container::Kind::none;
    } else if (PyTuple_Check(object) || PyList_Check(object)) {
        const bool is_exact = PyTuple_CheckExact(object) || PyList_CheckExact(object);
        const bool is_named = !is_exact && has_fields(value);
        made.kind = is_named ? Container::Kind::named_tuple : Container::Kind::sequence;
        made.type = nb::borrow(value.type());
        for (nb::handle item : value) made.items.push_back(nb::borrow(item));
        if (is_named)
            for (nb::handle name : nb::object(made.type.attr("_fields")))
                made.keys.push_back(nb::borrow(name));
    } else if (PyDict_Check(object)) {
        made.kind = Container::Kind::dictionary;
        made.type = nb::borrow(value.type());
        for (auto [key, item] : nb::borrow<nb::dict>(value)) {
            made.keys.push_back(nb::borrow(key));
            made.items.push_back(nb::borrow(item));
        }
    } else if (is_container_of_others(value, made)) {
        return made;
    } else if (with_records && is_record_of_fields(value)) {
        made.kind = Container::Kind::record;
        made.type = nb::borrow(value.type());
        for (nb::handle field :
             nb::object(nb::module_::import_("dataclasses").attr("fields")(value))) {
            made.keys.push_back(nb::object(field.attr("name")));
            made.items.push_back(nb::object(value.attr(made.keys.back())));
        }
    }
    return made;
}

nb::object mapped_structure(nb::handle value, const std::function<nb::object(nb::handle)>& function,
                            nb::handle kind) {
    if (!kind.is_none() && is_of(value, kind)) return function(value);
    const Container container = container_of(value);
    if (container.is_leaf()) return kind.is_none() ? function(value) : nb::borrow(value);
    const Level level(" in a structure");
    std::vector<nb::object> parts;
    for (const nb::object& item : container.items)
        parts.push_back(mapped_structure(item, function, kind));
    return container.build(parts);
}

void bind_structures(nb::module_& module) {
    nb::class_<Rebuild>(module, "Rebuild", "What puts other leaves into a structure's places.")
        .def("__call__", &Rebuild::build, nb::arg("leaves"));
    module.def(
        "add_library",
        [](nb::object take_apart) { other_libraries().push_back(std::move(take_apart)); },
        nb::arg("take_apart"),
        "From now on take_apart(value) says what containers of another library hold: (names, "
        "items, a function of the list of other items that makes one like it), or None for what "
        "is none. Subclasses of tuple, list and dict are not asked about.");
    module.def("flatten", flatten, nb::arg("value").none(),
               "The leaves in order, and what puts others in their places.");
    module.def("leaves", leaves, nb::arg("value").none(), nb::arg("kind").none() = nb::none(),
               nb::arg("distinct") = false,
               "The leaves of lists, tuples and dictionaries, or all values of a kind in them, "
               "each once where they are to be distinct.");
    module.def(
        "mapped",
        [](nb::handle value, nb::handle function, nb::handle kind) {
            return mapped_structure(
                value, [&](nb::handle leaf) { return nb::object(function(leaf)); }, kind);
        },
        nb::arg("value").none(), nb::arg("function"), nb::arg("kind").none() = nb::none(),
        "The structure with function(leaf) for each leaf; with a kind for each value of the kind, "
        "and other leaves as they are.");
    module.def("mapped_pairs", mapped_pairs, nb::arg("value").none(), nb::arg("other").none(),
               nb::arg("function"), nb::arg("kind"),
               "The structure with function(value, the other structure's) for each of the kind.");
    module.def("changed", changed, nb::arg("value").none(), nb::arg("change"),
               "The value with what `change` makes of each leaf of its lists, tuples and "
               "dictionaries; objects of their subclasses, but for named tuples, are leaves.");
    module.def("outline", outline, nb::arg("value").none(),
               "The structure as text, with * for leaves.");
    module.def("names_of", names_of, nb::arg("value").none(), nb::arg("root") = "",
               "A name for each leaf, from keys, fields and places.");
    module.def("distinct_names_of", distinct_names_of, nb::arg("value").none(),
               "The same, numbered where several leaves would have one name.");
    module.def("spread", spread_axes, nb::arg("name"), nb::arg("prefix").none(),
               nb::arg("value").none(),
               "For each leaf of `value` the integer or None of `prefix`, which begins as it.");
}

}  // namespace composit::python

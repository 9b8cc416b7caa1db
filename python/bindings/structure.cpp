#include "structure.h"

namespace composit::python {

Structure::Kind Structure::kind_of(nb::handle value) {
    PyObject* object = value.ptr();
    if (value.is_none()) return Kind::none;
    if (PyTuple_CheckExact(object)) return Kind::tuple;
    if (PyList_CheckExact(object)) return Kind::list;
    if (PyDict_Check(object)) return Kind::dictionary;
    if (PyTuple_Check(object) || PyList_Check(object)) return Kind::other_sequence;
    return Kind::leaf;
}

void Structure::collect(nb::handle value, std::vector<nb::object>& leaves) {
    const Kind kind = kind_of(value);
    if (kind == Kind::leaf || kind == Kind::none) {
        parts_.push_back({kind, 0, {}});
        if (kind == Kind::leaf) leaves.push_back(nb::borrow(value));
        return;
    }
    if (kind == Kind::dictionary) {
        const nb::dict items = nb::borrow<nb::dict>(value);
        parts_.push_back({kind, static_cast<Py_ssize_t>(items.size()), nb::tuple(items.keys())});
        for (nb::handle item : items.values()) collect(item, leaves);
        return;
    }
    nb::object type;
    if (kind == Kind::other_sequence) type = nb::borrow(value.type());
    parts_.push_back({kind, static_cast<Py_ssize_t>(nb::len(value)), std::move(type)});
    for (nb::handle item : value) collect(item, leaves);
}

bool Structure::match(nb::handle value, std::vector<nb::object>& leaves) const {
    size_t part = 0;
    return match_part(value, part, leaves);
}

bool Structure::match_part(nb::handle value, size_t& part, std::vector<nb::object>& leaves) const {
    const Part& expected = parts_[part++];
    if (kind_of(value) != expected.kind) return false;
    PyObject* object = value.ptr();
    switch (expected.kind) {
        case Kind::none: return true;
        case Kind::leaf: leaves.push_back(nb::borrow(value)); return true;
        case Kind::dictionary: {
            if (PyDict_GET_SIZE(object) != expected.count) return false;
            Py_ssize_t place = 0, number = 0;
            PyObject *key = nullptr, *item = nullptr;
            // Keys compare by Python code, which may change all that is looked at here.
            while (PyDict_Next(object, &place, &key, &item)) {
                if (number == expected.count) return false;
                const nb::object kept_key = nb::borrow(key), kept_item = nb::borrow(item);
                PyObject* known = PyTuple_GET_ITEM(expected.what.ptr(), number++);
                if (key != known && !kept_key.equal(nb::handle(known))) return false;
                if (!match_part(kept_item, part, leaves)) return false;
            }
            return number == expected.count;
        }
        case Kind::other_sequence:
            if (value.type().ptr() != expected.what.ptr()) return false;
            [[fallthrough]];
        case Kind::tuple:
        case Kind::list: {
            for (Py_ssize_t i = 0; i < expected.count; ++i) {
                if (PySequence_Fast_GET_SIZE(object) != expected.count) return false;
                const nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(object, i));
                if (!match_part(item, part, leaves)) return false;
            }
            return PySequence_Fast_GET_SIZE(object) == expected.count;
        }
    }
    return false;
}

nb::object Structure::build(const std::vector<nb::object>& leaves) const {
    size_t part = 0, leaf = 0;
    return build_part(part, leaves, leaf);
}

nb::object Structure::build_part(size_t& part, const std::vector<nb::object>& leaves,
                                 size_t& leaf) const {
    const Part& made = parts_[part++];
    if (made.kind == Kind::none) return nb::none();
    if (made.kind == Kind::leaf) return leaves[leaf++];
    if (made.kind == Kind::dictionary) {
        nb::dict items;
        for (nb::handle key : nb::borrow<nb::tuple>(made.what))
            items[key] = build_part(part, leaves, leaf);
        return items;
    }
    nb::list items;
    for (Py_ssize_t i = 0; i < made.count; ++i) items.append(build_part(part, leaves, leaf));
    if (made.kind == Kind::list) return items;
    if (made.kind == Kind::tuple) return nb::tuple(items);
    // A named tuple takes its fields one by one, other sequences take one argument.
    return nb::hasattr(made.what, "_fields") ? made.what(*items) : made.what(items);
}

}  // namespace composit::python

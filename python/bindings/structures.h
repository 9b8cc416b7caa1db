// Nested tuples, lists, dictionaries and dataclasses of Python: taken apart, changed, put together
// and described.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <string>
#include <vector>

namespace composit::python {

namespace nb = nanobind;

// One container, with what it holds in order; or a leaf.
struct Container {
    enum class Kind { leaf, none, sequence, named_tuple, dictionary, record, other };
    Kind kind = Kind::leaf;
    nb::object type;
    std::vector<nb::object> keys,
        items;           // keys: of dictionaries, fields of records and named tuples, names
    nb::object rebuild;  // of another library's: a function of the list of items

    bool is_leaf() const { return kind == Kind::leaf || kind == Kind::none; }
    // A container as this one of other items.
    nb::object build(const std::vector<nb::object>& parts) const;
};
// Dataclasses are leaves unless `with_records`.
Container container_of(nb::handle value, bool with_records = false);

// The structure with function(leaf) for each leaf; with a kind (a class, or a tuple of them) for
// each value of that kind, and other leaves as they are.
nb::object mapped_structure(nb::handle value, const std::function<nb::object(nb::handle)>& function,
                            nb::handle kind);

void bind_structures(nb::module_& module);

}  // namespace composit::python

// What kernels are called with: numbers, arrays, tensors, and tuples and records of them, as the
// annotations say (python/composit/knossos/annotations.py).
#include "bindings.h"
#include "composit/base/error.h"
#include "knossos.h"
#include "provided.h"
#include "shown.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace composit::python {

namespace nb = nanobind;

namespace {

// What does not fit an annotation: the rest of a sentence about an argument.
struct Unfit {
    std::string text;
};

bool has_parts(nb::handle structure) {
    return nb::isinstance(structure, provided("knossos_parts"));
}

nb::list parts_in(nb::handle structure) {
    return nb::list(nb::object(structure.attr("parts").attr("values")()));
}

void add_leaves(nb::handle structure, nb::list& found) {
    if (!has_parts(structure)) {
        found.append(structure);
        return;
    }
    for (nb::handle part : parts_in(structure)) add_leaves(part, found);
}

nb::list leaves_of(nb::handle structures) {
    nb::list found;
    for (nb::handle structure : structures) add_leaves(structure, found);
    return found;
}

nb::list leaves_of_one(nb::handle structure) {
    nb::list found;
    add_leaves(structure, found);
    return found;
}

bool is_float_leaf(nb::handle leaf) { return nb::cast<std::string>(leaf.attr("kind")) == "float"; }

// What gradients or tangents of values have: structures of floats alone, else their floats.
nb::list floats_among_parts(nb::handle structures) {
    nb::list found;
    for (nb::handle structure : structures) {
        const nb::list leaves = leaves_of_one(structure);
        const bool are_floats = std::all_of(leaves.begin(), leaves.end(), is_float_leaf);
        if (are_floats) found.append(structure);
        for (nb::handle leaf : leaves)
            if (!are_floats && is_float_leaf(leaf)) found.append(leaf);
    }
    return found;
}

bool is_plain(nb::handle structure) { return nb::cast<bool>(structure.attr("is_plain")); }

bool is_kind_of_tuple(nb::handle made_by) {
    return PyObject_IsSubclass(made_by.ptr(), reinterpret_cast<PyObject*>(&PyTuple_Type)) == 1;
}

// Whether the value has parts in the order of the structure's. Of another record, even one with
// these fields, they may stand in another; of sets and dictionaries in any.
bool is_one_of(nb::handle structure, nb::handle value) {
    if (is_plain(structure)) {  // arrays with axes have parts, as in Python
        if (PyTuple_Check(value.ptr()) || PyList_Check(value.ptr())) return true;
        const nb::object shape = nb::getattr(value, "shape", nb::none());
        return PyObject_IsTrue(shape.ptr()) == 1;
    }
    const nb::object made_by = structure.attr("made_by");
    return (is_kind_of_tuple(made_by) && PyTuple_CheckExact(value.ptr())) ||
           nb::isinstance(value, made_by);
}

std::string wanted_of(nb::handle structure) {
    const size_t count = nb::len(nb::object(structure.attr("parts")));
    if (is_plain(structure)) return text("A tuple or list of ", count);
    const nb::object made_by = structure.attr("made_by");
    const std::string name =
        text("A ", nb::cast<std::string>(nb::object(made_by.attr("__name__"))));
    return is_kind_of_tuple(made_by) ? text(name, " or a tuple of ", count) : name;
}

// Adds the numbers and arrays of a value of this structure, which errors call by the name.
void add_numbers(nb::handle structure, nb::handle value, const std::string& name, nb::list& found) {
    if (!has_parts(structure)) {
        found.append(value);
        return;
    }
    if (!is_one_of(structure, value))
        throw Unfit{text(name, " is ", Shown{value}, ". ", wanted_of(structure), " is required")};
    const nb::dict parts = structure.attr("parts");
    nb::list given;
    if (is_plain(structure) || PyTuple_Check(value.ptr()))
        given = nb::list(nb::borrow(value));
    else
        for (nb::handle key : parts.keys()) given.append(nb::getattr(value, key));
    if (given.size() != parts.size())
        throw Unfit{text(name, " is ", Shown{value}, ", of ", given.size(), " parts. ",
                         wanted_of(structure), " is required")};
    size_t place = 0;
    for (const auto& [key, part] : parts)
        add_numbers(part, given[place++], text(name, '.', Said{key}), found);
}

// Arguments of which tuples and records may stand for their numbers and arrays, as these, of which
// there are `count`.
nb::tuple taken_apart(nb::handle structures, const nb::tuple& arguments, size_t count) {
    const size_t given = arguments.size();
    const bool are_whole = given == nb::len(structures) && given != count;
    nb::list leaves;
    size_t at = 0;
    for (nb::handle structure : structures) {
        const nb::object first = at < given ? nb::object(arguments[at]) : nb::none();
        const size_t size = leaves_of_one(structure).size();
        bool is_whole = false;
        if (has_parts(structure)) {
            const nb::object made_by = structure.attr("made_by");
            const bool is_tuple =
                made_by.is(nb::handle(reinterpret_cast<PyObject*>(&PyTuple_Type)));
            is_whole = (!is_tuple && nb::isinstance(first, made_by)) ||
                       (PyTuple_Check(first.ptr()) && given != count) || (are_whole && size != 1);
        }
        if (is_whole) {
            add_numbers(structure, first, text("argument ", at), leaves);
            ++at;
            continue;
        }
        for (size_t i = 0; i < size && at < given; ++i) leaves.append(arguments[at++]);
    }
    while (at < given) leaves.append(arguments[at++]);
    return nb::tuple(leaves);
}

// The arguments of a derivative, among them those that the function has defaults for and that were
// left out: how many stand before the gradients or tangents says which. A tangent that was left out
// with its argument is 0.
nb::tuple with_left_out(nb::handle kernel, const nb::tuple& arguments) {
    const nb::object made_of = kernel.attr("_made_of");
    if (!nb::object(kernel.attr("_source")).is_none() || made_of.is_none()) return arguments;
    const nb::object function = made_of[1];
    const nb::object source = nb::getattr(function, "_source", nb::none());
    if (source.is_none()) return arguments;
    const nb::list values(nb::object(source.attr("defaults").attr("values")()));
    const size_t leaf_count = nb::len(nb::object(kernel.attr("parameter_structures")));
    const nb::object kernel_whole = kernel.attr("_whole");
    const size_t whole_count = kernel_whole.is_none() ? leaf_count : nb::len(kernel_whole);
    const size_t given = arguments.size();
    if (values.size() == 0 || given == leaf_count || given == whole_count) return arguments;
    const nb::list own = leaves_of(function.attr("parameter_structures"));
    const nb::object function_whole = function.attr("_whole");
    const size_t count_of_whole = function_whole.is_none()
                                      ? nb::len(nb::object(function.attr("parameter_structures")))
                                      : nb::len(function_whole);
    const bool has_tangents = nb::cast<std::string>(nb::object(made_of[2])) == "jvp";
    const std::pair<size_t, size_t> ways[] = {
        {kernel_whole.is_none() ? 0 : nb::len(kernel_whole), count_of_whole},
        {leaf_count, own.size()}};
    for (const auto& [full, count] : ways)
        for (size_t left = 1; left <= values.size(); ++left) {
            size_t tangents = 0;
            for (size_t i = own.size() - std::min(left, own.size()); i < own.size(); ++i)
                tangents += has_tangents && is_float_leaf(own[i]);
            if (given + left + tangents != full) continue;
            nb::list made;
            const size_t place = count - left;
            for (size_t i = 0; i < place; ++i) made.append(arguments[i]);
            for (size_t i = values.size() - left; i < values.size(); ++i) made.append(values[i]);
            for (size_t i = place; i < given; ++i) made.append(arguments[i]);
            for (size_t i = 0; i < tangents; ++i) made.append(nb::float_(0.0));
            return nb::tuple(made);
        }
    return arguments;
}

// What errors call an argument.
std::string name_of_argument(nb::handle kernel, size_t number) {
    const nb::object function = nb::getattr(kernel, "__wrapped__", nb::none());
    size_t named = 0;
    if (!function.is_none()) {
        const nb::object code = function.attr("__code__");
        named = nb::cast<size_t>(code.attr("co_argcount"));
        if (number < named)
            return nb::cast<std::string>(nb::object(code.attr("co_varnames")[number]));
    }
    return text("argument ", number - named);
}

std::string name_of_kernel(nb::handle kernel) {
    return nb::cast<std::string>(nb::object(kernel.attr("__name__")));
}

// The numbers, arrays and tensors that arguments of a kernel consist of. TypeError where they do
// not fit the annotations.
nb::list leaves_given(nb::handle kernel, nb::tuple arguments) {
    const nb::list structures(nb::object(kernel.attr("parameter_structures")));
    const nb::object source = kernel.attr("_source"), whole = kernel.attr("_whole");
    if (arguments.size() < structures.size() && !source.is_none()) {
        kernel.attr("procedure")();  // which refuses defaults that are no numbers
        arguments = nb::tuple(nb::object(source.attr("with_defaults")(arguments)));
    }
    arguments = with_left_out(kernel, arguments);
    const auto refuse = [&](const std::string& why) {
        throw TypeError(text(name_of_kernel(kernel), ": ", why, ", as the annotation says."));
    };
    try {
        if (!whole.is_none()) arguments = taken_apart(whole, arguments, structures.size());
        if (arguments.size() == structures.size()) {
            nb::list leaves;
            for (size_t i = 0; i < structures.size(); ++i) {
                if (has_parts(structures[i]))
                    add_numbers(structures[i], arguments[i], name_of_argument(kernel, i), leaves);
                else
                    leaves.append(arguments[i]);
            }
            return leaves;
        }
    } catch (const Unfit& unfit) {
        refuse(unfit.text);
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_AttributeError)) throw;
        refuse(nb::cast<std::string>(nb::object(nb::str(error.value()))));
    }
    kernel.attr("procedure")();  // what no kernel has, as arguments by name only, is refused first
    throw TypeError(text(name_of_kernel(kernel), ": got ", arguments.size(), " arguments. ",
                         structures.size(), " are required."));
}

}  // namespace

void bind_knossos_given(nb::module_& module) {
    module.def("all_leaves", leaves_of_one, nb::arg("structure"),
               "The numbers and arrays of a structure, in order.");
    module.def("floats_among_parts", floats_among_parts, nb::arg("structures"),
               "What gradients or tangents of values have: structures of floats alone, else their "
               "floats.");
    module.def(
        "numbers_in",
        [](nb::handle structure, nb::handle value) {
            nb::list found;
            try {
                add_numbers(structure, value, "it", found);
            } catch (const Unfit& unfit) {
                throw TypeError(unfit.text + ".");
            }
            return found;
        },
        nb::arg("structure"), nb::arg("value"),
        "The numbers and arrays of a value of this structure. TypeError for another value.");
    module.def("leaves_given", leaves_given, nb::arg("kernel"), nb::arg("arguments"),
               "The numbers, arrays and tensors that arguments of a kernel consist of. TypeError "
               "where they do not fit the annotations.");
}

}  // namespace composit::python

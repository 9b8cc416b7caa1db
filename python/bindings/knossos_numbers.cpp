// Numbers, arrays and tensors that kernels are called with, checked and converted one by one.
#include "arrays.h"
#include "bindings.h"
#include "casters.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/numpy/manipulation.h"
#include "knossos.h"
#include "provided.h"
#include "shown.h"
#include "values.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

bool is_array_structure(nb::handle structure) {
    return nb::isinstance(structure, provided("knossos_tensor"));
}

std::string kind_of_leaf(nb::handle leaf) { return nb::cast<std::string>(leaf.attr("kind")); }

bool is_array_of_numpy(nb::handle value) {
    return nb::isinstance(value, numpy_attribute("ndarray"));
}
bool is_number_of_numpy(nb::handle value) {
    return nb::isinstance(value, numpy_attribute("generic"));
}
std::string kind_of(nb::handle dtype) {
    return nb::cast<std::string>(nb::object(dtype.attr("kind")));
}

// Whether the dtype is of real floats that float64 holds; those of ml_dtypes are, longdouble is
// not.
bool is_floating(nb::handle dtype) {
    if (kind_of(dtype) == "f") return nb::cast<int64_t>(dtype.attr("itemsize")) <= 8;
    const auto found = ir::find_dtype(nb::cast<std::string>(nb::object(dtype.attr("name"))));
    return found && ir::is_floating(*found);
}

// TypeError where elements of a dtype stand for numbers of a kind that they are none of.
void check_kind(const std::string& name, const std::string& kind, nb::handle given,
                const std::string& what) {
    if (kind == "float" && is_floating(given)) return;
    const std::string letter = kind_of(given);
    const std::string allowed = kind == "bool" ? "b" : "biu";
    if (allowed.find(letter) != allowed.npos) return;
    throw TypeError(text(
        name, ": ", what, " of dtype ", Said{given}, " stands for one of ", kind,
        letter == "c" ? ". Real numbers are required." : ". Elements of that type are required."));
}

// OverflowError for an integer of Python that numbers of the kind do not hold.
void check_size(const std::string& name, nb::handle value, const std::string& kind) {
    if (!PyLong_CheckExact(value.ptr())) return;
    int overflow = 0;
    PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow == 0) return;
    if (kind == "float") {
        PyLong_AsDouble(value.ptr());
        if (!PyErr_Occurred()) return;
        PyErr_Clear();
    }
    throw OverflowError(text(name, ": an integer of ", Said{value.attr("bit_length")()},
                             " bits stands for ", kind, ", and does not fit in ",
                             kind == "float" ? "float64" : "int64", ", which is required."));
}

// The array, whose integers must fit in int64. OverflowError for others.
nb::object checked_integers(const std::string& name, nb::object array) {
    if (nb::cast<std::string>(nb::object(array.attr("dtype").attr("name"))) != "uint64")
        return array;
    user_check<TypeError>(!is_tensor(array), name,
                          ": a tensor of dtype uint64 stands for int. Integers that fit in int64 "
                          "are required (astype).");
    constexpr auto largest = std::numeric_limits<int64_t>::max();
    const nb::object most = array.attr("max")(nb::arg("initial") = 0);
    const nb::object beyond =
        nb::steal(PyObject_RichCompare(most.ptr(), nb::int_(largest).ptr(), Py_GT));
    if (!beyond.is_valid()) throw nb::python_error();
    user_check<OverflowError>(PyObject_IsTrue(beyond.ptr()) == 0, name, ": ", Said{most},
                              " stands for int, and does not fit in int64, which is required.");
    return array.attr("astype")("int64");
}

void check_leaf(const std::string& name, nb::handle leaf) {
    const bool is_number = PyLong_Check(leaf.ptr()) || PyFloat_Check(leaf.ptr());
    if (is_number || PyList_Check(leaf.ptr()) || has_attribute(leaf, "dtype") ||
        has_attribute(leaf, "__array__"))
        return;
    throw TypeError(text(name, ": ", Shown{leaf},
                         " is no number. A number, an array or a tensor is required."));
}

nb::object fitted(const std::string& name, nb::object leaf, const std::string& kind,
                  bool has_floats) {
    if (!is_array_of_numpy(leaf) && !is_number_of_numpy(leaf) && !is_tensor(leaf)) return leaf;
    const nb::object dtype = leaf.attr("dtype");
    check_kind(name, kind, dtype,
               PyObject_IsTrue(nb::object(leaf.attr("ndim")).ptr()) == 1 ? "an array" : "a number");
    const std::string letter = kind_of(dtype);
    if (kind == "float" && (letter == "i" || letter == "u" || letter == "b"))
        return has_floats ? leaf : nb::object(leaf.attr("astype")("float64"));
    return kind == "int" ? checked_integers(name, std::move(leaf)) : leaf;
}

// What stands for numbers of these kinds, element by element. Integers and truths where floats are
// wanted are float64 unless there are arrays of floats, whose dtype they take, as in NumPy.
nb::list fitted_leaves(const std::string& name, const nb::list& leaves,
                       const std::vector<std::string>& kinds) {
    const size_t count = std::min(leaves.size(), kinds.size());
    for (size_t i = 0; i < count; ++i) {
        check_leaf(name, leaves[i]);
        check_size(name, leaves[i], kinds[i]);
    }
    std::vector<nb::object> known;
    bool has_floats = false;
    for (size_t i = 0; i < leaves.size(); ++i) {
        const nb::object leaf = leaves[i];
        known.push_back(PyList_Check(leaf.ptr()) ? provided("knossos_as_array")(name, leaf) : leaf);
        if (!is_array_of_numpy(known.back()) && !is_tensor(known.back())) continue;
        const std::string letter = kind_of(known.back().attr("dtype"));
        has_floats =
            has_floats || ((letter == "f" || letter == "V") &&
                           PyObject_IsTrue(nb::object(known.back().attr("ndim")).ptr()) == 1);
    }
    nb::list made;
    for (size_t i = 0; i < count; ++i)
        made.append(fitted(name, std::move(known[i]), kinds[i], has_floats));
    return made;
}

// ----- arguments of kernels with arrays

// What an array of the shape lacks of extents that names mean where the kernel is defined.
void check_extents(const std::string& name, nb::handle leaf, const nb::tuple& shape) {
    const nb::dict names = leaf.attr("names");
    const nb::object extents = leaf.attr("extents");
    for (const auto& [axis, extent] : names) {
        const nb::object wanted = extents[nb::object(nb::borrow(axis))];
        if (nb::object(shape[nb::cast<size_t>(axis)]).equal(wanted)) continue;
        throw ValueError(text(
            name, ": an array of shape ", Shown{shape}, " stands for one whose extent ", Said{axis},
            " is ", Said{extent}, ", and ", Said{extent}, " is ", Said{wanted},
            " where the kernel is defined. That extent, or a name that means no number there, is "
            "required."));
    }
}

nb::object number_for(const std::string& name, const std::string& kind, nb::object value) {
    const nb::object shape = nb::getattr(value, "shape", nb::none());
    if (PyTuple_Check(shape.ptr()) && nb::len(shape) == 0 && has_attribute(value, "item")) {
        check_kind(name, kind, value.attr("dtype"), "a number");
        value = value.attr("item")();
    }
    check_size(name, value, kind);
    const bool is_truth =
        PyBool_Check(value.ptr()) || nb::isinstance(value, numpy_attribute("bool_"));
    const bool is_integer =
        PyLong_Check(value.ptr()) || nb::isinstance(value, numpy_attribute("integer"));
    const bool is_float =
        PyFloat_Check(value.ptr()) || nb::isinstance(value, numpy_attribute("floating"));
    const bool fits = kind == "bool"  ? is_truth
                      : kind == "int" ? is_integer
                                      : is_integer || is_float;
    if (!fits)
        throw TypeError(text(name, ": ", Shown{value}, " stands for an argument of type ", kind,
                             ". A number of that type is required."));
    const nb::object made =
        nb::steal(kind == "float" ? PyNumber_Float(value.ptr()) : PyNumber_Long(value.ptr()));
    if (!made.is_valid()) throw nb::python_error();
    return made;
}

nb::object array_for(const std::string& name, nb::handle leaf, nb::handle value, nb::handle dtype) {
    nb::object array = provided("knossos_as_array")(name, value);
    const std::string kind = kind_of_leaf(leaf);
    check_kind(name, kind, array.attr("dtype"), "an array");
    const nb::tuple shape = array.attr("shape");
    const size_t axes = nb::len(nb::object(leaf.attr("extents")));
    user_check<ValueError>(shape.size() == axes, name, ": an array of shape ", Shown{shape},
                           " stands for one of ", axes, " axes. That many axes are required.");
    check_extents(name, leaf, shape);
    if (kind == "int") array = checked_integers(name, std::move(array));
    return numpy_attribute("ascontiguousarray")(array, dtype);
}

nb::object dtype_for(const std::string& kind, nb::handle of_floats) {
    if (kind == "float") return nb::borrow(of_floats);
    return numpy_attribute("dtype")(kind == "int" ? "int64" : "bool");
}

// (floats, integers, arrays) as code takes them, of values in the order of `operands`; extents of
// arrays, (leaf, axis), are integers behind their arrays.
nb::tuple arranged(const std::string& name, const nb::list& structures, const nb::list& values,
                   const std::vector<size_t>& operands,
                   const std::vector<std::pair<size_t, size_t>>& extents, nb::handle dtype) {
    nb::list floats, integers, arrays;
    size_t next = 0;
    for (const size_t i : operands) {
        const nb::object leaf = structures[i];
        const std::string kind = kind_of_leaf(leaf);
        if (!is_array_structure(leaf)) {
            const nb::object number = number_for(name, kind, values[i]);
            (kind == "float" ? floats : integers).append(number);
            continue;
        }
        const nb::object array = array_for(name, leaf, values[i], dtype_for(kind, dtype));
        arrays.append(array);
        const nb::object shape = array.attr("shape");
        for (; next < extents.size() && extents[next].first == i; ++next)
            integers.append(nb::object(shape[extents[next].second]));
    }
    return nb::make_tuple(floats, integers, arrays);
}

// Operands of a node of a graph, in order; tensors stay, in the dtype that they stand for.
nb::list operands_of_node(const std::string& name, const nb::list& structures,
                          const nb::list& values, const std::vector<size_t>& order,
                          nb::handle dtype) {
    std::vector<nb::object> made;
    for (size_t i = 0; i < structures.size(); ++i) {
        const nb::object leaf = structures[i], value = values[i];
        const std::string kind = kind_of_leaf(leaf);
        const nb::object wanted = dtype_for(kind, dtype);
        if (!is_tensor(value)) {
            made.push_back(is_array_structure(leaf) ? array_for(name, leaf, value, wanted)
                                                    : nb::object(numpy_attribute("asarray")(
                                                          number_for(name, kind, value), wanted)));
            continue;
        }
        const nb::tuple shape{nb::object(value.attr("shape"))};
        if (is_array_structure(leaf) && shape.size() == nb::len(nb::object(leaf.attr("extents"))))
            check_extents(name, leaf, shape);
        const nb::object own = value.attr("dtype");
        if (own.equal(wanted) && !nb::cast<bool>(value.attr("is_weak"))) {
            made.push_back(value);
            continue;
        }
        check_kind(name, kind, own, "an array");
        made.push_back(value.attr("astype")(wanted));
    }
    nb::list operands;
    for (const size_t i : order) operands.append(made.at(i));
    return operands;
}

bool is_list_or_tuple(nb::handle value) {
    return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
}

std::vector<int64_t> shape_of_given(const std::string& name, nb::handle value) {
    nb::object shape = is_list_or_tuple(value)
                           ? provided("knossos_as_array")(name, value).attr("shape")
                           : nb::getattr(value, "shape", nb::make_tuple());
    return nb::cast<std::vector<int64_t>>(nb::tuple(nb::list(shape)));
}

// A number for each of the outer rows, or a single one, as one for each row.
nb::object for_each_row(const std::string& name, const std::string& kind, nb::handle value,
                        std::vector<int64_t> shape, const std::vector<int64_t>& rows,
                        nb::handle dtype, bool is_lazy) {
    if (!std::equal(shape.begin(), shape.end(), rows.begin())) return nb::borrow(value);  // refused
    const bool is_single = shape.empty();
    shape.resize(rows.size(), 1);
    if (is_tensor(value))
        return wrap_array(numpy::broadcast_to(numpy::reshape(tensor_from(value), shape), rows));
    if (!is_single)
        return numpy_attribute("broadcast_to")(
            numpy_attribute("asarray")(value).attr("reshape")(tuple_from(shape)), tuple_from(rows));
    const nb::object number = number_for(name, kind, nb::borrow(value));
    if (!is_lazy) return numpy_attribute("full")(tuple_from(rows), number, dtype);
    // It lies where the tensors do.
    return wrap_array(
        numpy::broadcast_to(tensor_from(numpy_attribute("asarray")(number, dtype)), rows));
}

// What is given to a kernel that is mapped over so many axes: numbers in place of one for each row
// stand for that many.
nb::list given_in_rows(const std::string& name, const std::string& inner,
                       const nb::list& structures, const nb::list& leaves, size_t depth,
                       nb::handle of_floats) {
    std::vector<std::vector<int64_t>> shapes;
    std::vector<int64_t> rows;
    bool is_lazy = false;
    for (const nb::handle leaf : leaves) {
        shapes.push_back(shape_of_given(name, leaf));
        is_lazy = is_lazy || is_tensor(leaf);
        if (rows.empty() && shapes.back().size() >= depth)
            rows.assign(shapes.back().begin(),
                        shapes.back().begin() + static_cast<std::ptrdiff_t>(depth));
    }
    user_check(!rows.empty(), name, ": numbers stand for arrays, whose first axis is that of the ",
               "calls of ", inner, ". At least one array is required.");
    nb::list made;
    for (size_t i = 0; i < nb::len(leaves); ++i) {
        const nb::object structure = structures[i], leaf = leaves[i];
        const bool is_number = is_array_structure(structure) &&
                               nb::len(nb::object(structure.attr("extents"))) == depth;
        const std::string kind = kind_of_leaf(structure);
        made.append(shapes[i].size() < depth && is_number
                        ? for_each_row(name, kind, leaf, shapes[i], rows,
                                       dtype_for(kind, of_floats), is_lazy)
                        : leaf);
    }
    return made;
}

// TypeError for lists of tensors whose gradients would be lost.
void refuse_lists_with_gradients(const std::string& name, nb::handle values) {
    for (const nb::handle value : values) {
        if (!is_list_or_tuple(value)) {
            const nb::object requires_grad = nb::getattr(value, "requires_grad", nb::none());
            user_check<TypeError>(PyObject_IsTrue(requires_grad.ptr()) != 1, name,
                                  ": an argument is a list of tensors that require gradients, "
                                  "which would be lost. One tensor is required: torch.stack(x).");
            continue;
        }
        const of_kernels::Deeper deeper;
        refuse_lists_with_gradients(name, value);
    }
}

// TypeError for the first that is no number of its kind.
void refuse_other_numbers(const std::string& name, const nb::list& leaves,
                          const std::vector<std::string>& kinds) {
    for (size_t i = 0; i < std::min(nb::len(leaves), kinds.size()); ++i) {
        PyObject* leaf = nb::object(leaves[i]).ptr();
        const bool fits = kinds[i] == "bool"  ? PyBool_Check(leaf)
                          : kinds[i] == "int" ? PyLong_Check(leaf)
                                              : PyLong_Check(leaf) || PyFloat_Check(leaf);
        user_check<TypeError>(fits, name, ": ", Shown{leaf}, " stands for an argument of type ",
                              kinds[i],
                              ". A value of that type, an array or a tensor is required.");
    }
}

// NumPy's numbers in place of arrays that have no axes.
nb::object numbers_without_axes(nb::handle made) {
    if (PyTuple_Check(made.ptr())) {
        nb::list parts;
        for (const nb::handle part : made) parts.append(numbers_without_axes(part));
        return nb::tuple(parts);
    }
    const bool has_axes = nb::cast<int64_t>(made.attr("ndim")) > 0;
    return has_axes ? nb::borrow(made) : nb::object(made[nb::make_tuple()]);
}

}  // namespace

void bind_knossos_numbers(nb::module_& module) {
    module.def("number_for", number_for, nb::arg("name"), nb::arg("kind"), nb::arg("value"),
               "The number that stands for an argument of that kind. TypeError for what is none, "
               "OverflowError for one that does not fit.");
    module.def("given_in_rows", given_in_rows, nb::arg("name"), nb::arg("inner"),
               nb::arg("structures"), nb::arg("leaves"), nb::arg("depth"), nb::arg("of_floats"));
    module.def(
        "refuse_lists_with_gradients",
        [](const std::string& name, const nb::list& leaves) {
            for (const nb::handle leaf : leaves)
                if (is_list_or_tuple(leaf)) refuse_lists_with_gradients(name, leaf);
        },
        nb::arg("name"), nb::arg("leaves"));
    module.def("refuse_other_numbers", refuse_other_numbers, nb::arg("name"), nb::arg("leaves"),
               nb::arg("kinds"));
    module.def("numbers_without_axes", numbers_without_axes, nb::arg("made"));
    module.def("fitted_leaves", fitted_leaves, nb::arg("name"), nb::arg("leaves"), nb::arg("kinds"),
               "What stands for numbers of these kinds, element by element.");
    module.def("arranged", arranged, nb::arg("name"), nb::arg("structures"), nb::arg("values"),
               nb::arg("operands"), nb::arg("extents"), nb::arg("dtype"),
               "(floats, integers, arrays) as code takes them.");
    module.def("operands_of_node", operands_of_node, nb::arg("name"), nb::arg("structures"),
               nb::arg("values"), nb::arg("order"), nb::arg("dtype"),
               "Operands of a node of a graph; tensors stay, in the dtype that they stand for.");
}

}  // namespace composit::python

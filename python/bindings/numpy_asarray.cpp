// What numpy.asarray makes of Python's values: tensors.
#include "anywhere.h"
#include "casters.h"
#include "composit/ir/dtype_traits.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/manipulation.h"
#include "content.h"
#include "flags.h"
#include "location.h"
#include "numbers.h"
#include "numpy.h"
#include "provided.h"
#include "shown.h"

#include <string>

namespace composit::python {
namespace {

constexpr int deepest_list = 64;  // NumPy's arrays have at most so many axes, and lists may hold
                                  // themselves

bool is_list(nb::handle value) { return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()); }

// Whether a tensor is among the items of lists within lists.
bool holds_tensors(nb::handle items, int depth) {
    if (depth == 0) return false;
    for (nb::handle item : items)
        if (is_tensor(item) || (is_list(item) && holds_tensors(item, depth - 1))) return true;
    return false;
}

// A tensor of torch's as one that NumPy takes, over the same memory where it can be: without bits
// that conjugate or negate it, and dtypes that NumPy lacks, which torch does not give, as an array.
// All else as it is.
nb::object without_torch(nb::handle value) {
    if (!has_attribute(value, "resolve_conj")) return nb::borrow(value);
    const nb::object plain = value.attr("resolve_conj")().attr("resolve_neg")();
    const nb::object asked = plain.attr("dtype");
    const std::string path = nb::str(asked).c_str();  // "torch.bfloat16"
    const auto dtype = ir::find_dtype(std::string_view(path).substr(path.rfind('.') + 1));
    const bool is_lacking = dtype && ir::is_extension(*dtype);
    if (!is_lacking || nb::cast<bool>(plain.attr("requires_grad"))) return plain;
    const std::string whole(ir::name(ir::unsigned_of_size(ir::size_of(*dtype))));
    return plain.attr("view")(nb::module_::import_("torch").attr(whole.c_str()))
        .attr("numpy")()
        .attr("view")(dtype_object(*dtype));
}

void refuse_masked(nb::object value, const std::string& what) {
    static const nb::object& masked = *new nb::object(numpy_attribute("ma").attr("MaskedArray"));
    std::vector<nb::object> waiting{std::move(value)};
    while (!waiting.empty()) {
        const nb::object one = std::move(waiting.back());
        waiting.pop_back();
        if (PyList_Check(one.ptr()) || PyTuple_Check(one.ptr())) {
            for (const nb::handle part : one) waiting.push_back(nb::borrow(part));
        } else if (PyDict_Check(one.ptr())) {
            for (const nb::handle part : nb::object(one.attr("values")()))
                waiting.push_back(nb::borrow(part));
        } else if (nb::isinstance(one, masked)) {
            const auto shape = nb::cast<std::vector<int64_t>>(one.attr("shape"));
            std::string shown = shape.empty()
                                    ? std::string(nb::repr(one).c_str())
                                    : text(Said{one.attr("dtype")}, "[", join(shape), "]");
            if (shape.empty() && shown.size() > 40) shown = shown.substr(0, 39) + "…";
            fail<TypeError>(what, " is given a masked array, ", shown,
                            ", whose mask would be lost. An array without one is required: "
                            "x.filled(…) or x.compressed().");
        }
    }
}

// numpy.asarray(value, dtype), with errors of its classes.
nb::object converted(nb::handle value, nb::handle dtype) {
    std::string kind = "booleans, integers, floats or complex numbers";
    nb::object target = nb::none();
    if (!dtype.is_none()) {
        const ir::DType to = dtype_from(dtype);
        target = dtype_object(to);
        kind = nb::str(target).c_str();
    }
    try {
        return numpy_attribute("asarray")(without_torch(value), target);
    } catch (nb::python_error& error) {
        const std::string text = nb::str(error.value()).c_str(), required = "An array of " + kind;
        if (error.matches(PyExc_TypeError)) refuse_argument(value, required.c_str());
        if (error.matches(PyExc_OverflowError))
            refuse_argument<OverflowError>(value, required.c_str());
        if (!error.matches(PyExc_ValueError)) throw;
        if (text.starts_with("setting an array element with a sequence"))
            throw ValueError(nb::str(provided("said")(text)).c_str());
        refuse_argument<ValueError>(value, required.c_str());
    }
}

bool names_a_dtype(nb::handle text) {
    try {
        numpy_attribute("dtype")(text);
        return true;
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_TypeError)) throw;
        return false;
    }
}

// copy= as True, False or None; NumPy's own code has names for them.
nb::object copy_mode(nb::object copy) {
    if (PyBool_Check(copy.ptr()) || !has_attribute(copy, "name")) return copy;
    const nb::object name = copy.attr("name");
    if (name.equal(nb::str("ALWAYS"))) return nb::bool_(true);
    if (name.equal(nb::str("NEVER"))) return nb::bool_(false);
    return name.equal(nb::str("IF_NEEDED")) ? nb::none() : copy;
}

nb::object of_tensor(nb::object x, nb::handle dtype, const std::string& name, bool is_copy) {
    // What is known needs no node.
    if (dtype.is_none() && name.empty() && !content_of<LazyTensor>(x).cell()->type().weak)
        return is_copy || is_scalar(x) ? nb::object(x.attr("copied")()) : x;
    Tensor tensor = content_of<LazyTensor>(x).tensor();
    if (!dtype.is_none())
        if (const ir::DType to = dtype_from(dtype); to != tensor.dtype())
            x = wrap_copy(tensor = numpy::astype(tensor, to));
    if (tensor.type().weak) x = wrap(tensor = numpy::strong(tensor));
    if (!name.empty() && !is_copy)
        return wrap_array({ir::with_name(tensor.node(), name), tensor.output_index()});
    return is_copy || is_scalar(x) ? nb::object(x.attr("copied")()) : x;
}

nb::object asarray(nb::object a, nb::object dtype, std::optional<std::string> name,
                   nb::object copy) {
    copy = copy_mode(std::move(copy));
    PyObject* const value = a.ptr();
    const bool is_number = PyLong_Check(value) || PyFloat_Check(value) || PyComplex_Check(value);
    const bool is_shared = copy.is(nb::bool_(false));
    user_check(!(is_shared && is_number),
               "asarray: Unable to avoid copy of a number. copy is False.");
    // The prototype's asarray(array, name): its second argument, where NumPy has dtype.
    if (nb::isinstance<nb::str>(dtype) && !name && !is_tensor(a) && !is_number &&
        !names_a_dtype(dtype)) {
        name = nb::cast<std::string>(dtype);
        dtype = nb::none();
    }
    if (!is_tensor(a) && has_attribute(a, "lazy_tensor")) a = a.attr("lazy_tensor");
    const std::string label = name.value_or("");
    if (is_list(a)) {
        if (PyObject* const found = stacked_numbers(a.ptr())) {
            a = nb::steal(found);
            if (dtype.is_none() && label.empty()) return a;
        } else if (holds_tensors(a, deepest_list)) {
            a = provided("stack")(a);
        }
    }
    if (is_tensor(a)) return of_tensor(std::move(a), dtype, label, truth_of(copy));
    return wrap_array(constant_of(array_from(converted(a, dtype), !is_shared), label));
}

}  // namespace

void bind_numpy_asarray(nb::module_& module) {
    module.def("asarray", asarray, nb::arg("a").none(), nb::arg("dtype").none(),
               nb::arg("name").none(), nb::arg("copy").none(), nb::call_guard<Located>());
    module.def(
        "converted", [](nb::handle value, nb::handle dtype) { return converted(value, dtype); },
        nb::arg("value").none(), nb::arg("dtype").none(),
        "numpy.asarray(value, dtype), with what is wrong in the words of the user's call.");
    module.def("without_torch", without_torch, nb::arg("value").none(),
               "A tensor of torch's as NumPy takes it; all else as it is.");
    module.def(
        "refuse_masked", &refuse_masked, nb::arg("value").none(), nb::arg("what"),
        "TypeError where the value, or one in its lists, tuples and dictionaries, is a masked "
        "array: tensors have no masks. `what` takes it, in the words of the error.");
    module.def(
        "holds_tensors", [](nb::handle items) { return holds_tensors(items, deepest_list); },
        "Whether a tensor is among the items of lists within lists.");
}

}  // namespace composit::python

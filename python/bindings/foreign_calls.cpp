// composit/runtime/foreign.h for Python: nodes that call a Python function when they are evaluated.
#include "arrays.h"
#include "bindings.h"
#include "casters.h"
#include "composit/ops/ops.h"
#include "composit/runtime/foreign.h"
#include "dlpack_types.h"
#include "interpreter_lock.h"
#include "location.h"
#include "shown.h"

#include <nanobind/ndarray.h>

namespace composit::python {
namespace {

using runtime::ForeignArray;
using Integers = std::vector<int64_t>;

constexpr const char* python_function = "python.call";

// Functions by number; never released, as nodes may outlive the interpreter.
std::vector<PyObject*>& functions() {
    static auto* all = new std::vector<PyObject*>;
    return *all;
}

// An ndarray over memory that lives while the call does.
nb::object view_of(void* data, ir::DType dtype, const Integers& shape, const Integers& strides) {
    const std::vector<size_t> lengths(shape.begin(), shape.end());
    const nb::ndarray<nb::numpy> view(data, lengths.size(), lengths.data(), nb::handle(),
                                      strides.data(), dlpack_dtype(dtype));
    return nb::cast(view, nb::rv_policy::reference);
}

// Of complex128: a pair, the real and the imaginary parts.
nb::object view_of(const ForeignArray& array) {
    const Integers shape(array.shape.begin(), array.shape.end());
    if (array.dtype != ir::DType::complex128)
        return view_of(array.data, array.dtype, shape, array.strides);
    return nb::make_tuple(
        view_of(array.data, ir::DType::float64, shape, array.strides),
        view_of(array.imaginary, ir::DType::float64, shape, array.imaginary_strides));
}

nb::list views_of(const std::vector<ForeignArray>& arrays) {
    nb::list views;
    for (const ForeignArray& array : arrays) views.append(view_of(array));
    return views;
}

void call_python(const runtime::ForeignCall& call) {
    const Acquired acquired;
    const nb::handle function(functions()[static_cast<size_t>(call.options[0])]);
    function(views_of(call.inputs), views_of(call.outputs));
}

// What kernels hold of elements of a dtype: exactly the same numbers.
nb::object held_dtype(nb::handle dtype) {
    const nb::object given = numpy_attribute("dtype")(dtype);
    const auto name = nb::cast<std::string>(given.attr("name"));
    const std::optional<ir::DType> known = ir::find_dtype(name);
    if (known && ir::is_short_float(*known)) return numpy_attribute("dtype")("float32");
    return name == "complex64" ? nb::object(numpy_attribute("dtype")("complex128")) : given;
}

// A copy of what kernels hold, complex numbers of their parts.
nb::object whole_copy(nb::handle held) {
    if (!PyTuple_Check(held.ptr())) return held.attr("copy")();
    const nb::object real = held[0], imaginary = held[1];
    const nb::object whole =
        numpy_attribute("empty")(real.attr("shape"), numpy_attribute("complex128"));
    nb::setattr(whole, "real", real);
    nb::setattr(whole, "imag", imaginary);
    return whole;
}

void write_all(nb::handle place, const nb::object& values) {
    place.attr("__setitem__")(nb::ellipsis(), values);
}

// The function on copies of what kernels hold, its results where kernels read them. `chosen`: which
// arguments are arrays, the others are those of `rest`; `types`: (shape, dtype) of each result.
void call_opaque(const nb::object& function, const std::vector<bool>& chosen, const nb::list& rest,
                 const nb::dict& attributes, const nb::list& dtypes, const nb::list& types,
                 bool is_several, const nb::list& inputs, const nb::list& outputs) {
    nb::list arguments;
    size_t next = 0;
    for (size_t i = 0; i < chosen.size(); ++i) {
        if (!chosen[i]) {
            arguments.append(nb::object(rest[i]));
            continue;
        }
        arguments.append(whole_copy(inputs[next]).attr("astype")(nb::object(dtypes[next])));
        ++next;
    }
    const nb::object made = function(*arguments, **attributes);
    nb::list results;
    if (is_several)
        results = nb::list(made);
    else
        results.append(made);
    const auto name = nb::cast<std::string>(nb::getattr(function, "__name__", nb::str("opaque")));
    if (results.size() != types.size())
        throw nb::value_error(
            text(name, ": ", results.size(), " results. ", types.size(), " are required.").c_str());
    for (size_t i = 0; i < types.size(); ++i) {
        const nb::object shape = types[i][0], dtype = types[i][1], place = outputs[i];
        nb::object array = numpy_attribute("asarray")(nb::object(results[i]));
        const nb::object own_shape = array.attr("shape"), own_dtype = array.attr("dtype");
        if (!own_shape.equal(shape) ||
            !nb::cast<bool>(numpy_attribute("can_cast")(own_dtype, dtype, "same_kind")))
            throw nb::value_error(text(name, ": a result of shape ", Shown{own_shape},
                                       " and dtype ", Said{own_dtype}, ". Shape ", Shown{shape},
                                       " and dtype ", Said{dtype},
                                       " are required, as wrap_as_operation's `result` says.")
                                      .c_str());
        array = array.attr("astype")(dtype).attr("astype")(held_dtype(dtype));
        if (PyTuple_Check(place.ptr())) {
            write_all(place[0], array.attr("real"));
            write_all(place[1], array.attr("imag"));
        } else {
            write_all(place, array);
        }
    }
}

}  // namespace

void bind_foreign_calls(nb::module_& module) {
    module.def("call_opaque", &call_opaque, nb::arg("function"), nb::arg("chosen"), nb::arg("rest"),
               nb::arg("attributes"), nb::arg("dtypes"), nb::arg("types"), nb::arg("is_several"),
               nb::arg("inputs"), nb::arg("outputs"));
    module.def("held_dtype", &held_dtype, nb::arg("dtype"));
    runtime::register_foreign_function(python_function, call_python);
    // The number of a function of two lists, which reads the arrays of the first and fills those
    // of the second.
    module.def("keep_python_function", [](const nb::object& function) {
        functions().push_back(nb::object(function).release().ptr());
        return static_cast<int64_t>(functions().size() - 1);
    });
    module.def(
        "call_python",
        [](const std::string& name, int64_t number, const std::vector<Tensor>& operands,
           const std::vector<Integers>& shapes, const nb::list& dtypes) {
            std::vector<ir::TensorType> types;
            for (size_t i = 0; i < shapes.size(); ++i)
                types.push_back({shapes[i], dtype_from(dtypes[i])});
            return ops::foreign_call(name, python_function, {number}, operands, types);
        },
        nb::call_guard<Located>());
}

}  // namespace composit::python

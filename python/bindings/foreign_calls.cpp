// composit/runtime/foreign.h for Python: nodes that call a Python function when they are evaluated.
#include "arrays.h"
#include "bindings.h"
#include "casters.h"
#include "composit/ops/ops.h"
#include "composit/runtime/foreign.h"
#include "interpreter_lock.h"
#include "dlpack_types.h"
#include "location.h"

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

}  // namespace

void bind_foreign_calls(nb::module_& module) {
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

// Calls of autograd.Functions: forward runs, and backward is recorded.
#include "user_functions.h"

#include "casters.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/eager/recording.h"
#include "composit/execute/devices.h"
#include "composit/nn/differentiation.h"
#include "composit/numpy/creation.h"
#include "content.h"
#include "location.h"
#include "provided.h"
#include "tape.h"
#include "torch_calls.h"
#include "torch_objects.h"

#include <utility>
#include <vector>

namespace composit::python {
namespace {

bool is_marked(nb::handle marked, nb::handle value) {
    const nb::object number = nb::steal(PyLong_FromVoidPtr(value.ptr()));
    const int found = PySequence_Contains(marked.ptr(), number.ptr());
    if (found < 0) throw nb::python_error();
    return found == 1;
}

ir::Tensor cut(nb::handle tensor) {
    const Located scope;
    return nn::stop_gradient(held_by(tensor));
}

// The output with the record, whose node is its own, where gradients stop.
nb::object output_of(nb::handle value, const nb::object& context, const nb::object& record) {
    nb::object made;
    if (is_marked(nb::object(context.attr("_dirty")), value)) {
        made = nb::borrow(value);
        const nb::object lazy = lazy_of(made);
        content_of<LazyTensor>(lazy).replace(cut(value));
    } else {
        made = wrapped_tensor(cut(value));
        // What backward was to have of the output is the output with its record.
        nb::list saved;
        for (nb::handle x : nb::object(context.attr("_saved")))
            saved.append(x.is(value) ? made : nb::borrow(x));
        context.attr("save_for_backward")(*saved);
    }
    made.attr("_record") = record;
    as_tensor(made)->is_tainted = 0;
    return made;
}

// Zeros like the tensor, and on its device.
nb::object zeros_beside(nb::handle tensor) {
    const Located scope;
    const ir::Tensor x = held_by(tensor);
    return wrap_cell(eager::Cell::make(execute::beside(numpy::zeros(x.shape(), x.dtype()), x)));
}

nb::object recorded_result(const nb::object& record, const nb::object& result,
                           const nb::object& context) {
    const nb::object left_out = context.attr("_not_differentiable");
    const bool has_zeros = nb::cast<bool>(context.attr("_materializes"));
    nb::list outputs, nodes, zeros;
    for (nb::handle value : as_parts(result)) {
        if (!is_tensor_of_torch(value) || is_marked(left_out, value) ||
            !ir::is_inexact(type_seen(value).dtype)) {
            outputs.append(value);
            nodes.append(nb::none());
            zeros.append(has_zeros && is_tensor_of_torch(value) ? zeros_beside(value) : nb::none());
            continue;
        }
        const nb::object made = output_of(value, context, record);
        // The node as it is now, whatever is written into the tensor later.
        nodes.append(lazy_of(made).attr("copied")());
        zeros.append(nb::none());
        outputs.append(made);
    }
    record.attr("outputs") = nodes;
    record.attr("zeros") = zeros;
    const bool is_one = !PyTuple_Check(result.ptr()) && !PyList_Check(result.ptr());
    return is_one ? nb::object(outputs[0]) : nb::object(nb::tuple(outputs));
}

nb::object forward_of(const nb::object& function, const nb::object& context, const nb::tuple& args,
                      const nb::dict& kwargs) {
    const eager::NoGrad scope;
    const nb::object base = provided("autograd_function");
    const nb::object set_up = function.attr("setup_context");
    if (set_up.is(nb::object(base.attr("setup_context"))))
        return function.attr("forward")(context, *args, **kwargs);
    nb::object result = function.attr("forward")(*args, **kwargs);
    set_up(context, args, result);
    return result;
}

// What forward wrote into, it returns; it is no leaf whose gradient is wanted.
void check_dirty(const nb::object& context, const nb::tuple& args, const nb::object& result) {
    const nb::object dirty = context.attr("_dirty");
    if (nb::len(dirty) == 0) return;
    size_t returned = 0;
    for (nb::handle value : as_parts(result)) returned += is_marked(dirty, value);
    user_check<RuntimeError>(
        returned >= nb::len(dirty),
        "Some elements marked as dirty during the forward method were not returned as output. The "
        "inputs that are modified inplace must all be outputs of the Function.");
    for (nb::handle value : args)
        user_check<RuntimeError>(
            !is_tensor_of_torch(value) || !is_marked(dirty, value) || !eager::is_recording() ||
                !as_tensor(value)->is_leaf,
            "a leaf Variable that requires grad has been used in an in-place operation.");
}

// Calls forward, and records backward.
nb::object apply_function(const nb::object& function, const nb::tuple& args,
                          const nb::dict& kwargs) {
    const FunctionTransforms& around = function_transforms();
    if (around.ruled) return call_with_rules(function, args, kwargs);
    if (around.graphs) {
        PyErr_SetNone(provided("function_met").ptr());
        throw nb::python_error();
    }
    const nb::object context = provided("function_context")();
    nb::list needed, recorded, tensors;
    for (nb::handle value : args) {
        const bool is_tensor = is_tensor_of_torch(value);
        const bool is_needed = is_tensor && eager::is_recording() && is_recorded(as_tensor(value));
        tensors.append(is_tensor ? nb::borrow(value) : nb::none());
        needed.append(is_needed);
        if (is_needed) recorded.append(value);
    }
    context.attr("needs_input_grad") = nb::tuple(needed);
    for (nb::handle tensor : recorded) note_read(tensor);
    const nb::object result = forward_of(function, context, args, kwargs);
    check_dirty(context, args, result);
    if (recorded.size() == 0) return result;
    nb::list operands, nodes;
    for (nb::handle tensor : recorded) operands.append(record_of(tensor));
    const std::string name = std::string(nb::str(function.attr("__name__")).c_str()) + "Backward";
    const nb::object record = provided("function_record")(name, operands, function, context);
    for (nb::handle tensor : tensors)
        nodes.append(tensor.is_none() ? nb::none() : nb::object(lazy_of(tensor).attr("copied")()));
    record.attr("inputs") = tensors;
    record.attr("nodes") = nodes;
    nb::object made = recorded_result(record, result, context);
    record.attr("has_tangents") = give_tangents(function, context, args, made);
    return made;
}

}  // namespace

FunctionTransforms& function_transforms() {
    static thread_local FunctionTransforms all;
    return all;
}

void bind_user_functions(nb::module_& module) {
    module.def("apply_function", apply_function, nb::arg("function"), nb::arg("args"),
               nb::arg("kwargs"), "Calls an autograd.Function's forward, and records backward.");
    bind_function_transforms(module);
}

}  // namespace composit::python

#include "flows.h"

#include "bindings.h"
#include "casters.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/manipulation.h"
#include "content.h"
#include "following.h"
#include "shown.h"
#include "tape.h"
#include "torch_calls.h"
#include "torch_objects.h"

namespace composit::python {
namespace {

// Real into complex, or complex into real, would not be a gradient of that output.
void check_complex_alike(nb::handle output, nb::handle gradient, size_t number) {
    const bool is_complex = ir::is_complex(type_seen(output).dtype);
    user_check<RuntimeError>(
        is_complex == ir::is_complex(type_seen(gradient).dtype),
        "For complex Tensors, both grad_output and output are required to have the same dtype. "
        "Mismatch in dtype: grad_output[",
        number, "] has a dtype of ", Said{nb::object(gradient.attr("dtype"))}, " and output[",
        number, "] has a dtype of ", Said{nb::object(output.attr("dtype"))}, ".");
}

// What flows into an output of that number: what is given, or ones into a scalar.
nb::object flow_into(nb::handle output, nb::handle gradient, size_t number) {
    if (gradient.is_none()) {
        const ir::TensorType type = type_seen(output);
        user_check<RuntimeError>(ir::element_count(type.shape) == 1,
                                 "grad can be implicitly created only for scalar outputs");
        check_real_output(output);
        return wrap_array(numpy::ones(type.shape, type.dtype));
    }
    check_flow(output, gradient, number);
    const nb::object here = output.attr("device"), there = gradient.attr("device");
    user_check<RuntimeError>(type_seen(gradient).shape.empty() || here.equal(there),
                             "backward: grad_output[0] lies on ", nb::str(there).c_str(),
                             " and output[0] on ", nb::str(here).c_str(),
                             ". One device is required: move one of them with .to(device).");
    if (as_tensor(gradient)->is_pending && !materialize_by_structure(gradient))
        (*world().materialize)(nb::make_tuple(gradient), true);
    return lazy_of(gradient);
}

}  // namespace

nb::list listed_tensors(nb::handle value) {
    nb::list made;
    if (is_tensor_of_torch(value))
        made.append(value);
    else
        made = nb::list(nb::borrow(value));
    return made;
}

void check_flow(nb::handle output, nb::handle gradient, size_t number) {
    user_check<RuntimeError>(type_seen(gradient).shape == type_seen(output).shape,
                             "Mismatch in shape: grad_output[", number, "] has a shape of ",
                             Said{nb::object(gradient.attr("shape"))}, " and output[", number,
                             "] has a shape of ", Said{nb::object(output.attr("shape"))}, ".");
    check_complex_alike(output, gradient, number);
}

void check_real_output(nb::handle output) {
    user_check<RuntimeError>(ir::is_floating(type_seen(output).dtype),
                             "grad can be implicitly created only for real scalar outputs but got ",
                             Said{nb::object(output.attr("dtype"))});
}

Flows flows_into(nb::handle tensors, nb::handle gradients) {
    const nb::list outputs = listed_tensors(tensors);
    nb::list given;
    if (!gradients.is_none())
        given = listed_tensors(gradients);
    else
        for (size_t i = 0; i < nb::len(outputs); ++i) given.append(nb::none());
    user_check<RuntimeError>(nb::len(outputs) <= nb::len(given), "got ", nb::len(outputs),
                             " tensors and ", nb::len(given), " gradients");
    for (size_t i = 0; i < nb::len(outputs); ++i)
        user_check<RuntimeError>(is_recorded(torch_tensor(outputs[i])), "element ", i,
                                 " of tensors does not require grad and does not have a grad_fn");
    std::vector<Tensor> incoming;
    for (size_t i = 0; i < nb::len(outputs); ++i) {
        const nb::object flow = flow_into(outputs[i], given[i], i);
        const Tensor found = content_of<LazyTensor>(flow).tensor();
        const ir::DType wanted = type_seen(outputs[i]).dtype;
        incoming.push_back(found.dtype() == wanted ? found : numpy::astype(found, wanted));
    }
    return {outputs, given, std::move(incoming)};
}

}  // namespace composit::python

// backward() and grad() of composit.torch: what flows into outputs, and the gradients that leaves
// and callers get (composit/torch/backward.py).
#include "bindings.h"
#include "casters.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/eager/strides.h"
#include "composit/ir/array.h"
#include "composit/numpy/creation.h"
#include "content.h"
#include "location.h"
#include "provided.h"
#include "shown.h"
#include "tape.h"
#include "tape_hooks.h"
#include "torch_objects.h"
#include "trace_keys.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

nb::list listed_tensors(nb::handle value) {
    nb::list made;
    if (is_tensor_of_torch(value))
        made.append(value);
    else
        made = nb::list(nb::borrow(value));
    return made;
}

// What flows into an output: what is given, or ones into a scalar.
nb::object flow_into(nb::handle output, nb::handle gradient) {
    if (gradient.is_none()) {
        const ir::TensorType type = type_seen(output);
        user_check<RuntimeError>(ir::element_count(type.shape) == 1,
                                 "grad can be implicitly created only for scalar outputs");
        return wrap_array(numpy::ones(type.shape, type.dtype));
    }
    user_check<RuntimeError>(type_seen(gradient).shape == type_seen(output).shape,
                             "Mismatch in shape: grad_output[0] has a shape of ",
                             Said{nb::object(gradient.attr("shape"))},
                             " and output[0] has a shape of ",
                             Said{nb::object(output.attr("shape"))}, ".");
    const nb::object here = output.attr("device"), there = gradient.attr("device");
    user_check<RuntimeError>(type_seen(gradient).shape.empty() || here.equal(there),
                             "backward: grad_output[0] lies on ", nb::str(there).c_str(),
                             " and output[0] on ", nb::str(here).c_str(),
                             ". One device is required: move one of them with .to(device).");
    if (as_tensor(gradient)->is_pending && !materialize_by_structure(gradient))
        (*world().materialize)(nb::make_tuple(gradient), true);
    return lazy_of(gradient);
}

// The outputs, what is given for each, and what flows into their nodes.
nb::tuple flows_into(nb::handle tensors, nb::handle gradients) {
    const nb::list outputs = listed_tensors(tensors);
    nb::list given;
    if (!gradients.is_none())
        given = listed_tensors(gradients);
    else
        for (size_t i = 0; i < nb::len(outputs); ++i) given.append(nb::none());
    for (size_t i = 0; i < nb::len(outputs); ++i)
        user_check<RuntimeError>(is_recorded(torch_tensor(outputs[i])), "element ", i,
                                 " of tensors does not require grad and does not have a grad_fn");
    nb::list flows;
    for (size_t i = 0; i < std::min(nb::len(outputs), nb::len(given)); ++i)
        flows.append(flow_into(outputs[i], given[i]));
    return nb::make_tuple(outputs, given, flows);
}

nb::object record_over(const char* name, nb::handle tensors) {
    std::vector<Ref<eager::TapeNode>> operands;
    for (nb::handle tensor : tensors) operands.push_back(tape_node(record_of(tensor)));
    return make_record(ir::intern(name), std::move(operands));
}

nb::object through_hooks_of(nb::handle tensor, nb::object gradient) {
    PyObject* const hooks = as_tensor(tensor)->hooks;
    if (!is_there(hooks)) return gradient;
    return after_hooks(hooks, std::move(gradient));
}

// A gradient's cell in memory as that of a tensor.
nb::object laid_as_tensor(nb::handle lazy, nb::handle like) {
    const nb::object held = lazy_of(like);
    const LazyTensor& other = content_of<LazyTensor>(held);
    return wrap_cell(
        eager::Cell::make(content_of<LazyTensor>(lazy).tensor(),
                          eager::strides_of_copy(other.type().shape, other.cell()->strides())));
}

// Adds a gradient to a leaf's grad, through its hooks.
void accumulate(nb::handle leaf, nb::handle gradient, bool create_graph, nb::handle outputs) {
    nb::object made = new_tensor();
    made.attr("_lazy") = gradient;
    enter_gradient(made);
    if (create_graph)
        put(as_tensor(made)->record, record_over("AccumulateGradBackward0", outputs));
    else
        as_tensor(made)->is_tainted = 1;
    made = through_hooks_of(leaf, made);
    TensorObject* const target = as_tensor(leaf);
    if (!is_there(target->grad)) {
        made.attr("_lazy") = laid_as_tensor(lazy_of(made), target->is_leaf ? leaf : made);
        put(target->grad, made);
    } else if (create_graph) {
        put(target->grad, nb::handle(target->grad) + made);
    } else {
        const nb::object before = nb::borrow(target->grad);
        const nb::object lazy = lazy_of(before);
        content_of<LazyTensor>(lazy).replace(tensor_from(nb::object(lazy + lazy_of(made))));
        as_tensor(before)->is_tainted = 1;
        enter_gradient(before);
    }
    if (!is_there(target->post_hooks)) return;
    for (nb::handle hook : nb::list(nb::object(nb::handle(target->post_hooks).attr("values")())))
        hook(leaf);
}

// What grad() returns, of the gradients by the inputs. `reached` are leaves and records below the
// outputs; the records of results follow `flows`, where there are such.
nb::tuple gradients_given(nb::handle inputs, nb::handle gradients, nb::handle reached,
                          nb::handle flows, bool allow_unused, bool with_zeros) {
    std::unordered_set<PyObject*> seen;
    for (nb::handle each : reached) seen.insert(each.ptr());
    nb::list results;
    for (size_t i = 0; i < nb::len(inputs); ++i) {
        const nb::object input = inputs[i];
        const TensorObject* const tensor = as_tensor(input);
        if (!seen.contains(tensor->is_leaf ? input.ptr() : tensor->record) && !with_zeros) {
            user_check<RuntimeError>(
                allow_unused,
                "One of the differentiated Tensors appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior.");
            results.append(nb::none());
            continue;
        }
        nb::object made = new_tensor();
        made.attr("_lazy") = nb::object(gradients[i]);
        enter(made);
        if (!flows.is_none())
            put(as_tensor(made)->record, record_over("GradBackward0", flows));
        else
            as_tensor(made)->is_tainted = 1;
        results.append(through_hooks_of(input, made));
    }
    return nb::tuple(results);
}

}  // namespace

void bind_tape_gradients(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("flows_into", flows_into, nb::arg("tensors"), nb::arg("gradients").none(), located,
               "The outputs, what is given for each, and what flows into their nodes.");
    module.def("accumulate", accumulate, nb::arg("leaf"), nb::arg("gradient"),
               nb::arg("create_graph"), nb::arg("outputs"), located,
               "Adds a gradient to a leaf's grad, through its hooks.");
    module.def("gradients_given", gradients_given, nb::arg("inputs"), nb::arg("gradients"),
               nb::arg("reached"), nb::arg("flows").none(), nb::arg("allow_unused"),
               nb::arg("with_zeros"), located, "What grad() returns.");
}

}  // namespace composit::python

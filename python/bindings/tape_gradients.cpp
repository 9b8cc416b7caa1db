// backward() and grad() of composit.torch: what flows into outputs, and the gradients that leaves
// and callers get (composit/torch/backward.py).
#include "bindings.h"
#include "casters.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/eager/recording.h"
#include "composit/eager/strides.h"
#include "composit/ir/array.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/manipulation.h"
#include "content.h"
#include "flags.h"
#include "flows.h"
#include "following.h"
#include "location.h"
#include "provided.h"
#include "shown.h"
#include "tape.h"
#include "tape_hooks.h"
#include "torch_calls.h"
#include "torch_objects.h"
#include "trace_keys.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

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

void call_post_hooks(nb::handle leaf) {
    PyObject* const hooks = as_tensor(leaf)->post_hooks;
    if (!is_there(hooks)) return;
    for (nb::handle hook : nb::list(nb::object(nb::handle(hooks).attr("values")()))) hook(leaf);
}

// Adds a gradient to a leaf's grad, through its hooks.
void accumulate(nb::handle leaf, nb::handle gradient, bool comes, bool create_graph,
                nb::handle outputs) {
    if (!comes) {
        through_hooks_of(leaf, nb::none());
        call_post_hooks(leaf);
        return;
    }
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
    call_post_hooks(leaf);
}

// What grad() returns, of the gradients by the inputs. `reached` are leaves and records below the
// outputs; the records of results follow `flows`, where there are such.
nb::tuple gradients_given(nb::handle inputs, const FoundGradients& found, nb::handle reached,
                          nb::handle flows, bool allow_unused, bool with_zeros) {
    std::unordered_set<PyObject*> seen;
    for (nb::handle each : reached) seen.insert(each.ptr());
    nb::list results;
    for (size_t i = 0; i < nb::len(inputs); ++i) {
        const nb::object input = inputs[i];
        const TensorObject* const tensor = as_tensor(input);
        const bool is_seen = seen.contains(tensor->is_leaf ? input.ptr() : tensor->record);
        if (is_seen && !found.comes[i]) through_hooks_of(input, nb::none());
        if ((!is_seen || !found.comes[i]) && !with_zeros) {
            user_check<RuntimeError>(
                allow_unused,
                "One of the differentiated Tensors appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior.");
            results.append(nb::none());
            continue;
        }
        nb::object made = new_tensor();
        made.attr("_lazy") = nb::object(found.gradients[i]);
        enter(made);
        if (!flows.is_none())
            put(as_tensor(made)->record, record_over("GradBackward0", flows));
        else
            as_tensor(made)->is_tainted = 1;
        results.append(found.comes[i] ? through_hooks_of(input, made) : made);
    }
    return nb::tuple(results);
}

// ----- backward() as an operation of a trace

bool is_unhooked(nb::handle leaf) {
    const TensorObject* const tensor = as_tensor(leaf);
    return !is_there(tensor->grad) && !is_there(tensor->hooks) && !is_there(tensor->post_hooks);
}

// A backward() that is made with nodes, in a trace, of which the next one like it is learnt.
class LearningBackward {
  public:
    LearningBackward(nb::object trace, nb::tuple key, nb::list operands, nb::object state)
        : trace_(std::move(trace)),
          key_(std::move(key)),
          operands_(std::move(operands)),
          state_(std::move(state)),
          is_open_(fields()->is_open) {
        fields()->is_open = 0;  // until it has ended well nothing can follow
    }

    // What the walk over records found, before anything changes.
    void see(const BelowRecords& found) {
        std::unordered_map<PyObject*, size_t> places;
        const nb::list records = nb::borrow<nb::list>(fields()->records);
        for (size_t i = 0; i < nb::len(records); ++i)
            if (!records[i].is_none()) places.emplace(nb::object(records[i]).ptr(), i);
        is_open_ = is_open_ && nb::len(found.leaves) > 0;
        for (nb::handle leaf : found.leaves) {
            const TensorObject* const tensor = as_tensor(leaf);
            is_open_ =
                is_open_ && tensor->mark == fields()->mark && tensor->is_leaf && is_unhooked(leaf);
            places_.append(tensor->place);
        }
        for (nb::handle record : found.records) {
            const auto known = places.find(record.ptr());
            is_open_ = is_open_ && known != places.end();
            if (is_open_) freed_.append(known->second);
        }
        leaves_ = found.leaves;
    }

    // The gradients were made: they are the operation's results.
    void end() {
        if (!is_open_ || world().trace_of_now() != fields()) return;
        if (state_.is_none()) {
            state_ = provided("learn_way")(nb::object(trace_.attr("state")), key_,
                                           nb::make_tuple(provided("backward_operation"), key_[2]),
                                           nb::cpp_function([this] { return learnt(); }));
            if (state_.is_none()) return;
        } else if (!nb::object(state_.attr("leaves")).equal(places_)) {
            return;
        }
        const auto first = nb::cast<int64_t>(nb::object(trace_.attr("add")(state_)));
        fields()->is_open = 1;
        nb::list made;
        for (nb::handle leaf : leaves_) made.append(nb::handle(as_tensor(leaf)->grad));
        register_results(trace_, first, made);
    }

  private:
    TraceObject* fields() const { return reinterpret_cast<TraceObject*>(trace_.ptr()); }

    nb::object learnt() const {
        nb::object state = provided("new_trace_state")();
        const nb::object operation = provided("backward_operation");
        state.attr("leaves") = places_;
        state.attr("freed") = freed_;
        state.attr("operation") = operation;
        state.attr("operands") = nb::tuple(operands_);
        state.attr("line") = nb::object(key_[2]);
        state.attr("is_gradient") = true;
        provided("meet_leaves")(trace_, state);
        const IgnoredErrors scope;
        const nb::object symbols =
            nb::object(trace_.attr("symbols")()) + nb::object(state.attr("stands"));
        state.attr("results") = nb::object(operation.attr("over")(state, symbols));
        return state;
    }

    const nb::object trace_;
    const nb::tuple key_;
    const nb::list operands_;
    nb::object state_;
    bool is_open_;
    nb::list leaves_, places_, freed_;
};

// Whether the gradient of an output cannot be an operand of the trace's next operation.
bool is_outside(nb::handle gradient, nb::handle output, nb::handle trace, nb::list& key,
                nb::list& operands) {
    if (as_tensor(gradient)->is_tainted || !encode(trace, gradient, key, operands)) return true;
    const ir::TensorType type = type_seen(gradient), wanted = type_seen(output);
    const nb::list records =
        nb::borrow<nb::list>(reinterpret_cast<TraceObject*>(trace.ptr())->records);
    return type.shape != wanted.shape || type.dtype != wanted.dtype ||
           !records[static_cast<size_t>(as_tensor(gradient)->place)].is_none();
}

// Nothing where all was done without nodes; else what learns from the call that is made with them.
std::unique_ptr<LearningBackward> backward_of_trace(const nb::object& trace, nb::handle output,
                                                    nb::handle gradient) {
    auto* const fields = reinterpret_cast<TraceObject*>(trace.ptr());
    const nb::object place = provided("place_of_number")(as_tensor(output)->place);
    nb::list parts, operands;
    parts.append(provided("backward_operation"));
    parts.append(place);
    parts.append(reinterpret_cast<uintptr_t>(user_location()));
    operands.append(place);
    if (gradient.is_none()) {
        if (ir::element_count(type_seen(output).shape) != 1) fields->is_open = 0;  // an error
    } else if (is_outside(gradient, output, trace, parts, operands)) {
        interrupt_trace();
    }
    const nb::tuple key(parts);
    const auto learning = [&](nb::object state) {
        return std::make_unique<LearningBackward>(trace, key, operands, std::move(state));
    };
    if (!fields->is_open) {
        trace.attr("build")();
        return learning(nb::none());
    }
    const nb::dict ways = nb::borrow<nb::dict>(nb::object(nb::handle(fields->state).attr("ways")));
    const nb::object state = ways.get(key, nb::none());
    if (state.is_none() || fields->is_built) {
        trace.attr("build")();
        return learning(state);
    }
    const auto leaves = nb::cast<std::vector<int64_t>>(nb::object(state.attr("leaves")));
    for (const int64_t number : leaves)
        if (!is_unhooked(PyList_GET_ITEM(fields->tensors, number))) {
            interrupt_trace();
            return learning(nb::none());
        }
    trace.attr("add")(state);
    make_gradients(trace, state, leaves, nb::borrow<nb::list>(nb::object(state.attr("freed"))));
    return nullptr;
}

std::vector<Tensor> held_by_all(nb::handle tensors) {
    std::vector<Tensor> held;
    for (nb::handle tensor : tensors) held.push_back(held_by(tensor));
    return held;
}

bool keeps_graph(nb::handle retain_graph, bool create_graph) {
    return retain_graph.is_none() ? create_graph : truth_of(retain_graph);
}

void free_records(const nb::list& records) {
    for (nb::handle record : records) free_record(record);
}

// What flows into outputs, by their other name, too.
nb::object flows_by_either_name(nb::handle flows, nb::handle variables) {
    if (variables.is_none()) return nb::borrow(flows);
    if (PyErr_WarnEx(PyExc_FutureWarning,
                     "`grad_variables` is deprecated. Use `grad_tensors` instead.", 2) < 0)
        throw nb::python_error();
    user_check<RuntimeError>(flows.is_none(),
                             "`grad_tensors` and `grad_variables` (deprecated) arguments both "
                             "passed to `backward()`. Please only use `grad_tensors`.");
    return nb::borrow(variables);
}

// Those of the inputs that the outputs were computed of.
nb::list reached_inputs(nb::handle inputs, const BelowRecords& below) {
    std::unordered_set<PyObject*> seen;
    for (nb::handle each : below.leaves) seen.insert(each.ptr());
    for (nb::handle each : below.records) seen.insert(each.ptr());
    nb::list found;
    for (nb::handle input : listed_tensors(inputs)) {
        const TensorObject* const tensor = torch_tensor(input);
        user_check<RuntimeError>(is_recorded(tensor),
                                 "can't retain_grad on Tensor that has requires_grad=False");
        const nb::object record = tensor->is_leaf ? nb::borrow(input) : record_of(input);
        if (seen.contains(record.ptr())) found.append(input);
    }
    return found;
}

// Those that retain their gradients, of what gradients go through on their way to others.
nb::list retained_on_the_way(const BelowRecords& below, const eager::Reaching& reaching) {
    nb::list found;
    for (nb::handle leaf : below.leaves) {
        const TensorObject* const tensor = as_tensor(leaf);
        if (!tensor->is_leaf && is_there(tensor->record) && reaching(record_in(tensor->record)))
            found.append(leaf);
    }
    return found;
}

void check_has_inputs(nb::handle inputs, const char* function) {
    const bool is_empty = !inputs.is_none() && PySequence_Check(inputs.ptr()) &&
                          !is_tensor_of_torch(inputs) && nb::len(inputs) == 0;
    user_check<RuntimeError>(!is_empty, "`inputs` argument to `", function, "()` cannot be empty.");
}

// PyTorch's torch.autograd.backward.
void backward(nb::handle tensors, nb::handle grad_tensors, nb::handle retain_graph,
              bool create_graph, nb::handle grad_variables, nb::handle inputs) {
    check_has_inputs(inputs, "backward");
    const nb::object given_flows = flows_by_either_name(grad_tensors, grad_variables);
    provided("check_not_capturing")("it takes gradients");
    const bool is_plain = is_tensor_of_torch(tensors) && inputs.is_none() &&
                          (given_flows.is_none() || is_tensor_of_torch(given_flows)) &&
                          !create_graph && (retain_graph.is_none() || !truth_of(retain_graph)) &&
                          !nb::cast<bool>(provided("gradients_are_checked")());
    TraceObject* const now = world().trace_of_now();
    std::unique_ptr<LearningBackward> learning;
    if (is_plain && now->is_open && is_recorded_here() && as_tensor(tensors)->mark == now->mark) {
        const nb::object trace = nb::borrow(reinterpret_cast<PyObject*>(now));
        learning = backward_of_trace(trace, tensors, given_flows);
        if (!learning) return;
    } else {
        interrupt_trace();
    }
    const Flows flows = flows_into(tensors, given_flows);
    nb::list of_outputs;
    for (nb::handle output : flows.outputs) of_outputs.append(record_of(output));
    const BelowRecords below = below_records(of_outputs);
    if (learning) learning->see(below);
    std::optional<eager::Reaching> reached;
    nb::list leaves = below.leaves;
    if (!inputs.is_none()) {
        leaves = reached_inputs(inputs, below);
        reached.emplace(reaching(leaves));
        std::unordered_set<PyObject*> given;
        for (nb::handle leaf : leaves) given.insert(leaf.ptr());
        for (nb::handle tensor : retained_on_the_way(below, *reached))
            if (!given.contains(tensor.ptr())) leaves.append(tensor);
    }
    const eager::Reaching* const which = reached ? &*reached : nullptr;
    check_saved(below.records, which);
    const FoundGradients found = gradients(held_by_all(flows.outputs), flows.incoming, leaves,
                                           of_outputs, below.records, create_graph, which);
    for (size_t i = 0; i < nb::len(leaves); ++i) {
        if (!found.comes[i]) learning.reset();  // not every leaf gets a gradient
        accumulate(nb::object(leaves[i]), nb::object(found.gradients[i]), found.comes[i],
                   create_graph, flows.outputs);
    }
    if (!keeps_graph(retain_graph, create_graph)) free_records(below.records);
    if (learning) learning->end();
}

}  // namespace

nb::tuple grad(nb::handle outputs, nb::handle inputs, nb::handle flows,
               const GradOptions& options) {
    interrupt_trace();
    const Flows into = flows_into(outputs, flows);
    const nb::list ends = listed_tensors(inputs);
    for (nb::handle tensor : ends)
        user_check<RuntimeError>(is_recorded(torch_tensor(tensor)),
                                 "One of the differentiated Tensors does not require grad");
    nb::list of_outputs;
    for (nb::handle output : into.outputs) of_outputs.append(record_of(output));
    const BelowRecords below = below_records(of_outputs);
    const eager::Reaching reached = reaching(ends);
    check_saved(below.records, &reached);
    const nb::list retained = retained_on_the_way(below, reached);
    const FoundGradients found =
        gradients(held_by_all(into.outputs), into.incoming, nb::object(ends + retained), of_outputs,
                  below.records, options.create_graph, &reached);
    nb::object recorded = nb::none();
    if (options.create_graph && eager::is_recording()) {
        nb::list operands;
        for (nb::handle output : into.outputs) operands.append(output);
        for (nb::handle flow : into.given)
            if (!flow.is_none()) operands.append(flow);
        recorded = operands;
    }
    const nb::list all = nb::borrow<nb::list>(nb::object(below.leaves + below.records));
    nb::tuple results =
        gradients_given(ends, found, all, recorded, options.allow_unused, options.with_zeros);
    for (size_t i = 0, at = nb::len(ends); i < nb::len(retained); ++i, ++at)
        if (found.comes[at])
            accumulate(nb::object(retained[i]), nb::object(found.gradients[at]), true,
                       options.create_graph, into.outputs);
    if (!keeps_graph(options.retain_graph, options.create_graph)) free_records(below.records);
    return results;
}

void bind_tape_gradients(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "backward",
        [](nb::handle tensors, nb::handle grad_tensors, nb::handle retain_graph,
           TruthFlag create_graph, nb::handle grad_variables, nb::handle inputs) {
            backward(tensors, grad_tensors, retain_graph, create_graph, grad_variables, inputs);
        },
        nb::arg("tensors"), nb::arg("grad_tensors").none(), nb::arg("retain_graph").none(),
        nb::arg("create_graph"), nb::arg("grad_variables").none(), nb::arg("inputs").none(),
        located, "Adds to the leaves' grad the gradients of the tensors.");
    module.def(
        "grad",
        [](nb::handle outputs, nb::handle inputs, nb::handle flows, nb::handle retain_graph,
           TruthFlag create_graph, TruthFlag allow_unused, TruthFlag with_zeros) {
            check_has_inputs(inputs, "grad");
            return grad(outputs, inputs, flows,
                        {nb::borrow(retain_graph), create_graph, allow_unused, with_zeros});
        },
        nb::arg("outputs"), nb::arg("inputs"), nb::arg("flows").none(),
        nb::arg("retain_graph").none(), nb::arg("create_graph"), nb::arg("allow_unused").none(),
        nb::arg("with_zeros"), located, "The gradients of outputs with respect to inputs.");
}

}  // namespace composit::python

// The tape of composit.torch: what stands for tensors on it, what operations save, what lies below
// outputs, and gradients through it.
#include "tape.h"

#include "bindings.h"
#include "casters.h"
#include "cell.h"
#include "composit/eager/nan_gradients.h"
#include "composit/eager/tape_barriers.h"
#include "composit/eager/tape_gradients.h"
#include "composit/execute/devices.h"
#include "content.h"
#include "location.h"
#include "provided.h"
#include "tape_hooks.h"
#include "torch_calls.h"

#include <nanobind/stl/string.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

using eager::Record;
using eager::TapeNode;

std::vector<Ref<TapeNode>> tape_nodes(nb::handle operands) {
    std::vector<Ref<TapeNode>> nodes;
    for (nb::handle operand : operands) nodes.push_back(tape_node(operand));
    return nodes;
}

std::vector<Ref<Record>> records_in(nb::handle objects) {
    std::vector<Ref<Record>> records;
    for (nb::handle object : objects) records.emplace_back(&checked_record(object));
    return records;
}

eager::Argument argument(nb::handle value) {
    if (is_tensor_of_torch(value)) {
        PyObject* const like = as_tensor(value)->like;
        const nb::object seen = is_there(like) ? nb::borrow(like) : lazy_of(value);
        return content_of<LazyTensor>(seen).type().dtype;
    }
    if (PyFloat_Check(value.ptr())) return PyFloat_AS_DOUBLE(value.ptr());
    if (PyLong_Check(value.ptr())) {
        const double number = PyLong_AsDouble(value.ptr());
        if (!PyErr_Occurred()) return number;
        PyErr_Clear();  // it is too large for one: no rule asks for that
    }
    if (PyUnicode_Check(value.ptr())) return std::string(nb::str(value).c_str());
    return {};
}

void save_values(nb::handle record, nb::handle operands, nb::handle results, nb::handle given,
                 int own) {
    eager::SavingCall call;
    call.own = own;
    for (nb::handle operand : operands)
        call.operands.push_back(
            {nb::cast<int>(operand[0]), savable(operand[1]), nb::cast<bool>(operand[2])});
    for (nb::handle result : results)
        call.results.push_back(result.is_none() ? std::nullopt : std::optional(savable(result)));
    for (nb::handle pair : given)
        call.arguments.emplace_back(nb::cast<int>(pair[0]), argument(pair[1]));
    eager::save_values(checked_record(record), call);
}

// Looks at the gradients of all operations, where `checks`: RuntimeError for the first that is NaN.
void check_for_nan(bool checks, const std::vector<Tensor>& outputs,
                   const std::vector<Tensor>& flows, const std::vector<Tensor>& ends) {
    if (!checks) return;
    const auto found = eager::first_nan_gradient(outputs, flows, ends);
    if (!found) return;
    static const std::map<std::string, std::string> names = {{"multiply", "mul"},
                                                             {"subtract", "sub"},
                                                             {"divide", "div"},
                                                             {"negative", "neg"},
                                                             {"power", "pow"}};
    const auto known = names.find(found->operation);
    // The line is that of the operation, not of who takes gradients.
    PyErr_SetString(
        PyExc_RuntimeError,
        text("Function '",
             eager::record_name(known == names.end() ? found->operation : known->second),
             "' returned nan values in its ", found->operand, "th output. It was called at ",
             found->location, ".")
            .c_str());
    throw nb::python_error();
}

// PyTorch reports no errors of floating point.
struct Quiet {
    IgnoredErrors ignored;
    Located located;
};

}  // namespace

FoundGradients gradients(const std::vector<Tensor>& outputs, const std::vector<Tensor>& flows,
                         nb::handle inputs, nb::handle starts, const nb::list& records,
                         bool is_recording, const eager::Reaching* reaching) {
    const bool checks = nb::cast<bool>(provided("gradients_are_checked")());
    std::vector<eager::GradientInput> ends;
    for (nb::handle input : inputs) {
        const bool is_leaf = torch_tensor(input)->is_leaf;
        const nb::object lazy = lazy_of(input);
        eager::GradientInput end{content_of<LazyTensor>(lazy).tensor(), {}};
        if (is_leaf) end.leaf = Ref<eager::Leaf>(&leaf_of(input));
        ends.push_back(std::move(end));
    }
    std::vector<Tensor> more;
    bool has_barriers = false;
    std::shared_ptr<eager::Arrivals> arrivals;  // null: gradients come to all
    for (nb::handle record : records) {
        has_barriers = has_barriers || !nb::object(record.attr("hook_points")).is_none();
        if (!is_function_record(record)) continue;
        has_barriers = true;
        if (!arrivals)
            arrivals = std::make_shared<eager::Arrivals>(tape_nodes(starts), records_in(records));
        for (nb::handle node : record.attr("nodes"))
            if (!node.is_none()) more.push_back(content_of<LazyTensor>(node).tensor());
    }
    std::vector<eager::Barrier> barriers;
    if (has_barriers) barriers = barriers_between(records, is_recording, reaching, arrivals);
    const eager::FlowRule of_graphs = [checks](const auto& starts, const auto& into,
                                               const auto& wanted) {
        const Quiet scope;
        check_for_nan(checks, starts, into, wanted);
        return eager::chain_rule(starts, into, wanted);
    };
    const eager::GradientRule whole = [&](const auto& starts, const auto& wanted) {
        return barriers.empty() ? of_graphs(starts, flows, wanted)
                                : eager::gradients_through(of_graphs, starts, flows, wanted,
                                                           barriers, arrivals.get());
    };
    std::optional<Quiet> scope;
    if (!has_barriers && !checks) scope.emplace();
    FoundGradients made;
    const std::vector<Tensor> found =
        eager::gradients(whole, outputs, ends, records_in(records), more, !barriers.empty());
    for (size_t i = 0; i < found.size(); ++i) {
        made.gradients.append(wrap_copy(execute::beside(found[i], ends[i].now)));
        const nb::object from = record_of(nb::object(inputs[i]));
        made.comes.push_back(!arrivals || from.is_none() || arrives(*arrivals, from, ends[i].now));
    }
    return made;
}

BelowRecords below_records(nb::handle operands) {
    const eager::Below found = eager::below(tape_nodes(operands));
    BelowRecords made;
    for (const auto& leaf : found.leaves) made.leaves.append(operand_of(leaf.get()));
    for (const auto& record : found.records) made.records.append(operand_of(record.get()));
    return made;
}

eager::Reaching reaching(nb::handle tensors) {
    std::vector<Ref<TapeNode>> targets;
    for (nb::handle tensor : tensors) {
        PyObject* const record = torch_tensor(tensor)->record;
        targets.push_back(as_tensor(tensor)->is_leaf ? tape_node(tensor)
                          : is_there(record)         ? tape_node(record)
                                                     : Ref<TapeNode>());
    }
    return eager::Reaching(targets);
}

void check_saved(const nb::list& records, const eager::Reaching* reaching) {
    eager::check_saved(records_in(records), reaching);
}

eager::Savable savable(nb::handle value) {
    if (is_tensor_of_torch(value)) {
        TensorObject* const tensor = as_tensor(value);
        const nb::object lazy = lazy_of(value);
        const auto& content = content_of<LazyTensor>(lazy);
        eager::Savable made{content.tensor(), content.cell(), {}, counter_of(tensor), nullptr};
        if (tensor->is_leaf) made.leaf = Ref<eager::Leaf>(&leaf_of(value));
        if (is_there(tensor->record)) made.record = &record_in(tensor->record);
        return made;
    }
    const nb::object lazy = value.attr("lazy"), record = value.attr("record");
    if (!is_tensor(lazy)) refuse_argument(lazy, "A LazyTensor");
    const auto& content = content_of<LazyTensor>(lazy);
    eager::Savable made{content.tensor(), content.cell(), {}, {}, nullptr};
    if (is_record(record)) made.record = &record_in(record);
    nb::object root = value.attr("root");
    while (!root.is_none() && !is_tensor_of_torch(root)) root = root.attr("root");
    if (!root.is_none()) made.counter = counter_of(as_tensor(root));
    return made;
}

ir::Tensor TensorLeaf::now() const {
    const nb::object lazy = lazy_of(tensor_);
    return content_of<LazyTensor>(lazy).tensor();
}

TensorObject* torch_tensor(nb::handle value) {
    if (!is_tensor_of_torch(value)) refuse_argument(value, "A Tensor of composit.torch");
    return as_tensor(value);
}

const RecordOfObject& checked_record(nb::handle value) {
    if (!is_record(value)) refuse_argument(value, "A GradFn");
    return record_in(value);
}

const TensorLeaf& leaf_of(nb::handle tensor) {
    const TensorLeaf*& leaf = torch_tensor(tensor)->leaf;
    if (!leaf) leaf = new TensorLeaf(tensor.ptr());
    return *leaf;
}

Ref<TapeNode> tape_node(nb::handle operand) {
    if (operand.is_none()) return {};
    if (is_record(operand)) return Ref<TapeNode>(&record_in(operand));
    return Ref<TapeNode>(&leaf_of(operand));
}

nb::handle operand_of(const TapeNode* node) {
    if (!node) return Py_None;
    if (const eager::Leaf* const leaf = node->leaf())
        return static_cast<const TensorLeaf*>(leaf)->tensor();
    return static_cast<const RecordOfObject*>(node->record())->object();
}

bool is_recorded(const TensorObject* tensor) {
    if (tensor->is_leaf || is_there(tensor->record)) return true;
    if (!is_there(tensor->root)) return false;
    const TensorObject* const root = as_tensor(tensor->root);
    if (!is_there(root->record)) return root->is_leaf && !tensor->is_tainted;
    // A view of what had no gradient when it was made.
    return !tensor->is_tainted || root->record != tensor->record_of_root;
}

nb::object record_of(nb::handle of) {
    const TensorObject* const tensor = torch_tensor(of);
    if (tensor->is_leaf) return nb::borrow(of);
    const nb::handle own = is_there(tensor->record) ? tensor->record : Py_None;
    if (!is_there(tensor->root)) return nb::borrow(own);
    const TensorObject* const root = as_tensor(tensor->root);
    const nb::handle of_root = is_there(root->record) ? root->record : Py_None;
    const nb::handle before = is_there(tensor->record_of_root) ? tensor->record_of_root : Py_None;
    if (of_root.is(before)) return nb::borrow(own);
    static const ir::Interned name = ir::intern("CopySlices");
    return make_record(name, {tape_node(own), tape_node(of_root)});
}

const Ref<eager::VersionCounter>& counter_of(TensorObject* tensor) {
    if (!tensor->counter) tensor->counter = eager::VersionCounter::make();
    return tensor->counter;
}

void share_counter(TensorObject* tensor, TensorObject* source) {
    tensor->counter = counter_of(source);
}

void bind_tape(nb::module_& module) {
    bind_tape_records(module);
    module.def(
        "is_recorded", [](nb::handle tensor) { return is_recorded(torch_tensor(tensor)); },
        nb::arg("tensor"), "Whether gradients go through the tensor.");
    module.def("record_of", record_of, nb::arg("tensor"),
               "What stands for the tensor in the records of operations on it.");
    module.def(
        "record_name", [](const std::string& name) { return eager::record_name(name); },
        nb::arg("name"), "log_softmax as LogSoftmaxBackward0.");
    module.def(
        "count_write", [](nb::handle tensor) { counter_of(torch_tensor(tensor))->count(); },
        nb::arg("tensor"), "Counts a write into the tensor's memory.");
    module.def(
        "move_counter",
        [](nb::handle tensor, nb::handle source) {
            counter_of(torch_tensor(tensor))->move_into(counter_of(torch_tensor(source)));
        },
        nb::arg("tensor"), nb::arg("source"),
        "The tensor was given the memory of the source, which its version does not tell.");
    module.def(
        "share_counter",
        [](nb::handle tensor, nb::handle source, bool is_counted) {
            TensorObject* const made = torch_tensor(tensor);
            share_counter(made, torch_tensor(source));
            if (!is_counted) made->counter = eager::VersionCounter::make_uncounted(made->counter);
        },
        nb::arg("tensor"), nb::arg("source"), nb::arg("is_counted") = true,
        "The tensor is another name for the memory of the source. Not `is_counted`: the source's "
        "version does not tell of writes through it.");
    module.def(
        "changed_value",
        [](nb::handle tensor, int64_t version) {
            torch_tensor(tensor);
            const eager::Savable value = savable(tensor);
            return eager::changed_value(value.counter->version(), version, value.tensor.type(),
                                        value.record ? value.record->name() : nullptr);
        },
        nb::arg("tensor"), nb::arg("version"),
        "The error's text for a tensor that is not at a version any more.");
    module.def(
        "note_reading",
        [](nb::handle leaf, const LazyTensor& held) {
            leaf_of(leaf).readings().note(held.tensor());
        },
        nb::arg("leaf"), nb::arg("held"),
        "A recorded operation reads what the leaf holds (composit/eager/readings.h).");
    module.def("save_values", save_values, nb::arg("record"), nb::arg("operands"),
               nb::arg("results"), nb::arg("given"), nb::arg("own"),
               "Adds to a record what its operation saves: of operands (number, tensor, whether a "
               "gradient goes to it), of arguments (number, value), and of results.");
    module.def(
        "below",
        [](nb::handle operands) {
            const BelowRecords found = below_records(operands);
            return nb::make_tuple(found.leaves, found.records);
        },
        nb::arg("operands"),
        "The leaves, and tensors that retain gradients, below records; and the records.");
    module.def(
        "has_nan", [](const Tensor& x) { return ir::is_inexact(x.dtype()) && eager::has_nan(x); },
        nb::arg("x"), "Whether an element is NaN, computed now.");
}

}  // namespace composit::python

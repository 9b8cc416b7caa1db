// Operations that composit.torch adds to a trace (composit/torch/steps.py): with nodes the first
// time, when their results over placeholders are learnt, and without from then on.
#include "bindings.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/eager/recording.h"
#include "composit/eager/tape.h"
#include "composit/ir/body.h"
#include "content.h"
#include "following.h"
#include "location.h"
#include "provided.h"
#include "structures.h"
#include "tape.h"
#include "torch_calls.h"
#include "torch_objects.h"
#include "trace_keys.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

// A function over tensors, and what it was called with.
struct Operation {
    nb::object function;
    std::string name;
    bool is_view = false;
    nb::tuple args;
    nb::dict named;

    nb::object call_now() const {
        return provided("call_now")(function, name, is_view, args, named);
    }
};

// How it stands at its point of the trace.
struct Point {
    nb::object trace, line;
    nb::tuple key;
    nb::object operands, named;  // with places for tensors
    TraceObject* fields() const { return reinterpret_cast<TraceObject*>(trace.ptr()); }
    bool is_now() const {
        return fields()->is_open && is_recorded_here() && world().trace_of_now() == fields();
    }
};

// Whether a line takes one part after another of a tensor whose value is there, such as the batches
// of a data set: each would be another structure.
bool is_one_of_many_parts(const Operation& operation, uintptr_t line) {
    constexpr size_t most = 3;  // parts that a line takes before they are no structure of traces
    static auto* const known = new std::map<std::pair<PyObject*, uintptr_t>, std::set<std::string>>;
    if (nb::len(operation.args) == 0) return false;
    const nb::object source = operation.args[0];
    if (!is_tensor_of_torch(source)) return false;
    const TensorObject* const tensor = as_tensor(source);
    if (!tensor->lazy || is_recorded(tensor) || tensor->is_pending) return false;
    const nb::object lazy = lazy_of(source);
    if (!ir::is_constant(content_of<LazyTensor>(lazy).cell()->memory()->tensor().node()))
        return false;
    for (size_t i = 1; i < nb::len(operation.args); ++i)
        if (is_tensor_of_torch(operation.args[i])) return false;
    for (auto [name, value] : operation.named)
        if (is_tensor_of_torch(value)) return false;
    std::set<std::string>& parts = (*known)[{operation.function.ptr(), line}];
    if (parts.size() < most) {
        nb::list rest;
        for (size_t i = 1; i < nb::len(operation.args); ++i) rest.append(operation.args[i]);
        parts.insert(nb::repr(nb::make_tuple(nb::tuple(rest), operation.named)).c_str());
    }
    return parts.size() >= most;
}

nb::list tensors_given(const Operation& operation) {
    nb::list found;
    const auto add = [&](nb::handle value) {
        mapped_structure(
            value,
            [&](nb::handle leaf) {
                if (is_tensor_of_torch(leaf)) found.append(leaf);
                return nb::borrow(leaf);
            },
            nb::none());
    };
    for (nb::handle value : operation.args) add(value);
    for (auto [name, value] : operation.named) add(value);
    return found;
}

nb::object places_of(const nb::list& tensors, bool as_set) {
    nb::list places;
    for (nb::handle tensor : tensors) places.append(as_tensor(tensor)->place);
    if (!as_set) return nb::tuple(places);
    return nb::steal(PyFrozenSet_New(places.ptr()));
}

// Of a recorded operation: through which operands gradients go, and through which none may.
void note_gradients(nb::object& state, const nb::list& found, const nb::list& recorded) {
    state.attr("sources") = places_of(recorded, false);
    state.attr("saved") = places_of(found, true);
    nb::list detached;
    for (nb::handle tensor : found)
        if (as_tensor(tensor)->is_tainted && !is_recorded(as_tensor(tensor)))
            detached.append(tensor);
    state.attr("detached") = places_of(detached, true);
}

// Whether what was made over placeholders is of the dtypes and shapes of the results.
bool is_like(const nb::list& made, const nb::list& parts) {
    if (nb::len(made) != nb::len(parts)) return false;
    for (size_t i = 0; i < nb::len(made); ++i) {
        const nb::object symbol = made[i], lazy = lazy_of(parts[i]);
        if (!is_tensor(symbol)) return false;
        const ir::TensorType& type = content_of<LazyTensor>(symbol).type();
        const ir::TensorType& wanted = content_of<LazyTensor>(lazy).type();
        if (type.dtype != wanted.dtype || type.shape != wanted.shape || type.weak) return false;
    }
    return true;
}

// The state after an operation; None where its result cannot be told from structure alone.
nb::object learnt(const Point& point, const Operation& operation, nb::handle result,
                  const nb::list& parts) {
    bool is_view = operation.is_view;
    if (is_view && (nb::len(operation.args) == 0 || !is_tensor_of_torch(operation.args[0])))
        return nb::none();
    bool is_tainted = false;
    for (nb::handle part : parts) {
        if (!is_tensor_of_torch(part)) return nb::none();
        is_view = is_view && is_there(as_tensor(part)->root);
        is_tainted = is_tainted || as_tensor(part)->is_tainted;
    }
    if (nb::len(parts) == 0) return nb::none();
    const nb::list found = tensors_given(operation);
    nb::list recorded;
    if (eager::is_recording())
        for (nb::handle tensor : found)
            if (is_recorded(as_tensor(tensor))) recorded.append(tensor);
    const bool has_record = nb::len(recorded) > 0;
    nb::object state = provided("new_trace_state")();
    provided("meet_leaves")(point.trace, state);
    state.attr("operation") = provided("operation_of")(operation.function, is_view);
    state.attr("kind") =
        is_tensor_of_torch(result) ? nb::object(nb::none()) : nb::borrow(result.type());
    state.attr("is_view") = is_view;
    state.attr("name") = eager::record_name(operation.name);
    if (has_record) note_gradients(state, found, recorded);
    state.attr("is_tainted") = is_tainted && !has_record;
    state.attr("operands") = point.operands;
    state.attr("named") = point.named;
    state.attr("line") = point.line;
    const nb::object symbols =
        provided("trace_symbols")(point.trace, nb::object(state.attr("stands")));
    nb::list made;
    try {
        const IgnoredErrors scope;
        made =
            as_parts(nb::object(state.attr("operation").attr("over")(point.trace, state, symbols)));
    } catch (nb::python_error& error) {
        // It asks for values: the operation runs at once, with its own errors.
        if (error.matches(PyExc_Exception)) return nb::none();
        throw;
    }
    if (!is_like(made, parts)) return nb::none();
    nb::list floats, integers;
    for (size_t i = 0; i < nb::len(made); ++i) {
        const bool is_float = ir::is_inexact(content_of<LazyTensor>(made[i]).type().dtype);
        floats.append(is_float);
        if (!is_float)
            integers.append(PyList_GET_SIZE(point.fields()->tensors) + static_cast<Py_ssize_t>(i));
    }
    state.attr("results") = made;
    state.attr("floats") = floats;
    // Integers that an operation saves are its results.
    if (has_record) state.attr("saved") = nb::object(state.attr("saved").attr("union")(integers));
    return state;
}

}  // namespace

void register_results(nb::handle of, int64_t first, const nb::list& parts) {
    auto* const trace = reinterpret_cast<TraceObject*>(of.ptr());
    for (nb::handle part : parts) {
        TensorObject* const tensor = as_tensor(part);
        tensor->mark = trace->mark;
        tensor->place = first++;
        append(trace->tensors, nb::steal(PyWeakref_NewRef(part.ptr(), nullptr)));
        append(trace->lazies, lazy_of(part));
        append(trace->records, is_there(tensor->record) ? nb::borrow(tensor->record) : nb::none());
    }
}

namespace {

int64_t add_state(const Point& point, nb::handle state) {
    return nb::cast<int64_t>(nb::object(point.trace.attr("add")(state)));
}

// The operation with nodes, and what is learnt of it. `known` is its state, None where there can be
// none, and not valid where nothing is known.
nb::object made_now(const Point& point, nb::object known, const Operation& operation,
                    const nb::tuple& args, const nb::dict& named) {
    point.trace.attr("build")();
    if (known.is_valid() && known.is_none()) point.fields()->is_open = 0;
    nb::object result;
    try {
        result = operation.call_now();
    } catch (...) {
        point.fields()->is_open = 0;
        throw;
    }
    if (!point.is_now()) {
        point.fields()->is_open = 0;
        return result;
    }
    const nb::list parts = as_parts(result);
    if (!known.is_valid()) {
        const nb::object from = point.trace.attr("state");
        known = provided("learn_way")(
            from, point.key, nb::make_tuple(operation.function, point.line),
            nb::cpp_function([&] { return learnt(point, operation, result, parts); }));
        if (known.is_none()) {
            point.fields()->is_open = 0;
            return result;
        }
        const auto met = nb::cast<int64_t>(nb::object(point.trace.attr("met")()));
        const auto [checks, of_names] = checks_of(point.trace, met, args, named);
        from.attr("patterns")
            .attr("append")(pattern_of(operation.function, eager::is_recording(), point.key[2],
                                       point.line, checks, of_names, known));
    }
    register_results(point.trace, add_state(point, known), parts);
    return result;
}

// Adds arguments to the key and to the operands; false where one cannot be.
bool encode_arguments(nb::handle trace, const Operation& operation, nb::list& key,
                      nb::list& operands, nb::dict& named) {
    bool is_encoded = !operation.named.contains("out");
    for (auto [option, value] : operation.named) {
        key.append(option);
        nb::list made;
        is_encoded = is_encoded && encode(trace, value, key, made);
        named[option] = nb::len(made) > 0 ? nb::object(made[0]) : nb::object(nb::none());
    }
    if (!is_encoded) return false;
    key.append(nb::none());
    for (nb::handle value : operation.args)
        if (!encode(trace, value, key, operands)) return false;
    return true;
}

}  // namespace

// The function's result over Tensors, as the trace's next operation.
nb::object recorded(nb::object trace, nb::object function, const std::string& name, bool is_view,
                    nb::tuple args, nb::dict given) {
    Operation operation{std::move(function), name, is_view, args, given};
    const auto line = reinterpret_cast<uintptr_t>(user_location());
    if (is_view && is_one_of_many_parts(operation, line)) return operation.call_now();
    nb::list key, operands;
    nb::dict named;
    key.append(operation.function);
    key.append(eager::is_recording());
    key.append(nb::handle(PyList_GET_ITEM(world().defaults->ptr(), 0)));
    key.append(line);
    if (nb::len(given) > 0) {
        const Arguments settled = settled_arguments(args, given);
        operation.args = settled.by_place;
        operation.named = settled.by_name;
    }
    if (!encode_arguments(trace, operation, key, operands, named)) {
        interrupt_trace();
        return operation.call_now();
    }
    const Point point{trace, key[3], nb::tuple(key), operands, named};
    const nb::dict ways =
        nb::borrow<nb::dict>(nb::object(nb::object(trace.attr("state")).attr("ways")));
    nb::object state;
    if (ways.contains(point.key)) state = ways[point.key];
    if (!state.is_valid() || state.is_none() || point.fields()->is_built)
        return made_now(point, state, operation, args, given);
    const int64_t first = add_state(point, state);
    const bool sees_source = as_state(state)->is_view;
    return results_of_state(trace, state, first,
                            sees_source ? nb::object(operation.args[0]) : nb::object(nb::none()));
}

}  // namespace composit::python

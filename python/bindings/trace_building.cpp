// The operations of a trace made as nodes after all, programs of states, and views of results that
// have their values (composit/torch/steps.py).
#include "casters.h"
#include "cell.h"
#include "content.h"
#include "following.h"
#include "location.h"
#include "provided.h"
#include "torch_calls.h"
#include "torch_objects.h"
#include "trace_keys.h"

#include <cstdint>
#include <utility>

namespace composit::python {
namespace {

TraceObject* trace_in(nb::handle trace) { return reinterpret_cast<TraceObject*>(trace.ptr()); }

// (place of the first result, state after the operation)
struct Entry {
    int64_t first;
    nb::object state;
    nb::object field(const char* name) const { return state.attr(name); }
};

size_t count_of_entries(nb::handle trace) {
    return static_cast<size_t>(PyList_GET_SIZE(trace_in(trace)->entries));
}

Entry entry_at(nb::handle trace, size_t number) {
    const nb::handle entry =
        PyList_GET_ITEM(trace_in(trace)->entries, static_cast<Py_ssize_t>(number));
    return {PyLong_AsLongLong(PyTuple_GET_ITEM(entry.ptr(), 0)),
            nb::borrow(PyTuple_GET_ITEM(entry.ptr(), 1))};
}

void extend(nb::list& list, nb::handle more) {
    for (nb::handle item : more) list.append(item);
}

// Placeholders of the leaves, in order.
nb::list inputs_of_trace(nb::handle trace) {
    nb::list found;
    for (size_t i = 0; i < count_of_entries(trace); ++i)
        extend(found, entry_at(trace, i).field("inputs"));
    return found;
}

// By place: over the placeholders.
nb::list symbols_of_trace(nb::handle trace) {
    nb::list found;
    for (size_t i = 0; i < count_of_entries(trace); ++i) {
        const Entry entry = entry_at(trace, i);
        extend(found, entry.field("stands"));
        extend(found, entry.field("results"));
    }
    return found;
}

nb::list nothing_at_places(nb::handle trace) {
    nb::list made;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(trace_in(trace)->tensors); ++i)
        made.append(nb::none());
    return made;
}

void give_node(nb::handle trace, int64_t number, nb::handle lazy, bool is_gradient) {
    nb::object(nb::borrow(trace_in(trace)->lazies))[number] = lazy;
    const nb::object tensor = result_at(trace, number);
    if (tensor.is_none() || as_tensor(tensor)->lazy) return;
    tensor.attr("_lazy") = lazy;
    drop(as_tensor(tensor)->like);
    drop(as_tensor(tensor)->trace);
    if (is_gradient)
        enter_gradient(tensor);
    else
        enter(tensor);
}

// Nodes that are made while it lives are of the lines of a trace's operations.
struct ReplayedLine {
    ReplayedLine() : before(set_replayed_line(nullptr)) {}
    ~ReplayedLine() { set_replayed_line(before); }
    ReplayedLine(const ReplayedLine&) = delete;
    ReplayedLine& operator=(const ReplayedLine&) = delete;
    ir::Interned before;
};

nb::object replayed(nb::handle trace, const nb::object& state) {
    return state.attr("operation").attr("replay")(trace, state);
}

// Makes the nodes of all operations, as if it had been done at once.
void build_trace(nb::handle of) {
    TraceObject* const trace = trace_in(of);
    if (trace->is_built) return;
    trace->is_built = 1;
    nb::list lazies = nothing_at_places(of);
    const nb::list bound = nb::borrow<nb::list>(trace->bound);
    for (size_t i = 0; i < nb::len(bound); ++i) {
        const nb::handle place = PyList_GET_ITEM(trace->bound_places, static_cast<Py_ssize_t>(i));
        lazies[nb::cast<size_t>(place)] = bound[i].attr("copied_in_order")();
    }
    put(trace->lazies, lazies);
    {
        const IgnoredErrors ignored;
        const ReplayedLine scope;
        for (size_t i = 0; i < count_of_entries(of); ++i) {
            const Entry entry = entry_at(of, i);
            set_replayed_line(
                reinterpret_cast<ir::Interned>(nb::cast<uintptr_t>(entry.field("line"))));
            int64_t place = entry.first;
            for (nb::handle lazy : replayed(of, entry.state))
                give_node(of, place++, lazy, as_state(entry.state)->is_gradient);
        }
    }
    provided("save_of_trace")(of, provided("trace_place"));
}

nb::object seen_views(nb::handle trace, const nb::object& state);

// Makes the view at a place that no tensor holds any more.
void see_place(nb::handle trace, int64_t number) {
    nb::object lazies = nb::borrow(trace_in(trace)->lazies);
    const nb::object tensor = result_at(trace, number);
    if (!tensor.is_none() && as_tensor(tensor)->lazy) {
        lazies[number] = lazy_of(tensor);
        return;
    }
    for (size_t i = 0; i < count_of_entries(trace); ++i) {
        const Entry entry = entry_at(trace, i);
        const auto count = static_cast<int64_t>(nb::len(entry.field("results")));
        if (number < entry.first || number >= entry.first + count) continue;
        int64_t place = entry.first;
        for (nb::handle lazy : seen_views(trace, entry.state)) lazies[place++] = lazy;
        return;
    }
}

// The results of an operation that gives views, of tensors that have their values.
nb::object seen_views(nb::handle trace, const nb::object& state) {
    if (PyList_GET_SIZE(trace_in(trace)->lazies) == 0)
        put(trace_in(trace)->lazies, nothing_at_places(trace));
    const nb::object place = provided("trace_place");
    for (nb::handle value : nb::object(state.attr("operands")))
        if (value.type().is(place)) see_place(trace, nb::cast<int64_t>(value.attr("number")));
    const IgnoredErrors ignored;
    return replayed(trace, state);
}

}  // namespace

nb::object result_at(nb::handle trace, int64_t number) {
    const nb::handle held =
        PyList_GET_ITEM(trace_in(trace)->tensors, static_cast<Py_ssize_t>(number));
    return nb::borrow(PyWeakref_CheckRefExact(held.ptr()) ? PyWeakref_GetObject(held.ptr())
                                                          : held.ptr());
}

// The program that computes the results at those places, and what `more`, the state that is next,
// results in; None where there is none yet, or none can be.
nb::object program_of_trace(nb::handle trace, nb::handle wanted, nb::handle more,
                            nb::handle numbers) {
    const nb::object state = nb::borrow(more.is_none() ? trace_in(trace)->state : more.ptr());
    const nb::object options = provided("usual_options")();
    const nb::object key = nb::make_tuple(wanted, options.attr("threads"));
    nb::dict programs = nb::borrow<nb::dict>(nb::object(state.attr("programs")));
    if (programs.contains(key)) return programs[key];
    nb::list inputs = inputs_of_trace(trace), outputs;
    const nb::list symbols = symbols_of_trace(trace);
    for (nb::handle number : wanted) outputs.append(nb::object(symbols[nb::cast<size_t>(number)]));
    if (!more.is_none()) {
        extend(outputs, state.attr("results"));
        extend(inputs, state.attr("inputs"));
    }
    extend(inputs, numbers);
    nb::object program = nb::none();
    try {
        program = provided("trace_program")(inputs, outputs);
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_NotImplementedError) && !error.matches(PyExc_ValueError)) throw;
    }
    programs[key] = program;
    return program;
}

// Gives views of results that have their values what they see.
void set_views(nb::handle trace) {
    for (size_t i = 0; i < count_of_entries(trace); ++i) {
        const Entry entry = entry_at(trace, i);
        if (!as_state(entry.state)->is_view) continue;
        const size_t count = nb::len(entry.field("results"));
        for (size_t j = 0; j < count; ++j) {
            const nb::object tensor = result_at(trace, entry.first + static_cast<int64_t>(j));
            if (tensor.is_none() || as_tensor(tensor)->lazy) continue;
            tensor.attr("_lazy") = nb::object(seen_views(trace, entry.state)[j]);
            drop(as_tensor(tensor)->like);
            drop(as_tensor(tensor)->trace);
        }
    }
}

void bind_trace_building(nb::module_& module) {
    module.def("inputs", inputs_of_trace, nb::arg("trace"),
               "Placeholders of a trace's leaves, in order.");
    module.def("symbols", symbols_of_trace, nb::arg("trace"), "By place: over the placeholders.");
    module.def("result_at", result_at, nb::arg("trace"), nb::arg("place"),
               "The tensor at a place, if it lives.");
    module.def("build", build_trace, nb::arg("trace"),
               "Makes the nodes of all operations, as if it had been done at once.");
    module.def(
        "restart",
        [] {
            if (world().current) restart_trace();
        },
        "A new trace begins.");
}

}  // namespace composit::python

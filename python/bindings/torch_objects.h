// What composit.torch's classes consist of, as structs: a tensor, a trace, a state of traces, a
// state's program (python/composit/torch/steps.py). Python reads and writes the same fields as
// attributes; bindings reach them without a search.
#pragma once

#include "arguments.h"
#include "bindings.h"
#include "composit/base/ref.h"
#include "composit/eager/version_counter.h"
#include "composit/ir/node.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>

namespace composit::python {

namespace nb = nanobind;

class TensorLeaf;  // tape.h

// TensorBase in composit/torch/calling.py says what each field is. A null reads as None, but for
// `lazy`, which is no attribute then.
struct TensorObject {
    PyObject ob_base;
    PyObject* weak;
    PyObject *lazy, *record, *root, *record_of_root, *grad, *twin, *twins, *trace, *like, *hooks,
        *post_hooks;
    const TensorLeaf* leaf;              // where the tape refers to the tensor; else null
    Ref<eager::VersionCounter> counter;  // null: nobody wrote, saved or shared its memory
    long long mark, place;
    long long number;  // of a view that a function made with others, from 1 on; -1: of a leaf that
                       // was a view; else 0
    char is_leaf, is_tainted, is_shared, is_pending, is_data;
};

// All but `mark` as class Trace says. Lists, and a State.
struct TraceObject {
    PyObject ob_base;
    PyObject *bound, *bound_places, *entries, *lazies, *records, *state, *tensors;
    long long mark;  // another number for each trace; 0 is none's
    char is_built, is_open;
};

// A part of class State, and its program that ran last: for which places, and threads.
struct StateObject {
    PyObject ob_base;
    PyObject *patterns, *results, *saved, *wanted, *threads, *program;
    char is_view, is_gradient;
};

struct ProgramObject {
    PyObject ob_base;
    PyObject *core, *inputs, *outputs;
    long long runs;
};

// What composit/torch/steps.py and others say once (world(...) in Python).
struct World {
    std::shared_ptr<nb::object> current;        // a list: the trace of now
    std::shared_ptr<nb::object> defaults;       // a list: the name of the default dtype
    std::shared_ptr<nb::object> tensor;         // the class Tensor
    std::shared_ptr<nb::object> trace;          // the class Trace
    std::shared_ptr<nb::object> roots;          // a dictionary: the state that traces begin in
    std::shared_ptr<nb::object> count;          // a list: how many states there are
    std::shared_ptr<nb::object> capturing;      // a list: whether a function is captured
    std::shared_ptr<nb::object> threads;        // a list: of composit.set_threads
    std::shared_ptr<nb::object> compile_after;  // a list: runs of a program
    std::shared_ptr<nb::object> recent;         // a list: references to tensors without values
    std::shared_ptr<nb::object> gradients;      // a list: the same of gradients
    std::shared_ptr<nb::object> nobody;         // a reference to what is no more
    std::shared_ptr<nb::object> interrupt;      // steps.interrupt
    std::shared_ptr<nb::object> materialize;    // materializing.materialize_slowly
    std::shared_ptr<nb::object> spare;          // a trace that is empty, or nothing
    unsigned long owner = 0;                    // the thread whose operations are recorded
    long long most_states = 0;

    // Not before it is complete, nor while the interpreter exits.
    bool is_ready() const { return materialize && materialize->is_valid(); }
    TraceObject* trace_of_now() const {
        return reinterpret_cast<TraceObject*>(PyList_GET_ITEM(current->ptr(), 0));
    }
};
World& world();

bool is_tensor_of_torch(nb::handle value);
inline TensorObject* as_tensor(nb::handle value) {
    return reinterpret_cast<TensorObject*>(value.ptr());
}
bool is_state(nb::handle value);
inline StateObject* as_state(nb::handle value) {
    return reinterpret_cast<StateObject*>(value.ptr());
}
inline bool is_there(const PyObject* field) { return field && field != Py_None; }

// A field gets another value.
inline void put(PyObject*& field, nb::handle value) {
    PyObject* const before = field;
    field = value.inc_ref().ptr();
    Py_XDECREF(before);
}
inline void drop(PyObject*& field) { Py_CLEAR(field); }

// What a tensor holds; its trace is built where it holds nothing yet.
nb::object lazy_of(nb::handle tensor);
// A tensor that has nothing yet.
nb::object new_tensor();
long long next_mark();
// A new trace begins.
void restart_trace();
// What happens now is no part of traces: nothing is added until the next evaluation.
void interrupt_trace();

// A tensor that was made or written, whose value will be wanted if it lives.
void enter(nb::handle tensor);
// A gradient, whose value is computed with others' unless an optimiser takes it first.
void enter_gradient(nb::handle tensor);
// Computes a tensor, and all others of the trace, by the trace's program. False where that has to
// be done with nodes: nothing has changed then.
bool materialize_by_structure(nb::handle tensor);
// The dtype and shape of what it holds, or will hold.
ir::TensorType type_seen(nb::handle tensor);

inline void append(PyObject* list, nb::handle value) {
    if (PyList_Append(list, value.ptr()) != 0) throw nb::python_error();
}
inline void empty(PyObject* list) {
    if (PyList_SetSlice(list, 0, PY_SSIZE_T_MAX, nullptr) != 0) throw nb::python_error();
}

// The result of `body`, in the default floating-point state, for functions that nanobind does not
// call: null, and Python's error, where it threw.
void set_error_of_exception() noexcept;
template <class Body>
PyObject* guarded(Body&& body) noexcept {
    try {
        const Entered entered;
        return body();
    } catch (...) {
        set_error_of_exception();
        return nullptr;
    }
}

void bind_torch_objects(nb::module_& module);
void bind_tape(nb::module_& module);             // tape.cpp
void bind_torch_functions(nb::module_& module);  // torch_functions.cpp
void bind_operand_rules(nb::module_& module);    // operand_rules.cpp
void bind_dtype_table(nb::module_& module);      // dtype_table.cpp
void bind_gradient_mode(nb::module_& module);    // gradient_mode.cpp
void bind_materializing(nb::module_& module);    // materializing.cpp
void bind_writing(nb::module_& module);          // writing.cpp

}  // namespace composit::python

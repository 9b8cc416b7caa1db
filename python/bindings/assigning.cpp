// Writes that stay in a trace: the tensor written takes the place of the result.
#include "cell.h"
#include "composit/eager/leaf_cell.h"
#include "content.h"
#include "tape.h"
#include "writing.h"

namespace composit::python {
namespace {

bool is_any_alive(PyObject* references) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(references); ++i)
        if (PyWeakref_GetObject(PyList_GET_ITEM(references, i)) != Py_None) return true;
    return false;
}

// Whether nothing else sees what is written into the tensor.
bool is_alone(const TensorObject* tensor) {
    if (is_there(tensor->root) || tensor->is_shared) return false;
    if (is_there(tensor->twin)) {
        if (PyWeakref_GetObject(tensor->twin) != Py_None || !tensor->lazy) return false;
        if (!eager::is_alone(*content_of<LazyTensor>(tensor->lazy).cell())) return false;
    }
    return !is_there(tensor->twins) || !is_any_alive(tensor->twins);
}

// Whether an operation that gradients go through, other than the one with that result, has the
// operand at that place: a write then ends the recording, as saved values (composit/eager/tape.h)
// need.
bool may_be_saved(const TraceObject* trace, long long number, long long result) {
    const nb::int_ place(number);
    for (Py_ssize_t e = 0; e < PyList_GET_SIZE(trace->entries); ++e) {
        PyObject* const entry = PyList_GET_ITEM(trace->entries, e);
        const StateObject* const state = as_state(PyTuple_GET_ITEM(entry, 1));
        if (!is_there(state->saved) || PySet_GET_SIZE(state->saved) == 0) continue;
        const long long first = PyLong_AsLongLong(PyTuple_GET_ITEM(entry, 0));
        if (first <= result && result < first + PyList_GET_SIZE(state->results)) continue;
        if (PySet_Contains(state->saved, place.ptr()) == 1) return true;
    }
    return false;
}

bool may_take(const TraceObject* trace, nb::handle of, nb::handle result, bool is_detached) {
    if (!is_tensor_of_torch(of) || !is_tensor_of_torch(result) || of.is(result)) return false;
    const TensorObject* const target = as_tensor(of);
    const TensorObject* const made = as_tensor(result);
    if (made->mark != trace->mark || target->mark != trace->mark || !is_alone(target)) return false;
    if (target->is_leaf || target->is_pending || is_there(target->record)) return false;
    if (is_there(made->root) || (is_there(made->record) && !is_detached)) return false;
    return type_seen(of) == type_seen(result) && !may_be_saved(trace, target->place, made->place);
}

}  // namespace

bool assigned(nb::handle of, nb::handle result, bool is_detached) {
    const World& all = world();
    if (!all.is_ready() || PyThread_get_thread_ident() != all.owner) return false;
    if (PyList_GET_ITEM(all.capturing->ptr(), 0) == Py_True) return false;
    const nb::object now = nb::borrow(PyList_GET_ITEM(all.current->ptr(), 0));
    const auto* const trace = reinterpret_cast<TraceObject*>(now.ptr());
    if (!trace->is_open || !may_take(trace, of, result, is_detached)) return false;
    TensorObject* const target = as_tensor(of);
    const TensorObject* const made = as_tensor(result);
    drop(target->twin);  // which is no more
    if (made->lazy) {
        put(target->lazy, made->lazy);
        drop(target->like);
        drop(target->trace);
        enter(of);
    } else {
        drop(target->lazy);
        put(target->like, made->like);
        put(target->trace, now);
    }
    const auto take_place = [&](long long place, nb::object reference) {
        if (PyList_SetItem(trace->tensors, static_cast<Py_ssize_t>(place),
                           reference.release().ptr()) != 0)
            throw nb::python_error();
    };
    PyObject* const before =
        PyList_GET_ITEM(trace->tensors, static_cast<Py_ssize_t>(target->place));
    if (PyWeakref_CheckRefExact(before)) take_place(target->place, *all.nobody);
    take_place(made->place, nb::steal(PyWeakref_NewRef(of.ptr(), nullptr)));
    target->place = made->place;
    if (!is_detached) target->is_tainted = made->is_tainted;
    counter_of(target)->count();
    return true;
}

}  // namespace composit::python

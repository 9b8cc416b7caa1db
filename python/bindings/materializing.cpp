// Values of a trace whose state is known: its program runs, and tensors get what it computes.
#include "materializing.h"

#include "cell.h"
#include "composit/eager/leaf_cell.h"
#include "composit/eager/pieces.h"
#include "composit/eager/small.h"
#include "composit/execute/devices.h"
#include "composit/execute/execute.h"
#include "composit/ir/body.h"
#include "composit/ir/constant_array.h"
#include "composit/runtime/backend.h"
#include "content.h"
#include "held.h"
#include "interpreter_lock.h"
#include "location.h"
#include "tape.h"
#include "trace_keys.h"
#include "writing.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

using execute::Compiled;

// That are kept before those to dead tensors are dropped.
constexpr Py_ssize_t fewest_references = 4096;

// The results as tensors, which lie where the outputs do.
std::vector<nb::object> constants_of(const Compiled& compiled,
                                     const std::vector<ir::Array>& arrays) {
    std::vector<nb::object> results;
    results.reserve(arrays.size());
    for (size_t i = 0; i < arrays.size(); ++i) {
        const ir::DeviceNumber place = compiled.outputs()[i].node().device();
        results.push_back(wrap_copy(execute::constant_on(arrays[i], place)));
    }
    return results;
}

std::vector<nb::object> run_step_on_device(const Compiled& compiled,
                                           const std::shared_ptr<runtime::Device>& device,
                                           nb::handle leaves) {
    std::vector<ir::Array> arguments;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(leaves.ptr()); ++i) {
        const nb::handle leaf = PyList_GET_ITEM(leaves.ptr(), i);
        const ir::Node& node = content_of<LazyTensor>(leaf).tensor().node();
        arguments.push_back(runtime::value_on(device, ir::constant_array(node)));
    }
    std::vector<ir::Array> arrays;
    {
        const Released released;
        arrays = compiled(static_cast<const std::vector<ir::Array>&>(arguments));
    }
    return constants_of(compiled, arrays);
}

// The program's outputs, as tensors that hold constants, from the constants that `leaves` hold,
// whose types are known to fit.
std::vector<nb::object> run_step(const Compiled& compiled, nb::handle leaves) {
    const auto count = static_cast<size_t>(PyList_GET_SIZE(leaves.ptr()));
    if (const auto device = runtime::backend(compiled.options().backend)->device())
        return run_step_on_device(compiled, device, leaves);
    std::vector<std::shared_ptr<const void>> held;
    std::vector<const void*> inputs;
    held.reserve(count);
    inputs.reserve(count);
    for (size_t i = 0; i < count; ++i) {
        const nb::handle leaf = PyList_GET_ITEM(leaves.ptr(), static_cast<Py_ssize_t>(i));
        const Tensor& tensor = content_of<LazyTensor>(leaf).tensor();
        held.push_back(ir::constant_array(tensor.node()).row_major());
        inputs.push_back(held.back().get());
    }
    std::vector<ir::Array> arrays;
    {
        const Released released;
        arrays = compiled.run(inputs);
    }
    return constants_of(compiled, arrays);
}

// Constants of the values of tensors, where those lie.
std::vector<Tensor> constants_of(const std::vector<Tensor>& tensors,
                                 const execute::Options& options) {
    const Located located;
    std::vector<ir::Array> values;
    {
        const Released released;
        values = execute::evaluate_and_keep(tensors, options);
    }
    eager::begin_piece();
    std::vector<Tensor> constants;
    for (size_t i = 0; i < values.size(); ++i)
        constants.push_back(eager::constant_of_kept(values[i], tensors[i].node().device()));
    return constants;
}

nb::object materialized(const LazyTensor& tensor, const execute::Options& options) {
    Tensor constant = constants_of({tensor.tensor()}, options)[0];
    return wrap_cell(Cell::make_in_order_of(*tensor.cell(), std::move(constant)));
}

// Whether it lives and has no value yet.
bool is_waiting(PyObject* reference) {
    PyObject* const object = PyWeakref_GetObject(reference);
    if (object == Py_None) return false;
    PyObject* const lazy = as_tensor(object)->lazy;
    if (!lazy) return true;
    const eager::Cell& cell = *content_of<LazyTensor>(lazy).cell();
    return !ir::is_constant(cell.memory()->tensor().node());
}

bool is_any_waiting(PyObject* references) {
    if (PyList_GET_SIZE(references) == 0) return false;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(references); ++i)
        if (is_waiting(PyList_GET_ITEM(references, i))) return true;
    empty(references);
    return false;
}

}  // namespace

std::vector<nb::object> run_program(nb::handle of, nb::handle leaves) {
    static PyObject* const compile = PyUnicode_InternFromString("compile");
    auto* const program = reinterpret_cast<ProgramObject*>(of.ptr());
    ++program->runs;
    if (program->runs == PyLong_AsLongLong(PyList_GET_ITEM(world().compile_after->ptr(), 0))) {
        const nb::object done = nb::steal(PyObject_CallMethodNoArgs(of.ptr(), compile));
        if (!done.is_valid()) throw nb::python_error();
    }
    const nb::object core = nb::borrow(program->core);  // the compiler may put another in its place
    return run_step(content_of<Compiled>(core), leaves);
}

std::optional<Wanted> wanted_of(const TraceObject* trace, bool with_gradients) {
    if (is_any_waiting(world().recent->ptr()) ||
        (with_gradients && is_any_waiting(world().gradients->ptr())))
        return std::nullopt;
    Wanted wanted;
    for (Py_ssize_t e = 0; e < PyList_GET_SIZE(trace->entries); ++e) {
        PyObject* const entry = PyList_GET_ITEM(trace->entries, e);
        const StateObject* const state = as_state(PyTuple_GET_ITEM(entry, 1));
        wanted.has_views = wanted.has_views || state->is_view;
        if (state->is_gradient && !with_gradients) continue;
        const Py_ssize_t first = PyLong_AsSsize_t(PyTuple_GET_ITEM(entry, 0));
        const Py_ssize_t count = PyList_GET_SIZE(state->results);
        for (Py_ssize_t place = first; place < first + count; ++place) {
            PyObject* const object = PyWeakref_GetObject(PyList_GET_ITEM(trace->tensors, place));
            if (object == Py_None) continue;
            const TensorObject* const tensor = as_tensor(object);
            if (tensor->lazy) continue;
            if (is_there(tensor->record) && !record_in(tensor->record).is_freed())
                return std::nullopt;
            if (!is_there(tensor->root)) wanted.places.push_back(place);
        }
    }
    return wanted;
}

nb::tuple tuple_of(const std::vector<int64_t>& places) {
    nb::tuple made = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(places.size())));
    for (size_t i = 0; i < places.size(); ++i)
        PyTuple_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(places[i]));
    return made;
}

namespace {

bool is_same(const PyObject* tuple, const std::vector<int64_t>& places) {
    auto* const held = const_cast<PyObject*>(tuple);
    if (!held || static_cast<size_t>(PyTuple_GET_SIZE(held)) != places.size()) return false;
    for (size_t i = 0; i < places.size(); ++i)
        if (PyLong_AsLongLong(PyTuple_GET_ITEM(held, static_cast<Py_ssize_t>(i))) != places[i])
            return false;
    return true;
}

// The program for those places, which the state keeps for the next time; None for none.
nb::object program_of(nb::handle trace, StateObject* state, const std::vector<int64_t>& places) {
    const nb::handle threads = PyList_GET_ITEM(world().threads->ptr(), 0);
    if (state->threads == threads.ptr() && is_same(state->wanted, places))
        return nb::borrow(state->program);
    const nb::tuple wanted = tuple_of(places);
    nb::object program = program_of_trace(trace, wanted, nb::none(), nb::tuple());
    if (!program.is_none()) {
        put(state->wanted, wanted);
        put(state->threads, threads);
        put(state->program, program);
    }
    return program;
}

// A value in memory of its own, as results that were made by structure lie there.
nb::object laid_as(nb::object value, PyObject* like) {
    if (!like) return value;
    const Cell& cell = *content_of<LazyTensor>(like).cell();
    if (cell.is_row_major()) return value;
    return wrap_cell(Cell::make(content_of<LazyTensor>(value).tensor(), cell.strides()));
}

// Gives results at places their values.
template <class ValueAt>
void set_values_at(const TraceObject* trace, const std::vector<int64_t>& places,
                   ValueAt&& value_at) {
    for (size_t i = 0; i < places.size(); ++i) {
        const nb::object held = nb::borrow(PyWeakref_GetObject(
            PyList_GET_ITEM(trace->tensors, static_cast<Py_ssize_t>(places[i]))));
        if (held.is_none()) continue;
        TensorObject* const tensor = as_tensor(held);
        put(tensor->lazy, laid_as(value_at(i), tensor->like));
        drop(tensor->like);
        drop(tensor->trace);
    }
}

// Computes the wanted tensors, and all others of the trace that live. False where that has to be
// done with nodes: nothing has changed then.
bool materialize_by_structure(PyObject* const* wanted, size_t count, bool with_gradients) {
    const World& all = world();
    if (!all.is_ready() || PyList_GET_ITEM(all.capturing->ptr(), 0) == Py_True) return false;
    const nb::object now = nb::borrow(PyList_GET_ITEM(all.current->ptr(), 0));
    auto* const trace = reinterpret_cast<TraceObject*>(now.ptr());
    if (trace->is_built || PyList_GET_SIZE(trace->entries) == 0) return false;
    for (size_t i = 0; i < count; ++i) {
        if (!is_tensor_of_torch(wanted[i])) return false;
        const TensorObject* const tensor = as_tensor(wanted[i]);
        if (tensor->mark != trace->mark || tensor->lazy) return false;
    }
    const std::optional<Wanted> found = wanted_of(trace, with_gradients);
    if (!found) return false;
    const nb::object program = program_of(now, as_state(trace->state), found->places);
    if (program.is_none()) return false;
    trace->is_open = 0;
    const std::vector<nb::object> values = run_program(program, trace->bound);
    set_values(now, *found, values);
    restart_trace();
    return true;
}

// materialize(*wanted, with_gradients=True)
PyObject* materialize(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* names) {
    return guarded([&]() -> PyObject* {
        bool with_gradients = true;
        if (names && PyTuple_GET_SIZE(names) > 0) {
            const bool is_known =
                PyTuple_GET_SIZE(names) == 1 &&
                PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "with_gradients") == 0;
            if (!is_known)
                throw nb::type_error(
                    "materialize: with_gradients is the only argument with a name.");
            with_gradients = PyObject_IsTrue(values[count]) == 1;
        }
        if (materialize_by_structure(values, static_cast<size_t>(count), with_gradients))
            Py_RETURN_NONE;
        const nb::tuple wanted = nb::steal<nb::tuple>(PyTuple_New(count));
        for (Py_ssize_t i = 0; i < count; ++i)
            PyTuple_SET_ITEM(wanted.ptr(), i, Py_NewRef(values[i]));
        return (*world().materialize)(wanted, with_gradients).release().ptr();
    });
}

const Cell* memory_of_cell(nb::handle tensor) {
    return content_of<LazyTensor>(lazy_of(tensor)).cell()->memory();
}

// Whether the tensor's cell is that of a recorded one, whose graph gradients go through; or one
// that a leaf has left, of which there may be recorded views.
bool keeps_graph(nb::handle of) {
    nb::object tensor = nb::borrow(of);
    while (tensor.is_valid()) {
        const TensorObject* const self = as_tensor(tensor);
        if (is_there(self->record) && !record_in(self->record).is_freed()) return true;
        nb::object holder = is_there(self->twin)   ? twin_of(self)
                            : is_there(self->root) ? nb::borrow(self->root)
                                                   : nb::object();
        if (holder.is_valid() && as_tensor(holder)->is_leaf &&
            memory_of_cell(tensor) != memory_of_cell(holder))
            return true;
        tensor = std::move(holder);
    }
    return false;
}

void add_living(PyObject* references, std::vector<nb::object>& found) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(references); ++i) {
        PyObject* const object = PyWeakref_GetObject(PyList_GET_ITEM(references, i));
        if (object != Py_None) found.push_back(nb::borrow(object));
    }
    empty(references);
}

// Of a leaf in other memory: where nobody else sees that any more, it is its own.
Ref<Cell> own_where_alone(TensorObject* leaf, Ref<Cell> cell) {
    if (!eager::is_alone(*cell)) return cell;
    Ref<Cell> own;
    if (!cell->is_row_major())
        own = Cell::make(cell->tensor(), cell->strides());
    else if (!(own = Cell::make_known_copy(*cell)))
        own = Cell::make(cell->tensor());
    put(leaf->lazy, wrap_cell(own));
    drop(leaf->twin);
    return own;
}

// Computes the wanted tensors, and all others that live and have no values, in one plan. A tensor
// that is not recorded then holds its value in place of its graph.
void materialize_with_nodes(const nb::tuple& wanted, bool with_gradients,
                            const execute::Options& options) {
    std::vector<nb::object> tensors;
    for (nb::handle tensor : wanted) {
        torch_tensor(tensor);
        tensors.push_back(nb::borrow(tensor));
    }
    add_living(world().recent->ptr(), tensors);
    if (with_gradients) add_living(world().gradients->ptr(), tensors);
    empty(world().gradients->ptr());
    std::unordered_set<PyObject*> seen;
    std::set<std::pair<const Cell*, bool>> met;
    std::vector<std::pair<Ref<Cell>, bool>> places;  // whether they keep their graph
    std::vector<Ref<Cell>> leaves;                   // in other tensors' memory
    for (size_t i = 0; i < tensors.size(); ++i) {
        const nb::object& each = tensors[i];
        if (!seen.insert(each.ptr()).second) continue;
        TensorObject* const tensor = as_tensor(each);
        const nb::object lazy = lazy_of(each);
        Ref<Cell> cell = content_of<LazyTensor>(lazy).cell();
        if (tensor->is_leaf && !cell->is_plain()) {
            cell = own_where_alone(tensor, std::move(cell));
            if (!cell->is_plain()) leaves.push_back(cell);
        }
        const bool keeps = keeps_graph(each);
        Ref<Cell> target = keeps ? cell : Ref<Cell>(cell->memory());
        tensor->is_pending = 0;
        if (ir::is_constant(target->tensor().node())) continue;
        // What a transform's function has computed so far lives, and has no value.
        if (i >= nb::len(wanted) && target->tensor().node().is_open()) continue;
        if (keeps && (target->seen() || eager::known(target->tensor()))) continue;
        if (met.emplace(target.get(), keeps).second) places.emplace_back(std::move(target), keeps);
    }
    std::vector<Tensor> computed;
    for (const auto& [cell, keeps] : places) computed.push_back(cell->tensor());
    if (!places.empty()) {
        const std::vector<Tensor> values = constants_of(computed, options);
        for (size_t i = 0; i < places.size(); ++i)
            if (!places[i].second) places[i].first->replace(values[i]);
    }
    for (const Ref<Cell>& leaf : leaves) eager::forget_origin(*leaf);
}

PyMethodDef materialize_method = {
    "materialize", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(materialize)),
    METH_FASTCALL | METH_KEYWORDS,
    "Computes the wanted tensors, and all others that live and were not computed."};

void add_reference(PyObject* references, nb::handle tensor, Py_ssize_t& limit) {
    append(references, nb::steal(PyWeakref_NewRef(tensor.ptr(), nullptr)));
    if (PyList_GET_SIZE(references) <= limit) return;
    nb::list living;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(references); ++i) {
        PyObject* const reference = PyList_GET_ITEM(references, i);
        if (PyWeakref_GetObject(reference) != Py_None) living.append(nb::handle(reference));
    }
    if (PyList_SetSlice(references, 0, PY_SSIZE_T_MAX, living.ptr()) != 0) throw nb::python_error();
    limit = std::max(fewest_references, 2 * PyList_GET_SIZE(references));
}

}  // namespace

void set_values(nb::handle of, const Wanted& wanted, const std::vector<nb::object>& values) {
    const auto* const trace = reinterpret_cast<const TraceObject*>(of.ptr());
    set_values_at(trace, wanted.places, [&](size_t i) { return values[i]; });
    if (wanted.has_views) set_views(of);
}

void enter(nb::handle tensor) {
    static Py_ssize_t limit = fewest_references;
    add_reference(world().recent->ptr(), tensor, limit);
}

void enter_gradient(nb::handle tensor) {
    static Py_ssize_t limit = fewest_references;
    add_reference(world().gradients->ptr(), tensor, limit);
}

bool materialize_by_structure(nb::handle tensor) {
    PyObject* const wanted = tensor.ptr();
    return materialize_by_structure(&wanted, 1, true);
}

void bind_materializing(nb::module_& module) {
    world().recent = held(nb::list());
    world().gradients = held(nb::list());
    module.def(
        "enter",
        [](nb::handle tensor) {
            torch_tensor(tensor);
            enter(tensor);
        },
        nb::arg("tensor"),
        "A tensor that was made or written, whose value will be wanted if it lives.");
    module.def(
        "enter_gradient",
        [](nb::handle tensor) {
            torch_tensor(tensor);
            enter_gradient(tensor);
        },
        nb::arg("tensor"),
        "A gradient, whose value is computed with others' unless an optimiser takes it first.");
    module.def("materialize_with_nodes", materialize_with_nodes, nb::arg("wanted"),
               nb::arg("with_gradients"), nb::arg("options"),
               "Computes the wanted tensors, and all others that live and have no values.");
    module.attr("materialize") = nb::steal(PyCFunction_New(&materialize_method, nullptr));
    module.def(
        "run_program",
        [](nb::handle program, nb::handle leaves) {
            nb::list results;
            for (const nb::object& value : run_program(program, leaves)) results.append(value);
            return results;
        },
        nb::arg("program"), nb::arg("leaves"),
        "A program's outputs as constants, from the constants of its inputs.");
    module.def(
        "materialized_by_structure",
        [](nb::handle tensor) { return materialize_by_structure(tensor); }, nb::arg("tensor"),
        "Computes a tensor as materialize does if the trace's program is known; else False.");
    module.def(
        "own_constant", [](const Tensor& constant) { return wrap_copy(eager::own_node(constant)); },
        nb::arg("constant"), "Another constant with the same values.");
    module.def("materialized", materialized, nb::arg("tensor"), nb::arg("options"),
               "A constant of a tensor's values, on its device, whose axes follow each other in "
               "memory as the tensor's do; the tensor's node keeps the values.");
    module.def("restart_trace", restart_trace, "A new trace begins.");
}

}  // namespace composit::python

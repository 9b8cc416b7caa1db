// Python types of the structs: fields as attributes, what the cycle collector sees.
#include "torch_objects.h"

#include "casters.h"
#include "cell.h"
#include "content.h"
#include "held.h"
#include "provided.h"
#include "tape.h"

#include <array>
#include <cstddef>
#include <exception>
#include <initializer_list>
#include <string>
#include <structmember.h>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

PyTypeObject* type_of_tensors = nullptr;  // live as long as the interpreter
PyTypeObject* type_of_states = nullptr;

// Where the objects stand in each struct.
template <class Object>
constexpr std::array<size_t, 0> fields{};
template <>
constexpr std::array fields<TensorObject> = {
    offsetof(TensorObject, lazy),      offsetof(TensorObject, record),
    offsetof(TensorObject, root),      offsetof(TensorObject, record_of_root),
    offsetof(TensorObject, grad),      offsetof(TensorObject, twin),
    offsetof(TensorObject, twins),     offsetof(TensorObject, trace),
    offsetof(TensorObject, like),      offsetof(TensorObject, hooks),
    offsetof(TensorObject, post_hooks)};
template <>
constexpr std::array fields<TraceObject> = {
    offsetof(TraceObject, bound),   offsetof(TraceObject, bound_places),
    offsetof(TraceObject, entries), offsetof(TraceObject, lazies),
    offsetof(TraceObject, records), offsetof(TraceObject, state),
    offsetof(TraceObject, tensors)};
template <>
constexpr std::array fields<StateObject> = {
    offsetof(StateObject, patterns), offsetof(StateObject, results),
    offsetof(StateObject, saved),    offsetof(StateObject, wanted),
    offsetof(StateObject, threads),  offsetof(StateObject, program)};
template <>
constexpr std::array fields<ProgramObject> = {offsetof(ProgramObject, core),
                                              offsetof(ProgramObject, inputs),
                                              offsetof(ProgramObject, outputs)};

PyObject*& field_at(PyObject* self, size_t offset) {
    return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(self) + offset);
}

template <class Object>
int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    for (const size_t offset : fields<Object>) Py_VISIT(field_at(self, offset));
    return 0;
}

template <class Object>
int clear(PyObject* self) {
    for (const size_t offset : fields<Object>) Py_CLEAR(field_at(self, offset));
    return 0;
}

template <class Object>
void dealloc(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if constexpr (std::is_same_v<Object, TensorObject>) {
        if (as_tensor(self)->weak) PyObject_ClearWeakRefs(self);
        delete as_tensor(self)->leaf;
        as_tensor(self)->counter.~Ref();
    }
    clear<Object>(self);
    type->tp_free(self);
    Py_DECREF(type);
}

constexpr PyMemberDef object_at(const char* name, size_t offset) {
    return {name, T_OBJECT, static_cast<Py_ssize_t>(offset), 0, nullptr};
}
constexpr PyMemberDef required_at(const char* name, size_t offset) {
    return {name, T_OBJECT_EX, static_cast<Py_ssize_t>(offset), 0, nullptr};
}
constexpr PyMemberDef number_at(const char* name, size_t offset) {
    return {name, T_LONGLONG, static_cast<Py_ssize_t>(offset), 0, nullptr};
}
constexpr PyMemberDef fact_at(const char* name, size_t offset) {
    return {name, T_BOOL, static_cast<Py_ssize_t>(offset), 0, nullptr};
}

PyMemberDef tensor_members[] = {
    object_at("_record_of_root", offsetof(TensorObject, record_of_root)),
    object_at("_grad", offsetof(TensorObject, grad)),
    object_at("_twin", offsetof(TensorObject, twin)),
    object_at("_twins", offsetof(TensorObject, twins)),
    object_at("_trace", offsetof(TensorObject, trace)),
    object_at("_like", offsetof(TensorObject, like)),
    object_at("_hooks", offsetof(TensorObject, hooks)),
    object_at("_post_hooks", offsetof(TensorObject, post_hooks)),
    number_at("_mark", offsetof(TensorObject, mark)),
    number_at("_place", offsetof(TensorObject, place)),
    number_at("_number", offsetof(TensorObject, number)),
    fact_at("_is_leaf_with_grad", offsetof(TensorObject, is_leaf)),
    fact_at("_is_tainted", offsetof(TensorObject, is_tainted)),
    fact_at("_is_shared", offsetof(TensorObject, is_shared)),
    fact_at("_is_pending", offsetof(TensorObject, is_pending)),
    fact_at("_is_data", offsetof(TensorObject, is_data)),
    {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyObject* has_lazy(PyObject* self, void*) {
    return PyBool_FromLong(as_tensor(self)->lazy != nullptr);
}

// What has its dtype and shape: the placeholder, or what it holds.
PyObject* seen(PyObject* self, void*) {
    const TensorObject* const tensor = as_tensor(self);
    if (is_there(tensor->like)) return Py_NewRef(tensor->like);
    if (tensor->lazy) return Py_NewRef(tensor->lazy);
    return PyObject_GetAttrString(self, "_lazy");
}

PyObject* get_lazy(PyObject* self, void*) {
    if (PyObject* const lazy = as_tensor(self)->lazy) return Py_NewRef(lazy);
    PyErr_SetString(PyExc_AttributeError, "_lazy");
    return nullptr;
}

// Tensors of no dimension are arrays, not scalars as NumPy's: they can be written.
int set_lazy(PyObject* self, PyObject* value, void*) {
    PyObject* const done = guarded([&]() -> PyObject* {
        PyObject*& field = as_tensor(self)->lazy;
        if (!value)
            drop(field);
        else if (is_tensor(value) && is_scalar(value))
            put(field, wrap_cell(content_of<LazyTensor>(value).cell()));
        else
            put(field, value);
        return Py_NewRef(Py_None);
    });
    Py_XDECREF(done);
    return done ? 0 : -1;
}

PyObject* get_root(PyObject* self, void*) {
    PyObject* const root = as_tensor(self)->root;
    return Py_NewRef(root ? root : Py_None);
}

PyObject* get_record(PyObject* self, void*) {
    PyObject* const record = as_tensor(self)->record;
    return Py_NewRef(record ? record : Py_None);
}

int set_record(PyObject* self, PyObject* value, void*) {
    if (!value || value == Py_None) {
        drop(as_tensor(self)->record);
        return 0;
    }
    if (!is_record(value)) {
        PyErr_SetString(PyExc_TypeError, "_record: a GradFn or None is required.");
        return -1;
    }
    put(as_tensor(self)->record, value);
    return 0;
}

// A view counts its writes where its root does.
int set_root(PyObject* self, PyObject* value, void*) {
    TensorObject* const tensor = as_tensor(self);
    if (value && is_there(value)) {
        if (!is_tensor_of_torch(value)) {
            PyErr_SetString(PyExc_TypeError, "_root: a Tensor or None is required.");
            return -1;
        }
        put(tensor->root, value);
        share_counter(tensor, as_tensor(value));
    } else if (is_there(tensor->root)) {
        drop(tensor->root);
        tensor->counter = nullptr;
    }
    return 0;
}

PyObject* version(PyObject* self, void*) {
    const Ref<eager::VersionCounter>& counter = as_tensor(self)->counter;
    return PyLong_FromLongLong(counter ? counter->version() : 0);
}

PyGetSetDef tensor_properties[] = {
    {"_record", get_record, set_record, "The GradFn of what made it.", nullptr},
    {"_root", get_root, set_root, "The Tensor that it is a view of.", nullptr},
    {"_version", version, nullptr, "How often its memory was written.", nullptr},
    {"_lazy", get_lazy, set_lazy, "What it holds.", nullptr},
    {"_has_lazy", has_lazy, nullptr, "Whether its node was made, or its value is known.", nullptr},
    {"_seen", seen, nullptr, "What has its dtype and shape.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef trace_members[] = {required_at("bound", offsetof(TraceObject, bound)),
                               required_at("bound_places", offsetof(TraceObject, bound_places)),
                               required_at("entries", offsetof(TraceObject, entries)),
                               required_at("lazies", offsetof(TraceObject, lazies)),
                               required_at("records", offsetof(TraceObject, records)),
                               required_at("state", offsetof(TraceObject, state)),
                               required_at("tensors", offsetof(TraceObject, tensors)),
                               number_at("mark", offsetof(TraceObject, mark)),
                               fact_at("is_built", offsetof(TraceObject, is_built)),
                               fact_at("is_open", offsetof(TraceObject, is_open)),
                               {nullptr, 0, 0, 0, nullptr}};

void begin(TraceObject* trace, PyObject* root) {
    put(trace->state, root);
    trace->mark = next_mark();
    trace->is_built = 0;
    trace->is_open = 1;
}

PyObject* allocated(PyTypeObject* type) {
    PyObject* const made = type->tp_alloc(type, 0);
    if (!made) throw nb::python_error();
    return made;
}

PyObject* made_trace(PyTypeObject* type, PyObject* root) {
    nb::object made = nb::steal(allocated(type));
    auto* const trace = reinterpret_cast<TraceObject*>(made.ptr());
    for (PyObject** list : {&trace->bound, &trace->bound_places, &trace->entries, &trace->lazies,
                            &trace->records, &trace->tensors})
        if (!(*list = PyList_New(0))) throw nb::python_error();
    begin(trace, root);
    return made.release().ptr();
}

PyObject* new_trace(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject* root = nullptr;
    if (!PyArg_ParseTuple(args, "O", &root)) return nullptr;
    return guarded([&] { return made_trace(type, root); });
}

// Whether a trace that has ended, and that nothing but the caller holds, has nothing in it now.
bool is_emptied(TraceObject* trace) {
    if (Py_REFCNT(reinterpret_cast<PyObject*>(trace)) != 1) return false;
    for (PyObject* list : {trace->bound, trace->bound_places, trace->entries, trace->lazies,
                           trace->records, trace->tensors}) {
        if (!list || Py_REFCNT(list) != 1) return false;
        empty(list);
    }
    return true;
}

PyMemberDef state_members[] = {required_at("patterns", offsetof(StateObject, patterns)),
                               required_at("results", offsetof(StateObject, results)),
                               object_at("saved", offsetof(StateObject, saved)),
                               fact_at("is_view", offsetof(StateObject, is_view)),
                               fact_at("is_gradient", offsetof(StateObject, is_gradient)),
                               {nullptr, 0, 0, 0, nullptr}};

PyMemberDef program_members[] = {required_at("core", offsetof(ProgramObject, core)),
                                 required_at("inputs", offsetof(ProgramObject, inputs)),
                                 required_at("outputs", offsetof(ProgramObject, outputs)),
                                 number_at("runs", offsetof(ProgramObject, runs)),
                                 {nullptr, 0, 0, 0, nullptr}};

template <class Object>
PyTypeObject* add_type(nb::module_& module, const char* name, const char* doc,
                       std::initializer_list<PyType_Slot> more) {
    std::vector<PyType_Slot> slots = {{Py_tp_doc, const_cast<char*>(doc)},
                                      {Py_tp_traverse, reinterpret_cast<void*>(traverse<Object>)},
                                      {Py_tp_clear, reinterpret_cast<void*>(clear<Object>)},
                                      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc<Object>)}};
    slots.insert(slots.end(), more);
    slots.push_back({0, nullptr});
    const std::string whole = std::string("composit._core.") + name;
    PyType_Spec spec = {whole.c_str(), sizeof(Object), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                        slots.data()};
    PyObject* const type = PyType_FromSpec(&spec);
    if (!type) throw nb::python_error();
    module.attr(name) = nb::borrow(type);
    return reinterpret_cast<PyTypeObject*>(type);
}

// Python's error of the exception that is being handled: nanobind knows the classes.
nb::object& thrower() {
    static auto* function = new nb::object;
    return *function;
}

// The exception on its way to Python. Made when the module is loaded: memory may have ended.
std::exception_ptr thrown;

void follow_world(const nb::dict& said) {
    World& all = world();
    const auto take = [&](std::shared_ptr<nb::object>& field, const char* name) {
        field = held(nb::borrow(said[name]));
    };
    take(all.current, "current");
    take(all.defaults, "defaults");
    take(all.tensor, "tensor");
    take(all.trace, "trace");
    take(all.roots, "roots");
    take(all.count, "count");
    take(all.capturing, "capturing");
    take(all.threads, "threads");
    take(all.compile_after, "compile_after");
    take(all.interrupt, "interrupt");
    // What no reference holds: the object dies at once.
    const nb::object nobody = nb::steal(PySet_New(nullptr));
    all.nobody = held(nb::steal(PyWeakref_NewRef(nobody.ptr(), nullptr)));
    all.most_states = nb::cast<long long>(said["most_states"]);
    all.spare = held(nb::none());
    all.spare->reset();
    take(all.materialize, "materialize");
}

}  // namespace

World& world() {
    static World& all = *new World;
    return all;
}

void set_error_of_exception() noexcept {
    thrown = std::current_exception();
    PyObject* const result = PyObject_CallNoArgs(thrower().ptr());
    Py_XDECREF(result);
}

bool is_tensor_of_torch(nb::handle value) {
    return value.type().ptr() == world().tensor->ptr() ||
           PyObject_TypeCheck(value.ptr(), type_of_tensors);
}

bool is_state(nb::handle value) { return PyObject_TypeCheck(value.ptr(), type_of_states); }

nb::object lazy_of(nb::handle tensor) {
    static PyObject* const name = PyUnicode_InternFromString("_lazy");
    if (PyObject* const lazy = as_tensor(tensor)->lazy) return nb::borrow(lazy);
    PyObject* const found = PyObject_GetAttr(tensor.ptr(), name);
    if (!found) throw nb::python_error();
    return nb::steal(found);
}

ir::TensorType type_seen(nb::handle tensor) {
    PyObject* const like = as_tensor(tensor)->like;
    const nb::object seen = is_there(like) ? nb::borrow(like) : lazy_of(tensor);
    return content_of<LazyTensor>(seen).type();
}

nb::object new_tensor() {
    return nb::steal(allocated(reinterpret_cast<PyTypeObject*>(world().tensor->ptr())));
}

long long next_mark() {
    static long long last = 0;
    return ++last;
}

void restart_trace() {
    const World& all = world();
    const nb::object old = nb::borrow(PyList_GET_ITEM(all.current->ptr(), 0));
    if (PyLong_AsLongLong(PyList_GET_ITEM(all.count->ptr(), 0)) > all.most_states) {
        PyDict_Clear(all.roots->ptr());  // what was learnt is learnt anew
        (*all.count)[0] = 0;
    }
    nb::object root = nb::borrow(PyDict_GetItemString(all.roots->ptr(), ""));
    if (!root.is_valid()) {
        root = provided("trace_root")();
        (*all.roots)[""] = root;
    }
    auto* const trace = reinterpret_cast<TraceObject*>(old.ptr());
    trace->is_open = 0;
    auto* const type = reinterpret_cast<PyTypeObject*>(all.trace->ptr());
    // What is let go of may run Python: the next trace is there by then.
    nb::object next = std::exchange(*all.spare, nb::object());
    if (next.is_valid())
        begin(reinterpret_cast<TraceObject*>(next.ptr()), root.ptr());
    else
        next = nb::steal(made_trace(type, root.ptr()));
    if (PyList_SetItem(all.current->ptr(), 0, next.release().ptr()) != 0) throw nb::python_error();
    if (Py_TYPE(old.ptr()) == type && is_emptied(trace)) *all.spare = old;
}

void interrupt_trace() {
    const World& all = world();
    const bool is_capturing = PyList_GET_ITEM(all.capturing->ptr(), 0) == Py_True;
    if (is_capturing || PyList_GET_SIZE(all.trace_of_now()->tensors) > 0) (*all.interrupt)();
}

void bind_torch_objects(nb::module_& module) {
    type_of_tensors = add_type<TensorObject>(
        module, "TensorFields", "What a Tensor of composit.torch consists of.",
        {{Py_tp_members, tensor_members}, {Py_tp_getset, tensor_properties}});
    add_type<TraceObject>(
        module, "TraceFields", "The operations since the last evaluation.",
        {{Py_tp_members, trace_members}, {Py_tp_new, reinterpret_cast<void*>(new_trace)}});
    type_of_states = add_type<StateObject>(module, "StateFields", "What is known of such traces.",
                                           {{Py_tp_members, state_members}});
    add_type<ProgramObject>(module, "ProgramFields", "A program that computes values of a trace.",
                            {{Py_tp_members, program_members}});
    module.def("follow_world", follow_world, nb::arg("said"),
               "Where traces are, and what else the bindings of composit.torch need, by name.");
    thrower() = nb::cpp_function([] { std::rethrow_exception(std::exchange(thrown, nullptr)); });
}

}  // namespace composit::python

#include "following.h"

#include "bindings.h"
#include "cell.h"
#include "composit/ir/body.h"
#include "content.h"
#include "held.h"
#include "location.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

// What composit/torch/steps.py says once; strong references for ever.
struct Names {
    PyObject *mark, *trace_mark, *place, *trace, *like, *lazy, *record, *is_leaf, *is_tainted,
        *is_pending, *root, *record_of_root, *state, *is_open, *is_built, *tensors, *records,
        *bound, *bound_places, *entries, *patterns, *version, *results, *grad, *is_shared;
};

Names make_names() {
    const auto name = [](const char* text) { return PyUnicode_InternFromString(text); };
    return {
        name("_mark"),       name("mark"),        name("_place"),       name("_trace"),
        name("_like"),       name("_lazy"),       name("_record"),      name("_is_leaf_with_grad"),
        name("_is_tainted"), name("_is_pending"), name("_root"),        name("_record_of_root"),
        name("state"),       name("is_open"),     name("is_built"),     name("tensors"),
        name("records"),     name("bound"),       name("bound_places"), name("entries"),
        name("patterns"),    name("_writes"),     name("results"),      name("_grad"),
        name("_is_shared")};
}

const Names& names() {
    static const Names all = make_names();
    return all;
}

struct World {
    std::shared_ptr<nb::object> current;   // a list: the trace of now
    std::shared_ptr<nb::object> defaults;  // a list: the name of the default dtype
    std::shared_ptr<nb::object> tensor;    // the class Tensor
    std::shared_ptr<nb::object> base;      // the class TensorBase
    unsigned long owner = 0;               // the thread whose operations are recorded
};

World& world() {
    static World& all = *new World;
    return all;
}

nb::object get(nb::handle object, PyObject* name) {
    PyObject* found = PyObject_GetAttr(object.ptr(), name);
    if (!found) throw nb::python_error();
    return nb::steal(found);
}

// Of a tensor or trace, without asking its class's __getattr__ for what is not there.
nb::object look(nb::handle object, PyObject* name) {
    PyObject* found = PyObject_GenericGetAttr(object.ptr(), name);
    if (!found) throw nb::python_error();
    return nb::steal(found);
}

void set(nb::handle object, PyObject* name, nb::handle value) {
    if (PyObject_GenericSetAttr(object.ptr(), name, value.ptr()) != 0) throw nb::python_error();
}

void append(nb::handle list, nb::handle value) {
    if (PyList_Append(list.ptr(), value.ptr()) != 0) throw nb::python_error();
}

bool is_true(nb::handle object, PyObject* name) { return look(object, name).ptr() == Py_True; }

bool is_tensor_of_torch(nb::handle value) {
    return value.type().ptr() == world().tensor->ptr() ||
           PyObject_TypeCheck(value.ptr(), reinterpret_cast<PyTypeObject*>(world().base->ptr()));
}

nb::object new_tensor() {
    auto* const type = reinterpret_cast<PyTypeObject*>(world().tensor->ptr());
    nb::object tensor = nb::steal(type->tp_alloc(type, 0));
    if (!tensor.is_valid()) throw nb::python_error();
    return tensor;
}

// A tensor that was not in the trace before.
struct Leaf {
    nb::object tensor, lazy;
    int64_t place = 0;
    bool is_recorded = false;
};

// What one argument must be.
struct Check {
    enum class Kind { place, leaf, plain, number, sequence } kind = Kind::plain;
    int64_t place = 0;
    int64_t code = 0;  // of a leaf: its type and flags
    nb::object value;  // of plain ones
    std::vector<Check> items;
    bool is_list = false;
};

// The number that steps.py's enter_leaf puts into keys for a constant; below 0 where it is not one
// that can be entered without further work.
int64_t code_of_leaf(nb::handle tensor, Leaf& leaf) {
    const Names& name = names();
    if (is_true(tensor, name.is_pending)) return -1;
    leaf.is_recorded = is_true(tensor, name.is_leaf);
    const bool is_tainted = is_true(tensor, name.is_tainted);
    if (!leaf.is_recorded) {
        if (!look(tensor, name.record).is_none()) return -1;
        const nb::object root = look(tensor, name.root);
        if (!is_tainted && !root.is_none() &&
            (!look(root, name.record).is_none() || is_true(root, name.is_leaf)))
            return -1;
    }
    leaf.lazy = get(tensor, name.lazy);
    const Tensor& held = content_of<LazyTensor>(leaf.lazy).tensor();
    if (held.type().weak || !ir::is_constant(held.node())) return -1;
    return 8 * number_of_type(held.type()) + (leaf.is_recorded ? 1 : 0) + (is_tainted ? 2 : 0) + 4;
}

class Matching {
  public:
    Matching(nb::handle trace, nb::handle mark, int64_t count)
        : trace_(trace), mark_(mark), count_(count) {}

    bool fits(const Check& check, nb::handle value) {
        switch (check.kind) {
            case Check::Kind::place: return is_at(check.place, value);
            case Check::Kind::leaf: return is_leaf(check, value);
            case Check::Kind::plain: return is_same(check.value, value);
            case Check::Kind::number:
                return PyFloat_CheckExact(value.ptr()) &&
                       std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(value.ptr())) ==
                           std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(check.value.ptr()));
            case Check::Kind::sequence: return is_sequence(check, value);
        }
        return false;
    }

    std::vector<Leaf> leaves;

  private:
    bool is_at(int64_t place, nb::handle value) {
        if (!is_tensor_of_torch(value)) return false;
        if (place >= count_)
            return std::any_of(leaves.begin(), leaves.end(), [&](const Leaf& leaf) {
                return leaf.place == place && leaf.tensor.ptr() == value.ptr();
            });
        return look(value, names().mark).ptr() == mark_.ptr() &&
               PyLong_AsLongLong(look(value, names().place).ptr()) == place;
    }

    bool is_leaf(const Check& check, nb::handle value) {
        if (!is_tensor_of_torch(value) || look(value, names().mark).ptr() == mark_.ptr())
            return false;
        for (const Leaf& leaf : leaves)
            if (leaf.tensor.ptr() == value.ptr()) return false;
        Leaf leaf{nb::borrow(value), {}, check.place};
        if (code_of_leaf(value, leaf) != check.code) return false;
        leaves.push_back(std::move(leaf));
        return true;
    }

    static bool is_same(const nb::object& expected, nb::handle value) {
        if (expected.ptr() == value.ptr()) return true;
        if (expected.type().ptr() != value.type().ptr()) return false;
        const int equal = PyObject_RichCompareBool(expected.ptr(), value.ptr(), Py_EQ);
        if (equal < 0) throw nb::python_error();
        return equal == 1;
    }

    bool is_sequence(const Check& check, nb::handle value) {
        const bool is_list = PyList_CheckExact(value.ptr());
        if (is_list != check.is_list || !(is_list || PyTuple_Check(value.ptr()))) return false;
        const Py_ssize_t length = PySequence_Fast_GET_SIZE(value.ptr());
        if (static_cast<size_t>(length) != check.items.size()) return false;
        for (Py_ssize_t i = 0; i < length; ++i)
            if (!fits(check.items[static_cast<size_t>(i)],
                      PySequence_Fast_GET_ITEM(value.ptr(), i)))
                return false;
        return true;
    }

    nb::handle trace_, mark_;
    int64_t count_;
};

// A known operation, and the state after it.
class Pattern {
  public:
    // `arguments` and `named` say what each must be: ("place", n), ("leaf", n, code), ("plain",
    // value), ("number", value), ("list" or "tuple", items).
    Pattern(nb::object function, bool is_recording, nb::object defaults, uintptr_t line,
            const nb::tuple& arguments, const nb::dict& named, nb::object state)
        : function_(std::move(function)),
          is_recording_(is_recording),
          default_(std::move(defaults)),
          line_(line),
          state_(std::move(state)) {
        for (nb::handle item : arguments) arguments_.push_back(check_of(item));
        for (auto [name, item] : named) named_.emplace_back(nb::borrow(name), check_of(item));
        is_view_ = nb::cast<bool>(state_.attr("is_view"));
        is_tainted_ = nb::cast<bool>(state_.attr("is_tainted"));
        kind_ = state_.attr("kind");
        name_ = state_.attr("name");
        has_record_ = !state_.attr("sources").is_none();
        if (has_record_)
            for (nb::handle source : state_.attr("sources"))
                sources_.push_back(nb::cast<int64_t>(source));
        for (nb::handle like : state_.attr("results")) likes_.push_back(nb::borrow(like));
        for (nb::handle is_float : state_.attr("floats"))
            floats_.push_back(nb::cast<bool>(is_float));
    }

    bool fits(Matching& matching, nb::handle function, bool is_recording,
              const nb::tuple& arguments, const nb::dict& named) const {
        if (function.ptr() != function_.ptr() || is_recording != is_recording_ ||
            arguments.size() != arguments_.size() || named.size() != named_.size() || !is_default())
            return false;
        for (size_t i = 0; i < arguments_.size(); ++i)
            if (!matching.fits(arguments_[i], PyTuple_GET_ITEM(arguments.ptr(), i))) return false;
        for (const auto& [name, check] : named_) {
            PyObject* value = PyDict_GetItemWithError(named.ptr(), name.ptr());
            if (!value || !matching.fits(check, value)) return false;
        }
        return line_ == reinterpret_cast<uintptr_t>(user_location());
    }

    nb::object follow(nb::handle trace, nb::handle mark, Matching& matching,
                      const nb::tuple& arguments) const {
        const Names& name = names();
        const nb::object tensors = look(trace, name.tensors), records = look(trace, name.records);
        enter(trace, mark, tensors, records, matching.leaves);
        const auto first = static_cast<int64_t>(PyList_GET_SIZE(tensors.ptr()));
        // Places are told by the state: this is the same each time.
        if (!entry_.is_valid()) entry_ = nb::make_tuple(first, state_);
        append(look(trace, name.entries), entry_);
        set(trace, name.state, state_);
        nb::object record = nb::none();
        if (has_record_) {
            nb::list made;
            made.append(name_);
            for (const int64_t source : sources_)
                append(made, PyList_GET_ITEM(records.ptr(), static_cast<Py_ssize_t>(source)));
            record = std::move(made);
        }
        nb::object root;
        if (is_view_) {
            const nb::handle source = PyTuple_GET_ITEM(arguments.ptr(), 0);
            root = look(source, name.root);
            if (root.is_none()) root = nb::borrow(source);
        }
        std::vector<nb::object> results;
        for (size_t i = 0; i < likes_.size(); ++i) {
            nb::object tensor = new_tensor();
            set(tensor, name.mark, mark);
            set(tensor, name.trace, trace);
            set(tensor, name.place, nb::int_(first + static_cast<int64_t>(i)));
            set(tensor, name.like, likes_[i]);
            if (has_record_ && floats_[i]) {
                set(tensor, name.record, record);
                append(records, record);
            } else {
                if (has_record_ || is_tainted_) set(tensor, name.is_tainted, nb::borrow(Py_True));
                append(records, nb::none());
            }
            if (root.is_valid()) {
                set(root, name.is_shared, nb::borrow(Py_True));
                set(tensor, name.root, root);
                set(tensor, name.record_of_root, look(root, name.record));
            }
            append(tensors, nb::steal(PyWeakref_NewRef(tensor.ptr(), nullptr)));
            results.push_back(std::move(tensor));
        }
        if (kind_.is_none()) return results[0];
        nb::list parts;
        for (const nb::object& result : results) parts.append(result);
        return nb::hasattr(kind_, "_fields") ? kind_(*nb::tuple(parts)) : kind_(parts);
    }

    static void enter(nb::handle trace, nb::handle mark, nb::handle tensors, nb::handle records,
                      std::vector<Leaf>& leaves) {
        if (leaves.empty()) return;
        const Names& name = names();
        std::sort(leaves.begin(), leaves.end(),
                  [](const Leaf& a, const Leaf& b) { return a.place < b.place; });
        const nb::object bound = look(trace, name.bound), places = look(trace, name.bound_places);
        for (const Leaf& leaf : leaves) {
            const nb::int_ place(leaf.place);
            set(leaf.tensor, name.mark, mark);
            set(leaf.tensor, name.place, place);
            append(tensors, leaf.tensor);
            append(records, leaf.is_recorded ? leaf.tensor : nb::none());
            append(bound, leaf.lazy);
            append(places, place);
        }
    }

    const nb::object& state() const { return state_; }

    // What the cycle collector must know.
    template <class Visit>
    int visit(Visit&& visit) const {
        const nb::object* const all[] = {&function_, &default_, &state_, &kind_, &name_, &entry_};
        for (const nb::object* held : all)
            if (const int stop = held->is_valid() ? visit(held->ptr()) : 0) return stop;
        for (const nb::object& like : likes_)
            if (const int stop = visit(like.ptr())) return stop;
        return 0;
    }
    void clear() {
        for (nb::object* held : {&function_, &default_, &state_, &kind_, &name_, &entry_})
            held->reset();
        likes_.clear();
    }

  private:
    bool is_default() const {
        const nb::handle now = PyList_GET_ITEM(world().defaults->ptr(), 0);
        return now.ptr() == default_.ptr() || now.equal(default_);
    }

    static Check check_of(nb::handle item) {
        const auto kind = nb::cast<std::string>(item[0]);
        Check check;
        if (kind == "place" || kind == "leaf") {
            check.kind = kind == "place" ? Check::Kind::place : Check::Kind::leaf;
            check.place = nb::cast<int64_t>(item[1]);
            if (kind == "leaf") check.code = nb::cast<int64_t>(item[2]);
        } else if (kind == "list" || kind == "tuple") {
            check.kind = Check::Kind::sequence;
            check.is_list = kind == "list";
            for (nb::handle part : nb::borrow(item[1])) check.items.push_back(check_of(part));
        } else {
            check.kind = kind == "number" ? Check::Kind::number : Check::Kind::plain;
            check.value = item[1];
        }
        return check;
    }

    nb::object function_;
    bool is_recording_;
    nb::object default_;
    uintptr_t line_;
    std::vector<Check> arguments_;
    std::vector<std::pair<nb::object, Check>> named_;
    nb::object state_;
    bool is_view_ = false, is_tainted_ = false, has_record_ = false;
    nb::object kind_, name_;
    mutable nb::object entry_;
    std::vector<int64_t> sources_;
    std::vector<nb::object> likes_;
    std::vector<bool> floats_;
};

// The result, where the operation is known at this point of the trace; else NotImplemented, and
// nothing has changed.
nb::object follow(nb::handle function, bool is_recording, const nb::tuple& arguments,
                  const nb::dict& named) {
    const nb::object unknown = nb::borrow(Py_NotImplemented);
    const Names& name = names();
    if (PyThread_get_thread_ident() != world().owner) return unknown;
    if (!world().current || !world().current->is_valid()) return unknown;  // at exit
    const nb::object trace = nb::borrow(PyList_GET_ITEM(world().current->ptr(), 0));
    if (!is_true(trace, name.is_open) || is_true(trace, name.is_built)) return unknown;
    const nb::object patterns = look(look(trace, name.state), name.patterns);
    const nb::object mark = look(trace, name.trace_mark), tensors = look(trace, name.tensors);
    const Py_ssize_t count = PyList_GET_SIZE(patterns.ptr());
    for (Py_ssize_t i = count - 1; i >= 0; --i) {
        const nb::object item = nb::borrow(PyList_GET_ITEM(patterns.ptr(), i));
        const auto& pattern = content_of<Pattern>(item);
        Matching matching(trace, mark, PyList_GET_SIZE(tensors.ptr()));
        if (pattern.fits(matching, function, is_recording, arguments, named))
            return pattern.follow(trace, mark, matching, arguments);
    }
    return unknown;
}

// The state after an optimiser's step that is known at this point of the trace, which its operands
// are entered into; None where it is not.
nb::object match_step(nb::handle function, const nb::tuple& arguments) {
    const Names& name = names();
    if (PyThread_get_thread_ident() != world().owner || !world().current->is_valid())
        return nb::none();
    const nb::object trace = nb::borrow(PyList_GET_ITEM(world().current->ptr(), 0));
    if (!is_true(trace, name.is_open) || is_true(trace, name.is_built)) return nb::none();
    const nb::object patterns = look(look(trace, name.state), name.patterns);
    const nb::object mark = look(trace, name.trace_mark), tensors = look(trace, name.tensors);
    const nb::dict named;
    for (Py_ssize_t i = PyList_GET_SIZE(patterns.ptr()) - 1; i >= 0; --i) {
        const nb::object item = nb::borrow(PyList_GET_ITEM(patterns.ptr(), i));
        const auto& pattern = content_of<Pattern>(item);
        Matching matching(trace, mark, PyList_GET_SIZE(tensors.ptr()));
        if (!pattern.fits(matching, function, false, arguments, named)) continue;
        Pattern::enter(trace, mark, tensors, look(trace, name.records), matching.leaves);
        return pattern.state();
    }
    return nb::none();
}

// The results of a known backward() as gradients of the leaves at `leaves`.
void make_gradients(nb::handle trace, nb::handle state, const std::vector<int64_t>& leaves) {
    const Names& name = names();
    const nb::object tensors = look(trace, name.tensors), records = look(trace, name.records);
    const nb::object mark = look(trace, name.trace_mark), likes = look(state, name.results);
    auto place = static_cast<int64_t>(PyList_GET_SIZE(tensors.ptr()));
    for (size_t i = 0; i < leaves.size(); ++i) {
        const nb::object tensor = new_tensor();
        set(tensor, name.mark, mark);
        set(tensor, name.trace, trace);
        set(tensor, name.place, nb::int_(place++));
        set(tensor, name.like, PyList_GET_ITEM(likes.ptr(), static_cast<Py_ssize_t>(i)));
        set(tensor, name.is_tainted, nb::borrow(Py_True));
        append(tensors, nb::steal(PyWeakref_NewRef(tensor.ptr(), nullptr)));
        append(records, nb::none());
        set(PyList_GET_ITEM(tensors.ptr(), leaves[i]), name.grad, tensor);
    }
}

// Writes an optimiser's results, `values` from `first` on, to the tensors at `targets`, of which
// the leaves at `numbers` are. The trace keeps what was there before.
void write_step(nb::handle trace, const nb::list& values, int64_t first,
                const std::vector<int64_t>& targets, const std::vector<int64_t>& numbers) {
    const Names& name = names();
    const nb::object tensors = look(trace, name.tensors), bound = look(trace, name.bound);
    for (size_t i = 0; i < targets.size(); ++i) {
        const nb::handle tensor = PyList_GET_ITEM(tensors.ptr(), targets[i]);
        const nb::object lazy = get(tensor, name.lazy);
        const auto& content = content_of<LazyTensor>(lazy);
        nb::object before = wrap_copy(content.tensor());
        if (PyList_SetItem(bound.ptr(), numbers[i], before.release().ptr()) != 0)
            throw nb::python_error();
        const nb::handle value = PyList_GET_ITEM(values.ptr(), first + static_cast<int64_t>(i));
        content.replace(content_of<LazyTensor>(value).tensor());
        const auto version = nb::cast<int64_t>(look(tensor, name.version));
        set(tensor, name.version, nb::int_(version + 1));
    }
}

int traverse_pattern(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    return nb::inst_ptr<Pattern>(self)->visit([&](PyObject* object) { return visit(object, arg); });
}

int clear_pattern(PyObject* self) {
    nb::inst_ptr<Pattern>(self)->clear();
    return 0;
}

PyType_Slot pattern_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_pattern)},
                               {Py_tp_clear, reinterpret_cast<void*>(clear_pattern)},
                               {0, nullptr}};

}  // namespace

void bind_following(nb::module_& module) {
    nb::class_<Pattern>(module, "Pattern", nb::type_slots(pattern_slots),
                        "A known operation of composit.torch.")
        .def(nb::init<nb::object, bool, nb::object, uintptr_t, nb::tuple, nb::dict, nb::object>(),
             nb::arg("function"), nb::arg("is_recording"), nb::arg("default"), nb::arg("line"),
             nb::arg("arguments"), nb::arg("named"), nb::arg("state"));
    module.def("follow", follow,
               "An operation's result where it is known at this point of the trace; else "
               "NotImplemented.");
    module.def("match_step", match_step, nb::arg("function"), nb::arg("arguments"),
               "The state after a known step of an optimiser; else None.");
    module.def("make_gradients", make_gradients, nb::arg("trace"), nb::arg("state"),
               nb::arg("leaves"), "The results of a known backward() as the leaves' gradients.");
    module.def("write_step", write_step, nb::arg("trace"), nb::arg("values"), nb::arg("first"),
               nb::arg("targets"), nb::arg("numbers"),
               "Writes an optimiser's results to its tensors.");
    module.def(
        "follow_traces",
        [](nb::object current, nb::object defaults, nb::object tensor, nb::object base) {
            World& all = world();
            all.current = held(std::move(current));
            all.defaults = held(std::move(defaults));
            all.tensor = held(std::move(tensor));
            all.base = held(std::move(base));
        },
        "Where traces, the default dtype and the classes of tensors are.");
    module.def(
        "follow_thread", [](unsigned long owner) { world().owner = owner; },
        "The thread whose operations are recorded; 0: none.");
}

}  // namespace composit::python

#include "following.h"

#include "bindings.h"
#include "cell.h"
#include "composit/eager/recording.h"
#include "composit/ir/body.h"
#include "content.h"
#include "location.h"
#include "tape.h"
#include "torch_objects.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

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
    const LeafType* type = nullptr;         // of a leaf; null: none is recognised
    int64_t flags = 0;                      // of a leaf
    std::optional<eager::Strides> strides;  // of a leaf that is not row-major
    nb::object value;                       // of plain ones
    std::vector<Check> items;
    bool is_list = false;
};

// What steps.py's enter_leaf puts into keys for a constant; below 0 where it is not one that can be
// entered without further work.
int64_t flags_of_leaf(nb::handle value, Leaf& leaf) {
    const TensorObject* const tensor = as_tensor(value);
    if (tensor->is_pending) return -1;
    leaf.is_recorded = tensor->is_leaf;
    if (!leaf.is_recorded && is_recorded(tensor)) return -1;
    return (leaf.is_recorded ? 1 : 0) + (tensor->is_tainted ? 2 : 0) + 4;
}

// What an operation is called with: arguments in order, those with names behind them.
struct Given {
    PyObject* const* values;
    size_t count;     // of those in order
    PyObject* names;  // a tuple, or null

    size_t named() const { return names ? static_cast<size_t>(PyTuple_GET_SIZE(names)) : 0; }
    // Null for none.
    PyObject* of_name(nb::handle name) const {
        for (size_t i = 0; i < named(); ++i)
            if (PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i)) == name.ptr())
                return values[count + i];
        for (size_t i = 0; i < named(); ++i)
            if (nb::handle(PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i))).equal(name))
                return values[count + i];
        return nullptr;
    }
};

class Matching {
  public:
    explicit Matching(const TraceObject* trace)
        : mark_(trace->mark), count_(PyList_GET_SIZE(trace->tensors)) {}

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
        return as_tensor(value)->mark == mark_ && as_tensor(value)->place == place;
    }

    bool is_leaf(const Check& check, nb::handle value) {
        if (!check.type || !is_tensor_of_torch(value) || as_tensor(value)->mark == mark_)
            return false;
        for (const Leaf& leaf : leaves)
            if (leaf.tensor.ptr() == value.ptr()) return false;
        Leaf leaf{nb::borrow(value), {}, check.place};
        if (flags_of_leaf(value, leaf) != check.flags) return false;
        leaf.lazy = lazy_of(value);
        const Tensor& held = content_of<LazyTensor>(leaf.lazy).tensor();
        if (!ir::is_constant(held.node()) || !(held.type() == check.type->type) ||
            held.node().device() != check.type->device)
            return false;
        const Cell& cell = *content_of<LazyTensor>(leaf.lazy).cell();
        if (check.strides ? cell.strides() != *check.strides : !cell.is_row_major()) return false;
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

    int64_t mark_, count_;
};

// A known operation, and the state after it.
class Pattern {
  public:
    // `arguments` and `named` say what each must be: ("place", n), ("leaf", n, code, strides or
    // None),
    // ("plain", value), ("number", value), ("list" or "tuple", items).
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
        name_ = ir::intern(nb::cast<std::string>(state_.attr("name")));
        has_record_ = !state_.attr("sources").is_none();
        if (has_record_)
            for (nb::handle source : state_.attr("sources"))
                sources_.push_back(nb::cast<int64_t>(source));
        for (nb::handle like : state_.attr("results")) likes_.push_back(nb::borrow(like));
        for (nb::handle is_float : state_.attr("floats"))
            floats_.push_back(nb::cast<bool>(is_float));
    }

    bool fits(Matching& matching, nb::handle function, bool is_recording,
              const Given& given) const {
        if (function.ptr() != function_.ptr() || is_recording != is_recording_ ||
            given.count != arguments_.size() || given.named() != named_.size() || !is_default())
            return false;
        for (size_t i = 0; i < arguments_.size(); ++i)
            if (!matching.fits(arguments_[i], given.values[i])) return false;
        for (const auto& [name, check] : named_) {
            PyObject* value = given.of_name(name);
            if (!value || !matching.fits(check, value)) return false;
        }
        return line_ == reinterpret_cast<uintptr_t>(user_location());
    }

    nb::object follow(TraceObject* trace, Matching& matching, const Given& given) const {
        enter(trace, matching.leaves);
        const auto first = static_cast<int64_t>(PyList_GET_SIZE(trace->tensors));
        // Places are told by the state: this is the same each time.
        if (!entry_.is_valid()) entry_ = nb::make_tuple(first, state_);
        append(trace->entries, entry_);
        put(trace->state, state_);
        return results(trace, first, is_view_ ? given.values[0] : nullptr);
    }

    // Tensors without nodes in the state's places, from `first` on; of a view the source is given.
    nb::object results(TraceObject* trace, int64_t first, nb::handle source) const {
        PyObject* const tensors = trace->tensors;
        PyObject* const records = trace->records;
        nb::object record = nb::none();
        if (has_record_) {
            std::vector<Ref<eager::TapeNode>> operands(sources_.size());
            for (size_t i = 0; i < operands.size(); ++i)
                operands[i] =
                    tape_node(PyList_GET_ITEM(records, static_cast<Py_ssize_t>(sources_[i])));
            record = make_record(name_, std::move(operands));
        }
        nb::handle root;
        if (source.is_valid()) {
            root = source;
            if (is_there(as_tensor(root)->root)) root = as_tensor(root)->root;
        }
        std::vector<nb::object> all;
        for (size_t i = 0; i < likes_.size(); ++i) {
            nb::object made = new_tensor();
            TensorObject* const tensor = as_tensor(made);
            tensor->mark = trace->mark;
            put(tensor->trace, reinterpret_cast<PyObject*>(trace));
            tensor->place = first + static_cast<int64_t>(i);
            put(tensor->like, likes_[i]);
            if (has_record_ && floats_[i]) {
                put(tensor->record, record);
                append(records, record);
            } else {
                tensor->is_tainted = has_record_ || is_tainted_;
                append(records, nb::none());
            }
            if (root.is_valid()) {
                as_tensor(root)->is_shared = 1;
                put(tensor->root, root);
                if (!kind_.is_none()) tensor->number = static_cast<long long>(i) + 1;
                PyObject* const of_root = as_tensor(root)->record;
                put(tensor->record_of_root, of_root ? of_root : Py_None);
                share_counter(tensor, as_tensor(root));
            }
            append(tensors, nb::steal(PyWeakref_NewRef(made.ptr(), nullptr)));
            if (kind_.is_none()) return made;
            all.push_back(std::move(made));
        }
        nb::list parts;
        for (const nb::object& result : all) parts.append(result);
        return nb::hasattr(kind_, "_fields") ? kind_(*nb::tuple(parts)) : kind_(parts);
    }

    static void enter(TraceObject* trace, std::vector<Leaf>& leaves) {
        if (leaves.empty()) return;
        if (leaves.size() > 1)
            std::sort(leaves.begin(), leaves.end(),
                      [](const Leaf& a, const Leaf& b) { return a.place < b.place; });
        for (const Leaf& leaf : leaves) {
            as_tensor(leaf.tensor)->mark = trace->mark;
            as_tensor(leaf.tensor)->place = leaf.place;
            append(trace->tensors, leaf.tensor);
            append(trace->records, leaf.is_recorded ? leaf.tensor : nb::none());
            if (leaf.is_recorded)
                leaf_of(leaf.tensor).readings().note(content_of<LazyTensor>(leaf.lazy).tensor());
            append(trace->bound, leaf.lazy);
            append(trace->bound_places, nb::int_(leaf.place));
        }
    }

    const nb::object& state() const { return state_; }

    // What the cycle collector must know.
    template <class Visit>
    int visit(Visit&& visit) const {
        const nb::object* const all[] = {&function_, &default_, &state_, &kind_, &entry_};
        for (const nb::object* held : all)
            if (const int stop = held->is_valid() ? visit(held->ptr()) : 0) return stop;
        for (const nb::object& like : likes_)
            if (const int stop = visit(like.ptr())) return stop;
        return 0;
    }
    void clear() {
        for (nb::object* held : {&function_, &default_, &state_, &kind_, &entry_}) held->reset();
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
            const int64_t code = kind == "leaf" ? nb::cast<int64_t>(item[2]) : -1;
            if (code >= 0) {
                check.type = &type_of_number(code / 8);
                check.flags = code % 8;
                const nb::object strides = item[3];
                if (!strides.is_none()) check.strides = nb::cast<eager::Strides>(strides);
            }
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
    nb::object kind_;
    ir::Interned name_ = nullptr;
    mutable nb::object entry_;
    std::vector<int64_t> sources_;
    std::vector<nb::object> likes_;
    std::vector<bool> floats_;
};

// The pattern that fits a call at this point of the trace; null for none.
const Pattern* known_pattern(const TraceObject* trace, nb::handle function, bool is_recording,
                             const Given& given, Matching& matching) {
    if (!trace->is_open || trace->is_built || !is_state(trace->state)) return nullptr;
    const nb::object patterns = nb::borrow(as_state(trace->state)->patterns);
    for (Py_ssize_t i = PyList_GET_SIZE(patterns.ptr()) - 1; i >= 0; --i) {
        const auto& pattern = content_of<Pattern>(PyList_GET_ITEM(patterns.ptr(), i));
        matching.leaves.clear();
        if (pattern.fits(matching, function, is_recording, given)) return &pattern;
    }
    return nullptr;
}

}  // namespace

void make_gradients(nb::handle of, nb::handle state, const std::vector<int64_t>& leaves,
                    const nb::list& freed) {
    const auto* const trace = reinterpret_cast<TraceObject*>(of.ptr());
    PyObject* const tensors = trace->tensors;
    PyObject* const likes = as_state(state)->results;
    int64_t place = PyList_GET_SIZE(tensors);
    for (size_t i = 0; i < leaves.size(); ++i) {
        const nb::object made = new_tensor();
        TensorObject* const tensor = as_tensor(made);
        tensor->mark = trace->mark;
        put(tensor->trace, of);
        tensor->place = place++;
        put(tensor->like, PyList_GET_ITEM(likes, static_cast<Py_ssize_t>(i)));
        tensor->is_tainted = 1;
        append(tensors, nb::steal(PyWeakref_NewRef(made.ptr(), nullptr)));
        append(trace->records, nb::none());
        put(as_tensor(PyList_GET_ITEM(tensors, leaves[i]))->grad, made);
    }
    for (nb::handle at : freed)
        free_record(PyList_GET_ITEM(trace->records, PyLong_AsSsize_t(at.ptr())));
}

namespace {

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

bool is_recorded_here() {
    return PyThread_get_thread_ident() == world().owner && world().is_ready();
}

nb::object pattern_of(nb::handle function, bool is_recording, nb::handle defaults, nb::handle line,
                      const nb::tuple& checks, const nb::dict& named, nb::handle state) {
    return nb::type<Pattern>()(function, is_recording, defaults, line, checks, named, state);
}

nb::object results_of_state(nb::handle trace, nb::handle state, int64_t first, nb::handle source) {
    const Pattern pattern(nb::none(), false, nb::none(), 0, nb::tuple(), nb::dict(),
                          nb::borrow(state));
    return pattern.results(reinterpret_cast<TraceObject*>(trace.ptr()), first,
                           source.is_none() ? nb::handle() : source);
}

nb::object match_step(nb::handle optimizer, const nb::tuple& arguments) {
    TraceObject* const trace = world().trace_of_now();
    const Given given{reinterpret_cast<PyTupleObject*>(arguments.ptr())->ob_item, arguments.size(),
                      nullptr};
    Matching matching(trace);
    const Pattern* const pattern = known_pattern(trace, optimizer, false, given, matching);
    if (!pattern) return nb::none();
    Pattern::enter(trace, matching.leaves);
    return pattern->state();
}

void write_step(nb::handle of, const std::vector<nb::object>& values, size_t first,
                const std::vector<int64_t>& targets, const std::vector<int64_t>& numbers) {
    const auto* const trace = reinterpret_cast<TraceObject*>(of.ptr());
    for (size_t i = 0; i < targets.size(); ++i) {
        const nb::handle tensor = PyList_GET_ITEM(trace->tensors, targets[i]);
        const nb::object lazy = lazy_of(tensor);
        const auto& content = content_of<LazyTensor>(lazy);
        nb::object before = wrap_copy(content.tensor());
        if (PyList_SetItem(trace->bound, numbers[i], before.release().ptr()) != 0)
            throw nb::python_error();
        content.replace(content_of<LazyTensor>(values[first + i]).tensor());
        counter_of(as_tensor(tensor))->count();
    }
}

nb::object follow(nb::handle function, PyObject* const* values, size_t count, PyObject* names) {
    if (!is_recorded_here()) return nb::object();
    const nb::object now = nb::borrow(PyList_GET_ITEM(world().current->ptr(), 0));
    auto* const trace = reinterpret_cast<TraceObject*>(now.ptr());
    const Given given{values, count, names};
    Matching matching(trace);
    const Pattern* const pattern =
        known_pattern(trace, function, eager::is_recording(), given, matching);
    return pattern ? pattern->follow(trace, matching, given) : nb::object();
}

void bind_following(nb::module_& module) {
    nb::class_<Pattern>(module, "Pattern", nb::type_slots(pattern_slots),
                        "A known operation of composit.torch.")
        .def(nb::init<nb::object, bool, nb::object, uintptr_t, nb::tuple, nb::dict, nb::object>(),
             nb::arg("function"), nb::arg("is_recording"), nb::arg("default"), nb::arg("line"),
             nb::arg("arguments"), nb::arg("named"), nb::arg("state"));
    module.def(
        "follow_thread", [](unsigned long owner) { world().owner = owner; },
        "The thread whose operations are recorded; 0: none.");
}

}  // namespace composit::python

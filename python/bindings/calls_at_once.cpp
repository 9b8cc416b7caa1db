// NumPy's functions of known arrays, as Python calls them: what is known of a call by its
// arguments' types and numbers is computed at once (eager/function_at_once.h); all else goes to the
// function of Python's.
#include "calls_at_once.h"

#include "bindings.h"
#include "call_words.h"
#include "calling.h"
#include "cell.h"
#include "composit/eager/function_at_once.h"
#include "composit/eager/history.h"
#include "composit/eager/masks.h"
#include "composit/eager/small.h"
#include "composit/eager/small_arrays.h"
#include "composit/ir/tracing.h"
#include "content.h"
#include "error_handling.h"
#include "evaluated.h"
#include "function_object.h"
#include "location.h"
#include "numbers.h"
#include "row_function.h"
#include "set_item.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

using eager::FunctionAtOnce;
using Arguments = CallWords;

// Calls of equal arguments before one is compiled for them, which takes as long as a hundred calls.
constexpr uint32_t usual_calls_before = 16;
uint32_t calls_before = usual_calls_before;
constexpr size_t most_functions = 64;  // of one function
// What holds a part that is written is copied: of more elements, writing into its memory is faster.
constexpr int64_t most_elements_written = 4096;

struct Entry {
    std::vector<uint64_t> words;
    uint32_t calls = 0;
    bool is_refused = false;
    std::shared_ptr<const FunctionAtOnce> found;
};

struct KnownCalls : FunctionState {
    std::unordered_map<uint64_t, Entry> by_hash;
};

// An argument with placeholders in place of operands, in the order in which they were read.
class Replacing {
  public:
    nb::object of(PyObject* value) {
        if (PyList_CheckExact(value)) {
            nb::list made;
            for (nb::handle item : nb::borrow<nb::list>(value)) made.append(of(item.ptr()));
            return made;
        }
        if (PyTuple_CheckExact(value)) {
            nb::list made;
            for (nb::handle item : nb::borrow<nb::tuple>(value)) made.append(of(item.ptr()));
            return nb::tuple(made);
        }
        if (!is_tensor(value)) return nb::borrow(value);
        const ir::TensorType& type = content_of<LazyTensor>(value).type();
        inputs.push_back(ir::input("x" + std::to_string(inputs.size()), type.dtype, type.shape));
        objects.push_back(wrap(inputs.back()));
        return objects.back();
    }

    std::vector<Tensor> inputs;
    std::vector<nb::object> objects;
};

// The function, called for placeholders.
using Traced = std::function<nb::object(const nb::list& arguments, const nb::dict& named)>;

// What the function makes of placeholders, where that tells what it makes of values: nothing where
// it asks for these, warns, fails, or returns anything but a tensor in memory of its own.
std::shared_ptr<const FunctionAtOnce> compiled_for(const Traced& traced, PyObject* const* values,
                                                   size_t count, PyObject* names) {
    Replacing replacing;
    nb::list arguments;
    for (size_t i = 0; i < count; ++i) arguments.append(replacing.of(values[i]));
    nb::dict named;
    const Py_ssize_t name_count = names ? PyTuple_GET_SIZE(names) : 0;
    for (Py_ssize_t i = 0; i < name_count; ++i)
        named[nb::handle(PyTuple_GET_ITEM(names, i))] =
            replacing.of(values[count + static_cast<size_t>(i)]);
    nb::object result;
    try {
        const ir::TraceScope trace;
        result = traced(arguments, named);
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_Exception)) throw;
        return nullptr;
    } catch (const Error&) {
        return nullptr;
    }
    const bool is_given = std::any_of(replacing.objects.begin(), replacing.objects.end(),
                                      [&](const nb::object& each) { return each.is(result); });
    if (is_given || !is_tensor(result)) return nullptr;
    const auto& made = content_of<LazyTensor>(result);
    if (made.type().shape.empty() != is_scalar(result) || made.is_read_only) return nullptr;
    if (!is_scalar(result) && (!made.cell()->is_plain() || !made.cell()->is_row_major()))
        return nullptr;
    return FunctionAtOnce::make(std::move(replacing.inputs), made.tensor());
}

bool is_of_user() {
    const Located located;
    return is_called_by_user();
}

// What a call gives, and what its graph is made of.
struct Answer {
    Ref<Deferred> now;
    ir::ConstantArray values;
};

std::optional<Answer> computed_at_once(const std::shared_ptr<const FunctionAtOnce>& function,
                                       Arguments& arguments) {
    const Located located;
    const ir::ErrorHandling* const handling = ir::current_error_handling();
    if (!is_called_by_user() || (handling && handling->at_once())) return {};
    std::vector<const void*> memory;
    std::vector<Ref<Deferred>> operands;
    for (const Arguments::Operand& operand : arguments.operands())
        memory.push_back(operand.memory ? operand.memory : &operand.bits);
    std::optional<ir::Array> value =
        function->values(memory, handling ? handling->reported() : uint8_t{0});
    if (!value) return {};
    for (Arguments::Operand& operand : arguments.operands())
        operands.push_back(std::move(operand.now));
    eager::shorten_history();
    const ir::ConstantArray values(std::move(*value));
    Ref<Deferred> now = Deferred::called(function, std::move(operands), values);
    if (!now) return {};
    return Answer{std::move(now), values};
}

// Nothing where nodes are to be made.
std::optional<Answer> answer(KnownCalls& calls, const Traced& traced, PyObject* const* values,
                             size_t count, PyObject* names, bool any_order = false) {
    Arguments arguments(any_order);
    if (!arguments.read(values, count, names)) return {};
    auto& known = calls.by_hash;
    const std::span<const uint64_t> words = arguments.words();
    const uint64_t hash = arguments.hash();
    auto place = known.find(hash);
    if (place == known.end()) {
        // What was called often stays.
        if (known.size() == most_functions)
            std::erase_if(known, [](const auto& each) { return !each.second.found; });
        if (known.size() == most_functions) known.clear();
        place = known.emplace(hash, Entry{{words.begin(), words.end()}, 0, false, nullptr}).first;
    }
    Entry& entry = place->second;
    if (entry.is_refused ||
        !std::equal(words.begin(), words.end(), entry.words.begin(), entry.words.end()))
        return {};
    if (!entry.found) {
        const bool is_usual = calls_before == usual_calls_before;
        const uint32_t wanted = is_usual && arguments.are_small() ? 0 : calls_before;
        if (entry.calls++ < wanted || !is_of_user()) return {};
        entry.is_refused = true;  // while the function runs, which may call itself
        std::shared_ptr<const FunctionAtOnce> made = compiled_for(traced, values, count, names);
        const auto after = known.find(hash);
        if (!made || after == known.end()) return {};
        after->second.found = std::move(made);
        after->second.is_refused = false;
        place = after;
    }
    const std::shared_ptr<const FunctionAtOnce> found = place->second.found;
    return computed_at_once(found, arguments);
}

// Not valid where there is none.
nb::object wrapped(std::optional<Answer> found) {
    if (!found) return {};
    if (found->values.shape().empty()) return wrap_number(std::move(found->now));
    return wrap_cell(Cell::make_known(std::move(found->now), found->values));
}

PyObject* call(PyObject* of, PyObject* const* values, size_t flagged, PyObject* names) {
    try {
        const Entered entered;
        const auto count = static_cast<size_t>(PyVectorcall_NARGS(flagged));
        const FunctionObject* const self = as_function(of);
        const auto traced = [self](const nb::list& arguments, const nb::dict& named) {
            return nb::handle(self->function)(nb::handle(self->otherwise), arguments, named);
        };
        nb::object found =
            wrapped(answer(*static_cast<KnownCalls*>(self->state), traced, values, count, names));
        if (found.is_valid()) return found.release().ptr();
    } catch (...) {
        set_python_error();
        return nullptr;
    }
    return PyObject_Vectorcall(as_function(of)->otherwise, values, flagged, names);
}

// Nothing where a value is no known array in host memory and in order, or no user's call is made.
std::optional<std::vector<eager::KnownArray>> known_arrays(
    std::initializer_list<PyObject*> values) {
    Arguments arguments(false);
    const std::vector<PyObject*> all(values);
    if (!arguments.read(all.data(), all.size(), nullptr)) return {};
    const ir::ErrorHandling* const handling = current_error_handling();
    if (!is_of_user() || (handling && handling->at_once())) return {};
    std::vector<eager::KnownArray> found;
    for (Arguments::Operand& operand : arguments.operands())
        found.push_back({std::move(operand.now), operand.type, operand.memory});
    if (found.size() != all.size()) return {};
    eager::shorten_history();
    return found;
}

std::optional<Answer> as_answer(std::optional<eager::SmallArray> array) {
    if (!array) return {};
    return Answer{std::move(array->now), std::move(array->values)};
}

bool is_array_of(nb::handle value, ir::DType dtype) {
    return is_tensor(value.ptr()) && !is_scalar(value.ptr()) &&
           content_of<LazyTensor>(value).type().dtype == dtype;
}

// target[mask] = value for one of Python's numbers, as far as that is known at once.
bool is_mask_assigned(const LazyTensor& target, nb::handle self, nb::handle mask,
                      nb::handle value) {
    if (!PyFloat_CheckExact(value.ptr()) && !PyLong_CheckExact(value.ptr())) return false;
    const Located located;
    const Ref<Deferred> number = known_number_from(value.ptr());
    if (!number) return false;
    std::optional<std::vector<eager::KnownArray>> operands = known_arrays({self.ptr(), mask.ptr()});
    if (!operands) return false;
    std::optional<eager::SmallArray> found = eager::with_chosen(
        (*operands)[0], (*operands)[1], {number->dtype(), number->is_weak(), number->bits()});
    if (!found) return false;
    target.cell()->replace_known(std::move(found->now), std::move(found->values));
    return true;
}

// FunctionAtOnce(traced, function): calls of `function`. traced(function, args, kwargs) is called
// to learn what it makes of placeholders.
PyObject* new_function(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject *traced = nullptr, *function = nullptr;
    if (!PyArg_ParseTuple(args, "OO", &traced, &function)) return nullptr;
    PyObject* const self = new_function_object(type, call, traced, function);
    if (self) as_function(self)->state = new KnownCalls;
    return self;
}

bool shares_memory(PyObject* value, const LazyTensor& target) {
    return is_tensor(value) && !is_scalar(value) &&
           content_of<LazyTensor>(value).cell()->memory() == target.cell()->memory();
}

// Whether a value is stored in a target of that dtype as it is, or as a number of its kind.
bool is_of_kind(PyObject* value, ir::DType dtype) {
    if (is_tensor(value)) {
        const ir::TensorType& type = content_of<LazyTensor>(value).type();
        return type.dtype == dtype && !type.weak;
    }
    return PyLong_CheckExact(value) || (PyFloat_CheckExact(value) && ir::is_floating(dtype));
}

// add.at(target, indices, value), where the sums are known at once: the target holds them then.
bool is_added_at_once(const FunctionObject* self, PyObject* const* values) {
    PyObject* const target_object = values[1];
    if (Py_TYPE(target_object) != reinterpret_cast<PyTypeObject*>(tensor_type().ptr()))
        return false;
    const auto& target = content_of<LazyTensor>(target_object);
    if (target.is_read_only || !target.cell()->is_plain() ||
        !is_of_kind(values[3], target.type().dtype) || shares_memory(values[2], target) ||
        shares_memory(values[3], target))
        return false;
    const auto traced = [self](const nb::list& arguments, const nb::dict&) -> nb::object {
        return nb::handle(self->function)(*nb::tuple(arguments));
    };
    std::optional<Answer> found =
        answer(*static_cast<KnownCalls*>(self->state), traced, values, 4, nullptr);
    if (!found) return false;
    target.cell()->replace_known(std::move(found->now), found->values);
    return true;
}

PyObject* call_at(PyObject* of, PyObject* const* values, size_t flagged, PyObject* names) {
    const FunctionObject* const self = as_function(of);
    if (PyVectorcall_NARGS(flagged) == 4 && !names && is_table_row(values[0], "add")) try {
            const Entered entered;
            if (is_added_at_once(self, values)) return Py_NewRef(Py_None);
        } catch (...) {
            set_python_error();
            return nullptr;
        }
    return PyObject_Vectorcall(self->otherwise, values, flagged, names);
}

// SumsAtOnce(sums, function): calls of `function`, the method `at` of ufuncs. sums(ufunc, target,
// indices, value) gives what the target of add.at holds then.
PyObject* new_sums(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject *sums = nullptr, *function = nullptr;
    if (!PyArg_ParseTuple(args, "OO", &sums, &function)) return nullptr;
    PyObject* const self = new_function_object(type, call_at, sums, function);
    if (self) as_function(self)->state = new KnownCalls;
    return self;
}

// evaluate(x) of one tensor: the rest is the function of Python's, and so are its named arguments.
PyObject* evaluate(PyObject* of, PyObject* const* values, size_t flagged, PyObject* names) {
    const FunctionObject* const self = as_function(of);
    const bool is_one = PyVectorcall_NARGS(flagged) == 1 && !names;
    if (is_one && is_tensor(values[0]) && nb::inst_ready(values[0])) try {
            const Entered entered;
            const nb::object options = nb::handle(self->function)();
            return evaluated_last(values[0], nb::cast<const execute::Options&>(options))
                .release()
                .ptr();
        } catch (...) {
            set_python_error();
            return nullptr;
        }
    return PyObject_Vectorcall(self->otherwise, values, flagged, names);
}

// Evaluate(options, function): `options` gives those of a call without named arguments.
PyObject* new_evaluate(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject *options = nullptr, *function = nullptr;
    if (!PyArg_ParseTuple(args, "OO", &options, &function)) return nullptr;
    return new_function_object(type, evaluate, options, function);
}

}  // namespace

nb::object item_at_once(nb::handle self, nb::handle key) {
    static auto* const calls = new KnownCalls;
    const auto traced = [](const nb::list& arguments, const nb::dict&) -> nb::object {
        const nb::object from = arguments[0], index = arguments[1];
        return from[index];
    };
    PyObject* const values[] = {self.ptr(), key.ptr()};
    return wrapped(answer(*calls, traced, values, 2, nullptr));
}

nb::object chosen_at_once(nb::handle self, nb::handle mask) {
    std::optional<std::vector<eager::KnownArray>> operands = known_arrays({self.ptr(), mask.ptr()});
    if (!operands) return {};
    return wrapped(as_answer(eager::chosen((*operands)[0], (*operands)[1])));
}

nb::object product_at_once(nb::handle a, nb::handle b) {
    static auto* const calls = new KnownCalls;
    const auto traced = [](const nb::list& arguments, const nb::dict&) -> nb::object {
        return nb::object(arguments[0]).attr("__matmul__")(nb::object(arguments[1]));
    };
    PyObject* const values[] = {a.ptr(), b.ptr()};
    return wrapped(answer(*calls, traced, values, 2, nullptr, true));
}

bool assigned_at_once(nb::handle self, nb::handle key, nb::handle value) {
    static auto* const calls = new KnownCalls;
    const auto& target = content_of<LazyTensor>(self);
    if (target.is_read_only || target.known_number() || !target.cell()->is_plain()) return false;
    const ir::TensorType& type = target.type();
    if (is_array_of(key, ir::DType::boolean)) return is_mask_assigned(target, self, key, value);
    if (ir::element_count(type.shape) > most_elements_written) return false;
    // A fraction that is no integer of the dtype is an error, which its value tells.
    if (ir::is_integer(type.dtype) && !PyLong_Check(value.ptr()) &&
        !(is_tensor(value) && ir::is_integer(content_of<LazyTensor>(value).type().dtype)))
        return false;
    // x[key] += y wrote into a view of x, which is what x[key] is given then.
    if (shares_memory(value.ptr(), target)) return false;
    const auto traced = [](const nb::list& arguments, const nb::dict&) -> nb::object {
        const auto& before = content_of<LazyTensor>(arguments[0]);
        const auto [written, source] = written_item(before, arguments[1], arguments[2]);
        if (ir::is_complex(source.dtype())) return nb::none();  // may be warned of
        return wrap(written);
    };
    PyObject* const values[] = {self.ptr(), key.ptr(), value.ptr()};
    std::optional<Answer> found = answer(*calls, traced, values, 3, nullptr);
    if (!found) return false;
    target.cell()->replace_known(std::move(found->now), found->values);
    return true;
}

void bind_calls_at_once(nb::module_& module) {
    module.attr("FunctionAtOnce") =
        make_function_type("composit._core.FunctionAtOnce", new_function);
    module.def(
        "set_calls_before_at_once",
        [](uint32_t count) { return std::exchange(calls_before, count); }, nb::arg("count"),
        "How many equal calls of a function are made as nodes before the next one is computed when "
        "it is called; returns the number of before. For tests.");
    module.attr("SumsAtOnce") = make_function_type("composit._core.SumsAtOnce", new_sums);
    module.attr("Evaluate") = make_function_type("composit._core.Evaluate", new_evaluate);
}

}  // namespace composit::python

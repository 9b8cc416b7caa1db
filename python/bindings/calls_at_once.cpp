// NumPy's functions of known arrays, as Python calls them: what is known of a call by its
// arguments' types and numbers is computed at once (eager/function_at_once.h); all else goes to the
// function of Python's.
#include "calls_at_once.h"

#include "arguments.h"
#include "bindings.h"
#include "calling.h"
#include "cell.h"
#include "composit/base/hash.h"
#include "composit/eager/function_at_once.h"
#include "composit/eager/history.h"
#include "composit/eager/small.h"
#include "composit/ir/tracing.h"
#include "content.h"
#include "error_handling.h"
#include "evaluated.h"
#include "function_object.h"
#include "location.h"
#include "numbers.h"
#include "set_item.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

using eager::FunctionAtOnce;

// Calls of equal arguments before one is compiled for them, which takes as long as a hundred calls.
constexpr uint32_t usual_calls_before = 16;
uint32_t calls_before = usual_calls_before;
constexpr size_t most_functions = 64;  // of one function
// What holds a part that is written is copied: of more elements, writing into its memory is faster.
constexpr int64_t most_elements_written = 512;
// Of an operand in another order, which is copied.
constexpr int64_t most_elements_ordered = 512;
// Of operands whose call is compiled when it is met first.
constexpr int64_t most_small_elements = 64;

// A call's arguments as words, which are equal for calls that one function answers; and its
// operands, the known arrays and scalars among them.
class Arguments {
  public:
    struct Operand {
        ir::TensorType type;
        const void* memory;
        uint64_t bits;  // of a scalar, where `memory` is null
        Ref<Deferred> now;
        ir::Array copy = {};  // which `memory` is of, of an array that lies in another order
    };

    // `any_order`: of functions whose results lie in row-major order however their operands do.
    explicit Arguments(bool any_order) : any_order_(any_order) {}

    // Whether all of them can be written so, and there is an operand.
    bool read(PyObject* const* values, size_t count, PyObject* names) {
        for (size_t i = 0; i < count; ++i)
            if (!add(values[i])) return false;
        const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
        for (Py_ssize_t i = 0; i < named; ++i) {
            PyObject* const name = PyTuple_GET_ITEM(names, i);
            PyObject* const value = values[count + static_cast<size_t>(i)];
            const bool is_written =
                value != Py_None && PyUnicode_CompareWithASCIIString(name, "out") == 0;
            if (is_written || !word(Tag::name) || !add(name) || !add(value)) return false;
        }
        return !operands_.empty();
    }

    std::span<const uint64_t> words() const { return std::span(words_).first(count_); }
    uint64_t hash() const {
        uint64_t h = count_;
        for (const uint64_t each : words()) h = hash_combine(h, each);
        return h;
    }
    std::vector<Operand>& operands() { return operands_; }
    // A few elements and no numbers beside them: there are few such calls in a program, and what is
    // computed of a result that is not known is not known, either.
    bool are_small() const { return !has_numbers_ && elements_ <= most_small_elements; }

  private:
    enum class Tag : uint64_t {
        none,
        boolean,
        integer,
        floating,
        text,
        array,
        scalar,
        list,
        tuple,
        slice,
        ellipsis,
        type,
        name
    };
    static constexpr size_t most_words = 96, most_operands = 8;

    bool word(uint64_t value) {
        if (count_ == most_words) return false;
        words_[count_++] = value;
        return true;
    }
    bool word(Tag tag) { return word(static_cast<uint64_t>(tag)); }

    bool add(PyObject* value) {
        if (value == Py_None) return word(Tag::none);
        if (Py_TYPE(value) == reinterpret_cast<PyTypeObject*>(tensor_type().ptr()))
            return add_array(value);
        has_numbers_ |= PyLong_CheckExact(value) || PyFloat_CheckExact(value);
        if (PyBool_Check(value)) return word(Tag::boolean) && word(value == Py_True);
        if (PyLong_CheckExact(value)) return add_integer(value);
        if (PyFloat_CheckExact(value))
            return word(Tag::floating) && word(std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(value)));
        if (PyUnicode_CheckExact(value)) return add_text(value);
        if (PyTuple_CheckExact(value) || PyList_CheckExact(value)) return add_items(value);
        if (PySlice_Check(value)) return add_slice(reinterpret_cast<PySliceObject*>(value));
        if (value == Py_Ellipsis) return word(Tag::ellipsis);
        // Types live as long as the process, where they are those of dtypes.
        if (PyType_Check(value)) return is_of_numpy(value) && add_pointer(value);
        return add_scalar(value);
    }

    bool add_integer(PyObject* value) {
        int overflow = 0;
        const long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);
        return overflow == 0 && word(Tag::integer) && word(static_cast<uint64_t>(integer));
    }

    bool add_text(PyObject* value) {
        Py_ssize_t length = 0;
        const char* const text = PyUnicode_AsUTF8AndSize(value, &length);
        if (!text) {
            PyErr_Clear();
            return false;
        }
        const std::string_view whole(text, static_cast<size_t>(length));
        if (!word(Tag::text) || !word(whole.size())) return false;
        for (size_t at = 0; at < whole.size(); at += sizeof(uint64_t)) {
            uint64_t part = 0;
            const std::string_view here = whole.substr(at, sizeof part);
            std::copy(here.begin(), here.end(), reinterpret_cast<char*>(&part));
            if (!word(part)) return false;
        }
        return true;
    }

    bool add_items(PyObject* value) {
        const Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
        PyObject* const* const items = PySequence_Fast_ITEMS(value);
        if (!word(PyList_CheckExact(value) ? Tag::list : Tag::tuple) ||
            !word(static_cast<uint64_t>(count)))
            return false;
        return std::all_of(items, items + count, [&](PyObject* item) { return add(item); });
    }

    // Bounds that are written by value: a tensor's place would be that of the traced call.
    bool add_slice(const PySliceObject* slice) {
        const auto add_bound = [&](PyObject* bound) {
            return (bound == Py_None || PyLong_CheckExact(bound)) && add(bound);
        };
        return word(Tag::slice) && add_bound(slice->start) && add_bound(slice->stop) &&
               add_bound(slice->step);
    }

    static bool is_of_numpy(PyObject* type) {
        const std::string_view name = reinterpret_cast<PyTypeObject*>(type)->tp_name;
        return name.starts_with("numpy.") || type == reinterpret_cast<PyObject*>(&PyFloat_Type) ||
               type == reinterpret_cast<PyObject*>(&PyLong_Type) ||
               type == reinterpret_cast<PyObject*>(&PyBool_Type);
    }
    bool add_pointer(PyObject* value) {
        return word(Tag::type) && word(reinterpret_cast<uintptr_t>(value));
    }

    bool add_type(Tag tag, const ir::TensorType& type) {
        if (operands_.size() == most_operands || !word(tag) ||
            !word(static_cast<uint64_t>(type.dtype) << 32 | type.shape.size()))
            return false;
        return std::all_of(type.shape.begin(), type.shape.end(),
                           [&](int64_t length) { return word(static_cast<uint64_t>(length)); });
    }

    // In host memory, row-major, and of a few elements.
    bool add_array(PyObject* value) {
        if (!nb::inst_ready(value)) return false;
        const Ref<Cell>& cell = nb::inst_ptr<LazyTensor>(value)->cell();
        const ir::TensorType& type = cell->type();
        const int64_t count = ir::element_count(type.shape);
        if (type.shape.empty() || type.weak || count == 0 || count > eager::most_elements_at_once)
            return false;
        const std::optional<Cell::Seen> seen = cell->seen();
        if (!seen || !seen->memory || !cell->lies_on_host()) return false;
        const bool is_in_order =
            eager::is_row_major(type.shape, seen->where->strides) && cell->is_row_major();
        if (!is_in_order && (!any_order_ || count > most_elements_ordered)) return false;
        elements_ += count;
        if (!add_type(Tag::array, type)) return false;
        if (!is_in_order) {
            ir::Array copy = eager::elements_at(seen->memory, *seen->where, type.dtype, type.shape);
            const void* const memory = copy.data();
            operands_.push_back({type, memory, 0, *seen->now, std::move(copy)});
            return true;
        }
        const char* const memory =
            seen->memory + seen->where->offset * static_cast<int64_t>(ir::size_of(type.dtype));
        operands_.push_back({type, memory, 0, *seen->now});
        return true;
    }

    bool add_scalar(PyObject* value) {
        const LazyTensor* const scalar = known_scalar(value);
        if (!scalar) return false;
        Ref<Deferred> number = scalar->number();
        if (number->is_weak() || number->device() > ir::on_cpu ||
            !add_type(Tag::scalar, number->type()))
            return false;
        operands_.push_back({number->type(), nullptr, number->bits(), std::move(number)});
        return true;
    }

    const bool any_order_;
    bool has_numbers_ = false;
    int64_t elements_ = 0;  // of all operands
    std::array<uint64_t, most_words> words_;
    size_t count_ = 0;
    std::vector<Operand> operands_;
};

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

// FunctionAtOnce(traced, function): calls of `function`. traced(function, args, kwargs) is called
// to learn what it makes of placeholders.
PyObject* new_function(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject *traced = nullptr, *function = nullptr;
    if (!PyArg_ParseTuple(args, "OO", &traced, &function)) return nullptr;
    PyObject* const self = new_function_object(type, call, traced, function);
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
    if (ir::element_count(type.shape) > most_elements_written) return false;
    // A fraction that is no integer of the dtype is an error, which its value tells.
    if (ir::is_integer(type.dtype) && !PyLong_Check(value.ptr()) &&
        !(is_tensor(value) && ir::is_integer(content_of<LazyTensor>(value).type().dtype)))
        return false;
    // x[key] += y wrote into a view of x, which is what x[key] is given then.
    if (is_tensor(value) && !is_scalar(value) &&
        content_of<LazyTensor>(value).cell()->memory() == target.cell()->memory())
        return false;
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
    module.attr("Evaluate") = make_function_type("composit._core.Evaluate", new_evaluate);
}

}  // namespace composit::python

// What a function of Python reads besides its arguments, for torch.compile: globals, closures,
// modules and their attributes; and whether all of it is as it was.
#include "composit/base/error.h"
#include "content.h"
#include "modules.h"
#include "provided.h"
#include "steps.h"
#include "tape.h"
#include "torch_objects.h"
#include "trace_keys.h"
#include "values.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

constexpr size_t most_values = 20'000;
constexpr std::array trusted_packages = {"composit",  "math",      "cmath",      "operator",
                                         "itertools", "functools", "typing",     "numpy",
                                         "builtins",  "warnings",  "collections"};
constexpr std::array hook_names = {"_forward_hooks", "_forward_pre_hooks", "_backward_hooks",
                                   "_backward_pre_hooks"};
constexpr std::array group_names = {"_parameters", "_buffers", "_modules"};
constexpr std::array acting_names = {"open",    "input",  "exec",    "eval",
                                     "globals", "locals", "setattr", "delattr"};

template <size_t N>
bool is_among(const std::array<const char*, N>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string text_or_nothing(nb::handle value) {
    return nb::isinstance<nb::str>(value) ? nb::cast<std::string>(value) : std::string();
}

bool is_trusted_home(const std::string& home) {
    return is_among(trusted_packages, home.substr(0, home.find('.')));
}

bool is_trusted(nb::handle value) {
    const std::string home = text_or_nothing(nb::getattr(value, "__module__", nb::none()));
    return is_trusted_home(home) && !home.starts_with("composit.examples");
}

bool is_library(nb::handle module) {
    const std::string home = text_or_nothing(module.attr("__name__"));
    return is_trusted_home(home) && home.find("random") == home.npos;
}

nb::object listed(nb::handle values) {
    const nb::object made = nb::steal(PySequence_List(values.ptr()));
    if (!made.is_valid()) throw nb::python_error();
    return made;
}

// The items of a list, the values of a mapping.
nb::list items_in(nb::handle place) {
    if (PyList_CheckExact(place.ptr()) || PyTuple_Check(place.ptr()))
        return nb::borrow<nb::list>(listed(place));
    return nb::borrow<nb::list>(listed(
        has_attribute(place, "values") ? nb::object(place.attr("values")()) : nb::borrow(place)));
}

// All that a function reads, in order, with what tells whether it is the same.
class Reading {
  public:
    Reading(nb::handle constants, nb::handle unguarded)
        : constants_(constants), unguarded_(unguarded) {}

    nb::tuple of(nb::object function) {
        waiting_.push_back(std::move(function));
        while (!waiting_.empty()) {
            const nb::object value = std::move(waiting_.back());
            waiting_.pop_back();
            found_.append(value);
            if (nb::len(found_) > most_values) refuse("it reads too much to be watched");
            if (PyModule_Check(value.ptr())) {
                if (!is_library(value))
                    refuse(composit::text("it reads the module ",
                                          text_or_nothing(value.attr("__name__"))));
                continue;
            }
            if (nb::isinstance(value, constants_) || !seen_.insert(value.ptr()).second) continue;
            look_into(value);
        }
        return nb::make_tuple(found_, places_, cells_, functions_, tensors_, globals_);
    }

  private:
    [[noreturn]] void refuse(const std::string& why) const {
        PyErr_SetString(unguarded_.ptr(), why.c_str());
        throw nb::python_error();
    }
    void wait_for(nb::handle value) { waiting_.push_back(nb::borrow(value)); }

    // What a value leads to; what is of the value itself is added to what was found.
    void look_into(const nb::object& value) {
        if (is_tensor_of_torch(value)) return note_tensor(value);
        if (nb::isinstance(value, provided("torch_module"))) return look_into_module(value);
        if (PyFunction_Check(value.ptr()) || PyMethod_Check(value.ptr())) {
            if (!is_trusted(value)) look_into_function(value);
            return;
        }
        if (PyTuple_Check(value.ptr()) || PyList_Check(value.ptr())) {
            found_.append(nb::len(value));
            places_.append(value);
            for (nb::handle item : items_in(value)) wait_for(item);
            return;
        }
        if (PyDict_Check(value.ptr())) {
            found_.append(nb::len(value));
            places_.append(value);
            for (nb::handle pair : nb::list(nb::borrow(value.attr("items")()))) {
                wait_for(pair[0]);
                wait_for(pair[1]);
            }
            return;
        }
        const bool is_kind = PyType_Check(value.ptr());
        if (PyCallable_Check(value.ptr())) {
            if (is_trusted(value) || (!is_kind && is_trusted(value.type())))
                return look_into_wrapped(value);
            if (is_kind && PyObject_IsSubclass(value.ptr(), PyExc_BaseException) == 1) return;
        }
        refuse(composit::text("it reads a ", text_or_nothing(value.type().attr("__name__")),
                              ", which cannot be watched"));
    }

    void note_tensor(nb::handle tensor) {
        tensors_.append(tensor);
        const ir::TensorType type = type_seen(tensor);
        found_.append(nb::bool_(is_recorded(as_tensor(tensor))));
        found_.append(std::string(ir::name(type.dtype)));
        found_.append(nb::str(tuple_from(type.shape)));
    }

    // The function that an object of a library calls: of functools.partial, of a compiled one.
    void look_into_wrapped(nb::handle value) {
        if (PyType_Check(value.ptr())) return;
        for (const char* name : {"func", "function"}) {
            const nb::object inner = nb::getattr(value, name, nb::none());
            if (!inner.is_none()) wait_for(inner);
        }
    }

    void look_into_module(nb::handle module) {
        const nb::dict own = module.attr("__dict__");
        const nb::object nothing = nb::make_tuple();
        const auto held = [&](const char* name) {
            return own.contains(name) ? nb::object(own[name]) : nothing;
        };
        places_.append(own);
        for (const char* name : hook_names) {
            if (PyObject_IsTrue(held(name).ptr()) == 1) refuse("a module has hooks");
            places_.append(held(name));
        }
        for (const char* name : group_names) {
            places_.append(held(name));
            if (!own.contains(name)) continue;
            for (const auto& [key, value] : items_now(held(name))) {
                found_.append(key);
                wait_for(value);
            }
        }
        for (const auto& [key, value] : items_now(own)) {
            const std::string name = text_or_nothing(key);
            if (is_among(group_names, name) || name.ends_with("_hooks")) continue;
            found_.append(key);
            if (!PySet_Check(value.ptr())) {
                wait_for(value);
                continue;
            }
            const nb::list sorted = nb::borrow<nb::list>(listed(value));
            sorted.attr("sort")();
            for (nb::handle item : sorted) wait_for(item);
        }
        look_into_classes(module);
    }

    void look_into_classes(nb::handle module) {
        const nb::object base = provided("torch_module");
        for (nb::handle kind : nb::tuple(nb::borrow(module.type().attr("__mro__")))) {
            if (kind.is(base)) break;
            if (is_trusted(kind)) continue;
            const nb::object attributes = kind.attr("__dict__");
            places_.append(attributes);
            for (nb::handle pair : nb::list(nb::borrow(attributes.attr("items")())))
                if (!text_or_nothing(pair[0]).starts_with("__")) wait_for(plain(pair[1]));
        }
    }

    // A class's attribute: the function of a property or a static method.
    static nb::object plain(nb::handle value) {
        if (nb::isinstance(value, nb::handle(reinterpret_cast<PyObject*>(&PyProperty_Type))))
            return nb::object(value.attr("fget"));
        const bool is_wrapped =
            nb::isinstance(value, nb::handle(reinterpret_cast<PyObject*>(&PyStaticMethod_Type))) ||
            nb::isinstance(value, nb::handle(reinterpret_cast<PyObject*>(&PyClassMethod_Type)));
        return is_wrapped ? nb::object(value.attr("__func__")) : nb::borrow(value);
    }

    void look_into_function(nb::handle given) {
        nb::object function = nb::borrow(given);
        if (PyMethod_Check(function.ptr())) {
            wait_for(function.attr("__self__"));
            function = function.attr("__func__");
        }
        if (!PyFunction_Check(function.ptr()))
            refuse(composit::text("it calls a ", text_or_nothing(function.type().attr("__name__")),
                                  ", which cannot be watched"));
        functions_.append(function);
        const nb::object code = function.attr("__code__");
        wait_for(code.attr("co_code"));
        wait_for(function.attr("__defaults__"));
        const nb::object named = function.attr("__kwdefaults__");
        if (!named.is_none())
            for (nb::handle value : items_in(named)) wait_for(value);
        const nb::object wrapped = nb::getattr(function, "__wrapped__", nb::none());
        if (!wrapped.is_none()) wait_for(wrapped);
        const nb::object closure = function.attr("__closure__");
        if (!closure.is_none())
            for (nb::handle cell : nb::tuple(closure)) {
                PyObject* const content = PyCell_GET(cell.ptr());
                if (!content) refuse("it reads a variable that has no value yet");
                wait_for(content);
                cells_.append(cell);
            }
        look_into_globals(function.attr("__globals__"), code);
    }

    void look_into_globals(const nb::dict& globals, nb::handle code) {
        std::set<std::string> names;
        add_names(names, code);
        for (const std::string& name : names) {
            const nb::str key(name.c_str());
            if (!globals.contains(key)) {
                // An attribute's name, or a builtin.
                if (is_among(acting_names, name)) refuse(composit::text("it calls ", name));
                continue;
            }
            const nb::object value = globals[key];
            if (names.count("random") &&
                text_or_nothing(nb::getattr(value, "__name__", nb::none())) == "numpy")
                refuse("it draws by numpy.random");
            globals_.append(nb::make_tuple(globals, key));
            wait_for(value);
        }
    }

    static void add_names(std::set<std::string>& names, nb::handle code) {
        for (nb::handle name : nb::tuple(nb::borrow(code.attr("co_names"))))
            names.insert(nb::cast<std::string>(name));
        for (nb::handle constant : nb::tuple(nb::borrow(code.attr("co_consts"))))
            if (PyCode_Check(constant.ptr())) add_names(names, constant);
    }

    const nb::handle constants_, unguarded_;
    std::vector<nb::object> waiting_;
    std::unordered_set<PyObject*> seen_;
    nb::list found_, places_, cells_, functions_, tensors_, globals_;
};

nb::tuple guards_of(nb::object function, nb::handle constants, nb::handle unguarded) {
    return Reading(constants, unguarded).of(std::move(function));
}

// What the places, cells, functions, tensors and globals of `guards_of` hold now: how many items,
// these, and the types of tensors.
nb::tuple guards_held(nb::handle guards) {
    nb::list sizes, values, kinds;
    for (nb::handle place : guards[1]) {
        const nb::list items = items_in(place);
        sizes.append(nb::len(items));
        for (nb::handle item : items) values.append(item);
    }
    for (nb::handle cell : guards[2]) {
        PyObject* const content = PyCell_GET(cell.ptr());
        values.append(content ? nb::handle(content) : cell);
    }
    for (nb::handle function : guards[3]) values.append(function.attr("__code__"));
    for (nb::handle tensor : guards[4]) {
        const TensorObject* const object = as_tensor(tensor);
        values.append(nb::bool_(object->is_leaf));
        values.append(is_there(object->record) ? nb::handle(object->record) : nb::handle(Py_None));
        kinds.append(leaf_type(content_of<LazyTensor>(lazy_of(tensor))));
    }
    for (nb::handle pair : guards[5]) {
        const nb::dict globals = nb::borrow<nb::dict>(pair[0]);
        values.append(globals.contains(pair[1]) ? nb::object(globals[pair[1]]) : nb::none());
    }
    return nb::make_tuple(sizes, values, kinds);
}

// Compares what is held now with what guards_held gave, in its order, without lists of its own: it
// runs at each call of a captured function. No code of users runs meanwhile, but of a mapping's
// values().
class Comparison {
  public:
    explicit Comparison(nb::handle held)
        : sizes_(nb::borrow<nb::list>(held[0])),
          values_(nb::borrow<nb::list>(held[1])),
          kinds_(nb::borrow<nb::list>(held[2])) {}

    // Whether all is the very same; the first difference ends it.
    bool is_same(nb::handle guards) {
        for (nb::handle place : guards[1])
            if (!has_same_items(place)) return false;
        for (nb::handle cell : guards[2]) {
            PyObject* const content = PyCell_GET(cell.ptr());
            if (!is_next(content ? content : cell.ptr())) return false;
        }
        for (nb::handle function : guards[3])
            if (!is_next(nb::object(function.attr("__code__")).ptr())) return false;
        for (nb::handle tensor : guards[4])
            if (!is_same_tensor(tensor)) return false;
        for (nb::handle pair : guards[5])
            if (!is_same_global(pair)) return false;
        return value_ == values_.size();
    }

  private:
    bool is_next(PyObject* now) {
        return value_ < values_.size() &&
               PyList_GET_ITEM(values_.ptr(), static_cast<Py_ssize_t>(value_++)) == now;
    }

    bool has_as_many(size_t count) {
        return PyLong_AsSize_t(nb::object(sizes_[size_++]).ptr()) == count;
    }

    bool has_same_items(nb::handle place) {
        if (PyDict_CheckExact(place.ptr())) {
            if (!has_as_many(static_cast<size_t>(PyDict_GET_SIZE(place.ptr())))) return false;
            Py_ssize_t at = 0;
            PyObject* item = nullptr;
            while (PyDict_Next(place.ptr(), &at, nullptr, &item))
                if (!is_next(item)) return false;
            return true;
        }
        const bool is_sequence = PyList_CheckExact(place.ptr()) || PyTuple_Check(place.ptr());
        const nb::object items = is_sequence ? nb::borrow(place) : nb::object(items_in(place));
        const auto count = static_cast<size_t>(PySequence_Fast_GET_SIZE(items.ptr()));
        if (!has_as_many(count)) return false;
        for (size_t i = 0; i < count; ++i)
            if (!is_next(PySequence_Fast_GET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i))))
                return false;
        return true;
    }

    bool is_same_tensor(nb::handle tensor) {
        const TensorObject* const object = as_tensor(tensor);
        if (!is_next(object->is_leaf ? Py_True : Py_False)) return false;
        if (!is_next(is_there(object->record) ? object->record : Py_None)) return false;
        const int64_t kind = leaf_type(content_of<LazyTensor>(lazy_of(tensor)));
        return nb::cast<int64_t>(nb::object(kinds_[kind_++])) == kind;
    }

    bool is_same_global(nb::handle pair) {
        const nb::object globals = pair[0], name = pair[1];
        PyObject* const value = PyDict_GetItemWithError(globals.ptr(), name.ptr());
        if (!value && PyErr_Occurred()) throw nb::python_error();
        return is_next(value ? value : Py_None);
    }

    const nb::list sizes_, values_, kinds_;
    size_t size_ = 0, value_ = 0, kind_ = 0;
};

// Whether what is held is the very same: seen without looking at single constants.
bool is_held(nb::handle guards, nb::handle held) { return Comparison(held).is_same(guards); }

// Whether two readings found the same: identical objects, and constants of one class and text.
bool is_found_again(nb::handle found, nb::handle now, nb::handle constants) {
    const nb::list one = nb::borrow<nb::list>(found), other = nb::borrow<nb::list>(now);
    if (nb::len(one) != nb::len(other)) return false;
    for (size_t i = 0; i < nb::len(one); ++i) {
        const nb::object a = one[i], b = other[i];
        if (a.is(b)) continue;
        if (!a.type().is(b.type()) || PySequence_Contains(constants.ptr(), a.type().ptr()) != 1 ||
            !nb::repr(a).equal(nb::repr(b)))
            return false;
    }
    return true;
}

}  // namespace

void bind_guards(nb::module_& module) {
    module.def("guards_of", guards_of, nb::arg("function"), nb::arg("constants"),
               nb::arg("unguarded"),
               "(found, places, cells, functions, tensors, globals) of what a function reads. An "
               "error of the class `unguarded` where that cannot be watched.");
    module.def("guards_held", guards_held, nb::arg("guards"), "What these hold now.");
    module.def("are_guards_held", is_held, nb::arg("guards"), nb::arg("held"),
               "Whether they hold the very same as before.");
    module.def("is_found_again", is_found_again, nb::arg("found"), nb::arg("now"),
               nb::arg("constants"), "Whether two functions read the same.");
}

}  // namespace composit::python

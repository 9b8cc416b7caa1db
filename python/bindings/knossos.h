// Kernels' values, texts and their translation: composit/knossos/*.h.
//
// Python's numbers, tuples, None and expressions are Values as they are; records are Python's class
// Record, functions and other objects stay what they are.
#pragma once

#include "composit/knossos/array.h"
#include "composit/knossos/operators.h"
#include "composit/knossos/structure.h"
#include "composit/knossos/syntax.h"

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

namespace composit::python::of_kernels {

namespace nb = nanobind;

// While it lives, what is read of Python is a level deeper. RecursionError where that is too deep.
class Deeper {
  public:
    Deeper();
    ~Deeper();
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

  private:
    static thread_local int depth_;
};

// A text of Python's; lone surrogates, which UTF-8 has not, as Python escapes them.
std::string text_in_utf8(nb::handle text);

knossos::Value value_from(nb::handle value);
nb::object object_of(const knossos::Value& value);
std::vector<knossos::Value> values_from(nb::handle sequence);
nb::tuple objects_of(const std::vector<knossos::Value>& values);
// What Python's function computes of values: function(name, numbers).
knossos::KnownFunction known_by(nb::object function);

// Any object that C++ only hands on, and what it was.
std::shared_ptr<const knossos::Other> python_object(nb::object object);
nb::object object_behind(const knossos::Other& other);
// What records of a class of Python's are made by.
std::shared_ptr<const knossos::RecordType> record_type(nb::object kind);

// What an annotation says (annotations.py): a Leaf, Parts or TensorOf.
knossos::StructureRef structure_from(nb::handle given);
std::string text_attribute(nb::handle object, const char* name);  // in UTF-8

// A tree.
struct Text {
    knossos::SyntaxRef tree;
};

void bind_knossos(nb::module_& module);              // values
void bind_knossos_syntax(nb::module_& module);       // texts
void bind_knossos_structures(nb::module_& module);   // what annotations say
void bind_knossos_translation(nb::module_& module);  // what translations ask of Python

}  // namespace composit::python::of_kernels

namespace nanobind::detail {

template <>
struct type_caster<composit::knossos::Value> {
    using Value = composit::knossos::Value;
    template <class U>
    using Cast = Value&&;
    template <class U>
    static constexpr bool can_cast() {
        return true;
    }
    static constexpr auto Name = const_name("Any");

    bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
        try {
            value = composit::python::of_kernels::value_from(source);
        } catch (python_error& error) {
            error.discard_as_unraisable("a value of a kernel");
            return false;
        } catch (const std::exception&) {
            return false;
        }
        return true;
    }
    template <class U>
    static handle from_cpp(U&& source, rv_policy, cleanup_list*) noexcept {
        try {
            return composit::python::of_kernels::object_of(source).release();
        } catch (python_error& error) {
            error.restore();
        }
        return {};
    }
    explicit operator Value&&() { return static_cast<Value&&>(value); }

    Value value;
};

template <>
struct has_arg_defaults<composit::knossos::Value> : std::true_type {};

// A kind of numbers by its name.
template <>
struct type_caster<composit::knossos::Kind> {
    NB_TYPE_CASTER(composit::knossos::Kind, const_name("str"))

    bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
        if (!PyUnicode_Check(source.ptr())) return false;
        const auto found = composit::knossos::kind_named(str(borrow<str>(source)).c_str());
        if (found) value = *found;
        return found.has_value();
    }
    static handle from_cpp(composit::knossos::Kind kind, rv_policy, cleanup_list*) noexcept {
        const std::string_view name = composit::knossos::name(kind);
        return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
    }
};

}  // namespace nanobind::detail

namespace composit::python {

void bind_knossos_given(nanobind::module_& module);    // knossos_given.cpp
void bind_knossos_numbers(nanobind::module_& module);  // knossos_numbers.cpp

}  // namespace composit::python

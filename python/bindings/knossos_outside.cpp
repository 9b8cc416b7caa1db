// What translations of kernels ask of Python: composit/knossos/outside.h, by the functions of
// composit.knossos.outside.
#include "casters.h"
#include "composit/knossos/translate.h"
#include "knossos.h"
#include "provided.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace composit::python::of_kernels {
namespace {

using knossos::Callee;
using knossos::Kind;
using knossos::Named;
using knossos::ObjectRef;
using knossos::Other;
using knossos::Refusal;
using knossos::SourceRef;
using knossos::StructureRef;
using knossos::Value;

// A class of errors by what Python calls it.
Refusal::Class class_of_error(nb::handle kind) {
    if (kind.is(nb::handle(PyExc_TypeError))) return Refusal::Class::type;
    if (kind.is(nb::handle(PyExc_NameError))) return Refusal::Class::name;
    if (kind.is(nb::handle(PyExc_ValueError))) return Refusal::Class::value;
    if (kind.is(nb::handle(PyExc_IndexError))) return Refusal::Class::index;
    return Refusal::Class::not_supported;
}

nb::object error_class(Refusal::Class kind) {
    switch (kind) {
        case Refusal::Class::type: return nb::borrow(PyExc_TypeError);
        case Refusal::Class::name: return nb::borrow(PyExc_NameError);
        case Refusal::Class::value: return nb::borrow(PyExc_ValueError);
        case Refusal::Class::index: return nb::borrow(PyExc_IndexError);
        case Refusal::Class::not_supported: break;
    }
    return nb::module_::import_("composit._core").attr("NotSupported");
}

ObjectRef object_or_null(const nb::object& object) {
    return object.is_none() ? nullptr : python_object(object);
}

Value default_value(nb::handle value) {
    if (PyUnicode_Check(value.ptr())) return ObjectRef(python_object(nb::borrow(value)));
    return value_from(value);
}

class PythonSource : public knossos::Source {
  public:
    PythonSource(nb::object source, nb::object asked)
        : source_(std::move(source)), asked_(std::move(asked)) {
        name = text_attribute(source_, "name");
        path = text_attribute(source_, "path");
        file = text_attribute(source_, "file");
        documentation = text_attribute(source_, "documentation");
        line = nb::cast<int>(nb::object(source_.attr("line")));
        tree = nb::cast<const Text&>(nb::object(asked_.attr("text_of")(source_))).tree;
        function = nb::object(source_.attr("function")).ptr();
        for (auto [key, value] : nb::borrow<nb::dict>(nb::object(source_.attr("defaults"))))
            defaults.emplace_back(nb::cast<std::string>(key), default_value(value));
    }

    ObjectRef meaning(const std::string& of) const override {
        return object_or_null(asked_.attr("meaning")(source_, of));
    }
    StructureRef structure_of(const knossos::Syntax& annotation,
                              const std::string& of) const override {
        return structure_from(
            nb::object(asked_.attr("structure_of")(source_, object_behind(*annotation.outer), of)));
    }
    bool is_open(const knossos::Syntax& annotation) const override {
        return nb::cast<bool>(
            nb::object(asked_.attr("is_open")(source_, object_behind(*annotation.outer))));
    }
    std::vector<StructureRef> structures() const override {
        std::vector<StructureRef> made;
        for (nb::handle each : nb::object(asked_.attr("structures_of")(source_)))
            made.push_back(structure_from(each));
        return made;
    }

  private:
    nb::object source_, asked_;
};

SourceRef source_from(const nb::object& source, const nb::object& asked) {
    return source.is_none() ? nullptr : std::make_shared<PythonSource>(source, asked);
}

class PythonKernel : public knossos::CalledKernel {
  public:
    PythonKernel(nb::object kernel, nb::object asked)
        : kernel_(std::move(kernel)), asked_(std::move(asked)) {}

    std::string name() const override { return text_attribute(kernel_, "__name__"); }
    SourceRef source() const override { return source_from(kernel_.attr("_source"), asked_); }
    bool has_derivative() const override {
        return !nb::object(kernel_.attr("_derivative")).is_none();
    }
    bool is_of_arrays() const override {
        return nb::cast<bool>(nb::object(kernel_.attr("is_of_arrays")));
    }
    std::vector<StructureRef> parameters() const override {
        std::vector<StructureRef> made;
        for (nb::handle each : nb::object(kernel_.attr("parameter_structures")))
            made.push_back(structure_from(each));
        return made;
    }
    Value inside(std::vector<knossos::Expr> operands, ir::DType dtype) const override {
        return value_from(nb::object(kernel_.attr("inside")(nb::cast(operands), nb::cast(dtype))));
    }

  private:
    nb::object kernel_, asked_;
};

// Python's errors that only the translation knows the line of, as what they are in C++.
template <class Function>
auto in_errors_of_kernels(const Function& function) {
    try {
        return function();
    } catch (nb::python_error& error) {
        const auto attribute = [&](const char* name) {
            return text_attribute(error.value(), name);
        };
        if (error.matches(provided("knossos_mismatch")))
            throw knossos::Mismatch(attribute("wrong"), attribute("instead"));
        if (error.matches(provided("knossos_refused")))
            throw knossos::RefusedOutside(class_of_error(nb::object(error.value().attr("kind"))),
                                          attribute("wrong"), attribute("instead"));
        throw;
    }
}

class PythonOutside : public knossos::Outside {
  public:
    explicit PythonOutside(nb::object asked) : asked_(std::move(asked)) {}

    ObjectRef part(const Other& holder, const std::string& name) const override {
        return object_or_null(nb::getattr(object_behind(holder), name.c_str(), nb::none()));
    }
    bool is_module(const Other& object) const override {
        return PyModule_Check(object_behind(object).ptr());
    }
    bool is_function(const Other& object) const override {
        return nb::cast<bool>(ask("is_function", object));
    }
    Value value_of(const Other& object, const std::string& shown) const override {
        return in_errors_of_kernels([&] { return value_from(ask("value_of", object, shown)); });
    }
    std::string error_name(const Other& object) const override {
        return nb::cast<std::string>(ask("error_name", object));
    }
    std::optional<Kind> kind_of_dtype(const Other& object) const override {
        const nb::object kind = ask("kind_of_dtype", object);
        return kind.is_none() ? std::nullopt : knossos::kind_named(nb::cast<std::string>(kind));
    }
    std::optional<double> float_of(const Other& constant) const override {
        return nb::cast<std::optional<double>>(ask("float_of", constant));
    }
    std::string name_of(const Other& function) const override {
        return nb::cast<std::string>(ask("name_of", function));
    }
    Callee callee(const ObjectRef& function) const override {
        const nb::object known = ask("callee", *function);
        const auto text = [&](const char* name) { return text_attribute(known, name); };
        const auto is = [&](const char* name) {
            return nb::cast<bool>(nb::object(known.attr(name)));
        };
        Callee made{.object = python_object(known.attr("function")),
                    .name = text("name"),
                    .name_in_math = text("name_in_math"),
                    .instead = text("instead"),
                    .takes_extents = is("takes_extents"),
                    .is_text = is("is_text"),
                    .is_kernel = is("is_kernel"),
                    .is_of_numpy = is("is_of_numpy"),
                    .is_record = is("is_record"),
                    .library = {}};
        if (const nb::object library = known.attr("library"); !library.is_none())
            made.library = knossos::LibraryText{
                python_object(library.attr("text")),
                nb::cast<std::vector<std::optional<int>>>(nb::object(library.attr("axes"))),
                nb::cast<bool>(nb::object(library.attr("gives_list"))),
                object_or_null(library.attr("for_derivatives"))};
        return made;
    }
    std::string elementwise_method(const std::string& name) const override {
        return nb::cast<std::string>(nb::object(asked_.attr("elementwise_method")(name)));
    }
    bool numpy_has(const std::string& function) const override {
        return nb::cast<bool>(nb::object(asked_.attr("numpy_has")(function)));
    }
    bool library_has(const std::string& function) const override {
        return nb::cast<bool>(nb::object(asked_.attr("library_has")(function)));
    }
    Value of_numbers(const Other& function, const std::vector<Value>& numbers) const override {
        return in_errors_of_kernels(
            [&] { return value_from(ask("of_numbers", function, objects_of(numbers))); });
    }
    Value record(const Other& made_by, const std::vector<Value>& arguments, const Named& named,
                 const std::string& shown) const override {
        nb::dict by_name;
        for (const auto& [name, value] : named) by_name[name.c_str()] = object_of(value);
        return in_errors_of_kernels([&] {
            return value_from(ask("record", made_by, objects_of(arguments), by_name, shown));
        });
    }
    std::shared_ptr<const knossos::CalledKernel> kernel(const Other& function) const override {
        return std::make_shared<PythonKernel>(ask("as_kernel", function), asked_);
    }
    SourceRef source_of(const Other& function) const override {
        return source_from(ask("source_of", function), asked_);
    }
    bool becomes_part(const Other& function) const override {
        return nb::cast<bool>(ask("becomes_part", function));
    }
    ObjectRef plain_function(const ObjectRef& object) const override {
        return python_object(ask("plain_function", *object));
    }
    SourceRef text_behind(const Other& function) const override {
        return source_from(ask("text_behind", function), asked_);
    }

  private:
    template <class... More>
    nb::object ask(const char* name, const Other& object, const More&... more) const {
        return asked_.attr(name)(object_behind(object), more...);
    }

    nb::object asked_;
};

// Mismatch, Restart and Refusal as the exceptions of Python's classes.
void translate_kernel_errors(const std::exception_ptr& pointer, void*) {
    try {
        std::rethrow_exception(pointer);
    } catch (const knossos::Mismatch& error) {
        try {
            const nb::object kind = provided("knossos_mismatch");
            const nb::object made = kind(error.wrong, error.instead);
            PyErr_SetObject(kind.ptr(), made.ptr());
        } catch (nb::python_error& other) {
            other.restore();
        }
    } catch (const Refusal& error) {
        try {
            PyErr_SetString(error_class(error.kind).ptr(), error.what());
        } catch (nb::python_error& other) {
            other.restore();
        }
    }
}

}  // namespace

knossos::KnownFunction known_by(nb::object function) {
    return [function](const std::string& name, const std::vector<Value>& numbers) {
        return in_errors_of_kernels(
            [&] { return value_from(nb::object(function(name, nb::list(objects_of(numbers))))); });
    };
}

void bind_knossos_translation(nb::module_& module) {
    using namespace nb::literals;
    nb::register_exception_translator(translate_kernel_errors);
    module.def(
        "translate",
        [](const nb::object& source, ir::DType dtype, const nb::object& asked,
           const nb::object& known) {
            const PythonOutside outside(asked);
            auto made =
                knossos::translate(source_from(source, asked), dtype, outside, known_by(known));
            return std::pair(std::move(made.procedure), object_of(made.result));
        },
        "source"_a, "dtype"_a, "asked"_a, "known"_a,
        "The procedure of a text, and a value that it returns, for its structure. `asked` says "
        "what "
        "names mean outside of it, `known` what Python makes of numbers that are known.");
}

}  // namespace composit::python::of_kernels

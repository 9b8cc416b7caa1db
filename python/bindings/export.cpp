// composit/exporters/cpp_project/export.h, composit/base/whole_file.h and mapped_file.h.
#include "composit/exporters/cpp_project/export.h"

#include "arguments.h"
#include "bindings.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/base/mapped_file.h"
#include "composit/base/whole_file.h"
#include "composit/execute/execute.h"
#include "composit/exporters/plain/plain.h"
#include "location.h"
#include "shown.h"
#include "structures.h"
#include "values.h"

#include <nanobind/stl/pair.h>

#include <algorithm>

namespace composit::python {
namespace {

using TextTables = std::vector<std::pair<std::string, std::vector<std::string>>>;

std::vector<c_family::TextTable> text_tables(const TextTables& given) {
    std::vector<c_family::TextTable> tables;
    for (const auto& [name, texts] : given) tables.push_back({name, texts});
    return tables;
}

bool is_count(nb::handle value) {
    if (!PyLong_Check(value.ptr()) || PyBool_Check(value.ptr())) return false;
    static const auto* const zero = new nb::int_(0);
    const int is_negative = PyObject_RichCompareBool(value.ptr(), zero->ptr(), Py_LT);
    if (is_negative < 0) throw nb::python_error();
    return is_negative == 0;
}

// Places of arguments, each once: of one, or of a list or tuple of them.
nb::tuple donated_places(nb::handle donate) {
    const bool is_several = PyList_Check(donate.ptr()) || PyTuple_Check(donate.ptr());
    const nb::tuple given =
        is_several ? nb::tuple(nb::list{nb::borrow(donate)}) : nb::make_tuple(donate);
    nb::list places;
    for (nb::handle place : given) {
        user_check(is_count(place), "compile: donate is ",
                   Shown{is_several ? nb::handle(given) : place},
                   ". Places of arguments, integers from 0, are required.");
        if (PySequence_Contains(places.ptr(), place.ptr()) == 0) places.append(place);
    }
    return nb::tuple(places);
}

// Adds the integers that a structure holds in its leaves' places.
void add_numbers(nb::handle value, std::vector<int64_t>& found) {
    const Container container = container_of(value, true);
    if (container.kind == Container::Kind::leaf) found.push_back(nb::cast<int64_t>(value));
    for (const nb::object& item : container.items) add_numbers(item, found);
}

// The numbers, among a call's arrays, of those in arguments at these places. `numbered`: the
// arguments with the number of each leaf in its place.
std::vector<size_t> donated_arrays(const std::string& name, const std::vector<size_t>& places,
                                   const nb::tuple& numbered, const std::vector<bool>& is_array) {
    std::vector<size_t> found;
    for (const size_t place : places) {
        user_check(place < nb::len(numbered), name, ": argument ", place, " is donated, but ",
                   nb::len(numbered), " are given. Places of arguments are required.");
        std::vector<int64_t> leaves;
        add_numbers(numbered[place], leaves);
        for (const int64_t number : leaves) {
            if (is_array.at(static_cast<size_t>(number)))
                found.push_back(static_cast<size_t>(
                    std::count(is_array.begin(), is_array.begin() + number, true)));
        }
    }
    return found;
}

void check_limits(nb::handle most_bytes, nb::handle most_nodes) {
    const auto check = [](const char* what, nb::handle most) {
        user_check(is_count(most), "compile: most_", what, " is ", Shown{most}, ". A number of ",
                   what, " from 0 is required.");
    };
    check("bytes", most_bytes);
    check("nodes", most_nodes);
}

// The functions' programs, of which there is a sequence of objects of class `kind`.
nb::list cores_to_export(nb::handle path, nb::handle name, nb::handle functions, nb::handle kind) {
    const bool is_path = PyUnicode_Check(path.ptr()) || has_attribute(path, "__fspath__");
    if (!is_path) refuse_argument(path, "A path");
    if (!PySequence_Check(functions.ptr()))
        refuse_argument(functions, "A sequence of functions made by composit.compile");
    nb::list cores;
    for (nb::handle function : functions)
        user_check<TypeError>(nb::isinstance(function, kind), "export: ", Shown{function},
                              " is not a function made by composit.compile, which is required.");
    user_check<TypeError>(PyUnicode_Check(name.ptr()), "export: ", Shown{name},
                          " is not a name, which is required.");
    for (nb::handle function : functions) cores.append(nb::object(function.attr("core")));
    return cores;
}

using Functions = std::vector<const execute::Compiled*>;

std::vector<plain::PlainFunction> plain_functions(const Functions& functions) {
    std::vector<plain::PlainFunction> given;
    for (const execute::Compiled* function : functions) {
        std::vector<ir::TensorType> inputs;
        for (const Tensor& input : function->inputs()) inputs.push_back(input.type());
        given.push_back(plain::with_recorded_call(
            function->program_for(plain::target_of_plain_text(), plain::unprintable), inputs,
            [&](const std::vector<ir::Array>& arguments) { return (*function)(arguments); }));
    }
    return given;
}

// A mapping from names to sequences of texts, or None.
TextTables tables_from(nb::handle texts) {
    TextTables tables;
    if (texts.is_none()) return tables;
    for (const nb::handle item : nb::object(texts.attr("items")())) {
        std::vector<std::string> each;
        std::string name;
        bool are_texts = nb::try_cast(nb::object(item[0]), name);
        for (const nb::handle text : nb::object(item[1]))
            are_texts = are_texts && nb::try_cast(text, each.emplace_back());
        if (!are_texts) refuse_argument(texts, "A mapping from names to sequences of texts");
        tables.emplace_back(std::move(name), std::move(each));
    }
    return tables;
}

std::vector<std::string> export_cores(const Functions& functions, const std::string& folder,
                                      const std::string& name, nb::handle style,
                                      nb::handle language, nb::handle workspace, nb::handle strict,
                                      const std::string& main_text, nb::handle given_texts) {
    const TextTables texts = tables_from(given_texts);
    const auto is = [](nb::handle value, const char* word) {
        return PyUnicode_Check(value.ptr()) && nb::str(value).equal(nb::str(word));
    };
    const bool has_workspace = PyObject_IsTrue(workspace.ptr()) == 1;
    const bool is_strict = PyObject_IsTrue(strict.ptr()) == 1;
    if (is(style, "plain") && main_text.empty())
        return plain::export_plain(plain_functions(functions), folder,
                                   {name, plain::language_of(nb::cast<std::string>(language)),
                                    has_workspace, is_strict, text_tables(texts)});
    user_check(is(style, "fast") && is(language, "cpp") && !has_workspace && !is_strict,
               "export: style=", Shown{style}, " with language=", Shown{language},
               ", workspace=", Shown{workspace}, is_strict ? ", strict=True" : "",
               main_text.empty() ? "" : " and a main_text",
               " does not exist. style='fast' (C++), or style='plain' ('cpp' or 'c') without "
               "main_text, is required.");
    std::vector<ir::kernel::Program> programs;
    for (const execute::Compiled* function : functions) programs.push_back(function->program());
    return cpp_project::export_cpp_project(
        programs, folder, {.name = name, .main_text = main_text, .texts = text_tables(texts)});
}

}  // namespace

void bind_export(nb::module_& module) {
    using namespace nb::literals;
    module.def("donated_places", donated_places, "donate"_a.none(),
               "Places of arguments, each once. ValueError for what are none.");
    module.def("donated_arrays", donated_arrays, "name"_a, "places"_a, "numbered"_a, "is_array"_a,
               nb::call_guard<Located>());
    module.def("check_limits", check_limits, "most_bytes"_a.none(), "most_nodes"_a.none(),
               "ValueError for limits of compile that are no counts.");
    module.def("cores_to_export", cores_to_export, "path"_a.none(), "name"_a.none(),
               "functions"_a.none(), "kind"_a,
               "The functions' programs. TypeError for what export cannot take.");
    module.def("export_cores", export_cores, "functions"_a, "folder"_a, "name"_a, "style"_a,
               "language"_a, "workspace"_a, "strict"_a, "main_text"_a = "",
               "texts"_a.none() = nb::none(), nb::call_guard<Located>(),
               "Writes compiled functions in one of the two styles; ValueError for what does not "
               "go together.");
    // The checksum of exported weights, and its text in C++, for main.cpp that checks its own.
    module.def("xxh64", [](const nb::bytes& content) {
        return cpp_project::checksum_of({content.c_str(), content.size()});
    });
    module.def("xxh64_text", [] { return std::string(cpp_project::checksum_text()); });
    const nb::call_guard<Located> located;
    module.def(
        "write_whole_files",
        [](const std::string& function, const std::string& folder,
           const std::vector<std::pair<std::string, std::string>>& files) {
            std::vector<NamedContent> contents;
            for (const auto& [name, content] : files) contents.push_back({name, content});
            write_whole_files(function, folder, contents);
        },
        located);
    module.def(
        "write_whole_file",
        [](const std::string& function, const std::string& path, const nb::bytes& content) {
            write_whole_file(function, path, {content.c_str(), content.size()});
        },
        located);
    module.def(
        "read_whole_file",
        [](const std::string& where, const std::string& path, size_t most) {
            const std::string content = read_whole_file(where, path, most);
            return nb::bytes(content.data(), content.size());
        },
        located);
}

}  // namespace composit::python

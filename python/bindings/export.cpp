// composit/exporters/cpp_project/export.h, composit/base/whole_file.h and mapped_file.h.
#include "composit/exporters/cpp_project/export.h"

#include "bindings.h"
#include "casters.h"
#include "composit/base/mapped_file.h"
#include "composit/base/whole_file.h"
#include "composit/execute/execute.h"
#include "composit/exporters/plain/plain.h"
#include "location.h"

#include <nanobind/stl/pair.h>

namespace composit::python {

void bind_export(nb::module_& module) {
    using namespace nb::literals;
    module.def(
        "export_cpp_project",
        [](const std::vector<const execute::Compiled*>& functions, const std::string& folder,
           const std::string& name, const std::string& main_text) {
            std::vector<ir::kernel::Program> programs;
            for (const execute::Compiled* function : functions)
                programs.push_back(function->program());
            return cpp_project::export_cpp_project(programs, folder, {name, main_text});
        },
        "functions"_a, "folder"_a, "name"_a, "main_text"_a = "");
    module.def(
        "export_plain",
        [](const std::vector<const execute::Compiled*>& functions, const std::string& folder,
           const std::string& name, const std::string& language, bool workspace) {
            std::vector<plain::PlainFunction> given;
            for (const execute::Compiled* function : functions) {
                std::vector<ir::TensorType> inputs;
                for (const Tensor& input : function->inputs()) inputs.push_back(input.type());
                given.push_back(plain::with_recorded_call(
                    function->program_for(plain::target_of_plain_text(), plain::unprintable),
                    inputs, [&](const std::vector<ir::Array>& arguments) {
                        return (*function)(arguments);
                    }));
            }
            return plain::export_plain(given, folder,
                                       {name, plain::language_of(language), workspace});
        },
        "functions"_a, "folder"_a, "name"_a, "language"_a, "workspace"_a,
        nb::call_guard<Located>());
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

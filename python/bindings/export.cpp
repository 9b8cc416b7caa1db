// composit/exporters/cpp_project/export.h.
#include "composit/exporters/cpp_project/export.h"

#include "bindings.h"
#include "casters.h"
#include "composit/execute/execute.h"

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
}

}  // namespace composit::python

// Writes the source of a module: header, kernels, and one entry for each kernel's function.
#include "composit/backends/cpp/entries.h"

#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"

#include <algorithm>

namespace composit::cpp {
namespace {

using c_family::Parameter;
using c_family::PrintedKernel;

// "void run_exp(int64_t begin, int64_t end, void* const* at, void*, Fault*) { exp(begin, end, …);
// }"
std::string entry_function(const PrintedKernel& kernel) {
    std::vector<std::string> arguments;
    if (kernel.tasks > 1) arguments = {"begin", "end"};
    for (size_t k = 0; k < kernel.parameters.size(); ++k) {
        const Parameter& parameter = kernel.parameters[k];
        arguments.push_back(text("static_cast<", parameter.is_written ? "" : "const ",
                                 c_family::type_name(parameter.dtype), "*>(at[", k, "])"));
    }
    if (!kernel.scratch_bytes.empty()) arguments.push_back("scratch");
    bool has_range = kernel.tasks > 1;
    std::string call = text(kernel.function, "(", join(arguments, ",\n        "), ");");
    std::string head = text("void run_", kernel.function, "(int64_t", has_range ? " begin" : "",
                            ", int64_t", has_range ? " end" : "", ", void* const* at, void*",
                            kernel.scratch_bytes.empty() ? "" : " scratch", ",\n    Fault*",
                            kernel.can_fault ? " fault" : "", ") {\n");
    if (!kernel.can_fault) return head + "    " + call + "\n}\n";
    return text(head, "    const IndexFault first = ", call,
                "\n    *fault = {first.outer, first.axis, first.index};\n}\n");
}

constexpr const char* entry_declaration = R"(// ----- how the functions are called

struct Fault {
    int64_t outer, axis, index;
};
struct Entry {
    void (*run)(int64_t begin, int64_t end, void* const* at, void* scratch, Fault* fault);
    int64_t scratch_bytes;
};

)";

constexpr const char* panel_width_function = R"(
extern "C" int64_t composit_panel_width(bool is_left, int64_t element_bytes, int64_t remaining);
extern "C" int64_t composit_panel_width(bool is_left, int64_t element_bytes, int64_t remaining) {
    return element_bytes == 4 ? panel_width<float>(is_left, remaining)
                              : panel_width<double>(is_left, remaining);
}
)";

constexpr const char* ask_function = R"(
extern "C" void composit_ask(bool (*goes_on)());
extern "C" void composit_ask(bool (*goes_on)()) {
    if (module_goes_on != goes_on) module_goes_on = goes_on;
}
)";

constexpr const char* use_products_function = R"(
extern "C" bool composit_use_products(const void* (*find)(int64_t vector_bytes));
extern "C" bool composit_use_products(const void* (*find)(int64_t vector_bytes)) {
    if (ready_products == nullptr)
        ready_products = static_cast<const ReadyProducts*>(find(vector_bytes));
    return ready_products != nullptr;
}
)";

bool asks(const c_family::Module& module) {
    return module.text.find("module_goes_on") != std::string::npos;
}

bool reads_panels(const c_family::Module& module) {
    return std::any_of(module.functions.begin(), module.functions.end(),
                       [](const PrintedKernel& kernel) { return kernel.reads_panels; });
}

}  // namespace

std::string head_of(const ir::kernel::Program& program, const std::string& build_command) {
    return c_family::file_comment(program,
                                  {"Compiled in this folder by:", "    " + build_command}) +
           "#include <stddef.h>\n#include <stdint.h>\n\n" + c_family::exactness_pragmas();
}

std::string source_of(const c_family::Module& module, const std::string& head,
                      const std::string& model) {
    std::string result = head + "\nnamespace {\n\n" + module.text + entry_declaration;
    std::string table;
    for (const PrintedKernel& kernel : module.functions) {
        if (kernel.tasks == 0) {
            table += "    {nullptr, 0},\n";
            continue;
        }
        result += entry_function(kernel) + "\n";
        table += text("    {run_", kernel.function, ", ",
                      kernel.scratch_bytes.empty() ? "0" : "int64_t(" + kernel.scratch_bytes + ")",
                      "},\n");
    }
    result += "}  // namespace\n\n";
    result += text("extern \"C\" {\nextern const Entry ", entries_symbol, "[];\nconst Entry ",
                   entries_symbol, "[] = {\n", table, "};\n}\n");
    if (reads_panels(module)) result += panel_width_function;
    if (module.calls_ready_products) result += use_products_function;
    if (asks(module)) result += ask_function;
    return model.empty() ? result : result + "\n" + model;
}

std::vector<std::string> symbols_of(const c_family::Module& module) {
    std::vector<std::string> symbols{entries_symbol};
    if (reads_panels(module)) symbols.push_back(panel_width_symbol);
    if (module.calls_ready_products) symbols.push_back(use_products_symbol);
    if (asks(module)) symbols.push_back(ask_symbol);
    return symbols;
}

std::string source_of_model(const std::string& head, const std::string& model) {
    return head + "\n" + entry_declaration + model;
}

}  // namespace composit::cpp

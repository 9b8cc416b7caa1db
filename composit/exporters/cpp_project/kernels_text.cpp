// Writes kernels once, in a form that the compiler reads once for each instruction set.
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"
#include "composit/exporters/cpp_project/project.h"

namespace composit::cpp_project {
namespace {

using c_family::Module;
using c_family::Parameter;
using c_family::PrintedKernel;

// The types of a kernel's function as its pointer has them; a fault comes last.
std::vector<std::string> parameter_types(const PrintedKernel& kernel) {
    std::vector<std::string> types;
    if (kernel.tasks > 1) types = {"int64_t", "int64_t"};
    for (const Parameter& parameter : kernel.parameters)
        types.push_back(
            text(parameter.is_written ? "" : "const ", c_family::type_name(parameter.dtype), "*"));
    if (!kernel.scratch_bytes.empty()) types.push_back("void*");
    if (kernel.can_fault) types.push_back("Fault*");
    return types;
}

// A kernel that meets an index out of bounds tells of it through a pointer: its own return type is
// another one for each instruction set.
std::string fault_adapter(const PrintedKernel& kernel) {
    std::vector<std::string> types = parameter_types(kernel), parameters, arguments;
    for (size_t k = 0; k + 1 < types.size(); ++k) {
        parameters.push_back(text(types[k], " a", k));
        arguments.push_back(text("a", k));
    }
    parameters.push_back("Fault* fault");
    return text("static void ", kernel.function, "_checked(", join(parameters), ") {\n",
                "    const IndexFault first = ", kernel.function, "(", join(arguments), ");\n",
                "    *fault = {first.outer, first.axis, first.index};\n}\n\n");
}

constexpr const char* panel_width_function =
    R"(static int64_t width_of_panel(bool is_left, int64_t element_bytes, int64_t remaining) {
    return element_bytes == 4 ? panel_width<float>(is_left, remaining)
                              : panel_width<double>(is_left, remaining);
}

)";

std::string table_text(const Module& module, size_t number) {
    std::string adapters, table = text("static const Kernels_", number + 1, " kernels = {\n");
    for (const PrintedKernel& kernel : module.functions) {
        if (kernel.tasks == 0) continue;
        if (kernel.can_fault) adapters += fault_adapter(kernel);
        table += text("    ", kernel.function, kernel.can_fault ? "_checked" : "", ",\n");
        if (!kernel.scratch_bytes.empty())
            table += text("    int64_t(", kernel.scratch_bytes, "),\n");
    }
    if (reads_panels(module)) {
        adapters += panel_width_function;
        table += "    width_of_panel,\n";
    }
    return adapters + table + "};\n";
}

struct InstructionSet {
    const char* name;
    int vector_bytes;
    const char* features;      // of the target pragma
    const char* gcc_features;  // more of them that only g++ takes
    const char* supported;     // condition
};

constexpr InstructionSet instruction_sets[] = {
    {"avx512", 64, "avx2,fma,bmi2,avx512f,avx512bw,avx512dq,avx512vl", ",prefer-vector-width=512",
     "__builtin_cpu_supports(\"avx512f\") && __builtin_cpu_supports(\"avx512bw\") &&\n"
     "        __builtin_cpu_supports(\"avx512dq\") && __builtin_cpu_supports(\"avx512vl\") &&\n"
     "        __builtin_cpu_supports(\"fma\") && __builtin_cpu_supports(\"bmi2\")"},
    {"avx2", 32, "avx2,fma,bmi2", "",
     "__builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\") &&\n"
     "        __builtin_cpu_supports(\"bmi2\")"},
};

std::string inclusion(const InstructionSet& set, const std::string& file) {
    return text("#if defined(__clang__)\n#pragma clang attribute push(__attribute__((target(\"",
                set.features, "\"))), apply_to = function)\n#else\n#pragma GCC push_options\n",
                "#pragma GCC target(\"", set.features, set.gcc_features, "\")\n#endif\n",
                "#define COMPOSIT_VECTOR_BYTES ", set.vector_bytes, "\nnamespace ", set.name,
                " {\n#include \"", file, "\"\n}  // namespace ", set.name,
                "\n#undef COMPOSIT_VECTOR_BYTES\n#if defined(__clang__)\n",
                "#pragma clang attribute pop\n#else\n#pragma GCC pop_options\n#endif\n\n");
}

// On x86 the portable kernels are for processors without FMA, for which they call a function: no
// optimisation makes these fast.
constexpr const char* quick_on_x86 = R"(#if defined(COMPOSIT_X86) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O1,no-math-errno,no-trapping-math,fp-contract=off")
#endif
)";
constexpr const char* quick_on_x86_ends = R"(#if defined(COMPOSIT_X86) && !defined(__clang__)
#pragma GCC pop_options
#endif
)";

std::string choice(size_t number) {
    std::string result = text("const Kernels_", number + 1, "& kernels_", number + 1, "() {\n");
    result += "#if defined(COMPOSIT_X86)\n";
    for (const InstructionSet& set : instruction_sets) {
        result += text("    static const bool has_", set.name, " = ", set.supported, ";\n");
        result += text("    if (has_", set.name, ") return ", set.name, "::kernels;\n");
    }
    return result + "#endif\n    return portable::kernels;\n}\n";
}

}  // namespace

// As three instruction sets are compiled at once, g++ works on products with few passes: these are
// written so that the others take as much time again and make them a few per cent faster.
const c_family::Around around_products{
    R"(#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O1,tree-vectorize,vect-cost-model=dynamic,inline-functions")
#pragma GCC optimize("inline-small-functions,no-math-errno,no-trapping-math,fp-contract=off")
#endif
)",
    R"(#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

)"};

std::string kernels_struct(const Project& project, size_t number) {
    std::string result = text("struct Kernels_", number + 1, " {\n");
    for (const PrintedKernel& kernel : project.modules.modules[number].functions) {
        if (kernel.tasks == 0) continue;
        result += text("    void (*", kernel.function, ")(", join(parameter_types(kernel)), ");\n");
        if (!kernel.scratch_bytes.empty())
            result += text("    int64_t ", kernel.function, "_scratch;  // bytes\n");
    }
    if (reads_panels(project.modules.modules[number]))
        result +=
            "    int64_t (*panel_width)(bool is_left, int64_t element_bytes, int64_t remaining);\n";
    return result + text("};\nconst Kernels_", number + 1, "& kernels_", number + 1, "();\n");
}

std::string kernels_text(const Project& project, size_t number) {
    std::string file = module_file(project, number);
    std::string result =
        R"(// ----- the kernels, once for each instruction set: this file includes itself
namespace {

#define COMPOSIT_KERNELS
#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#define COMPOSIT_X86
)";
    for (const InstructionSet& set : instruction_sets) result += inclusion(set, file);
    result +=
        text("#endif\n", quick_on_x86, "#define COMPOSIT_VECTOR_BYTES 16\nnamespace portable {\n",
             "#include \"", file, "\"\n}  // namespace portable\n", quick_on_x86_ends,
             "#undef COMPOSIT_KERNELS\n\n}  // namespace\n\n", choice(number));
    return result;
}

std::string kernel_section(const Project& project, size_t number) {
    const Module& module = project.modules.modules[number];
    return module.text + table_text(module, number);
}

}  // namespace composit::cpp_project

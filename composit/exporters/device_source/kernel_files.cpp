// Files of kernels, and of a program that launches the first of them.
#include "composit/exporters/device_source/kernel_files.h"

#include "composit/backends/simt/dialect.h"
#include "composit/backends/simt/items_source.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/exporters/device_source/host_texts.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <map>

namespace composit::device_source {
namespace {

using ir::procedure::Procedure;
using ir::scalar::Bits;
using simt::ItemKernel;
using simt::ItemParameter;
using Of = ItemParameter::Of;

constexpr int64_t extent_of_example = 3;

const simt::Dialect& dialect_of(const char* function, const std::string& language) {
    user_check(language == "opencl" || language == "cuda", function, ": there is no language '",
               language, "'. One of opencl, cuda is required.");
    return language == "cuda" ? simt::cuda() : simt::opencl();
}

// The program: numbers for all that the kernel reads, a call, and what it made.
class ExampleWriter {
  public:
    ExampleWriter(const std::string& language, const std::string& name, const ItemKernel& kernel)
        : is_cuda_(language == "cuda"),
          name_(name),
          kernel_(kernel),
          own_(kernel.called.procedure) {
        values_.resize(own_.variables.size());
        for (size_t i = 0; i < own_.parameters; ++i) {
            const ir::DType dtype = own_.variables[i].dtype;
            values_[i] = ir::is_floating(dtype) ? ir::scalar::bits_of(dtype, 0.1)
                                                : ir::scalar::bits_of_integer(dtype, 1);
        }
        for (const auto& extent : kernel.called.extents)
            values_[static_cast<size_t>(extent.parameter)] =
                ir::scalar::bits_of_integer(ir::DType::int64, extent_of_example);
    }

    std::string text() {
        const std::string file = name_ + (is_cuda_ ? ".cu" : ".cl");
        const std::string libraries = is_cuda_ ? "-lnvrtc -l:libcuda.so.1" : "-l:libOpenCL.so.1";
        std::string out = composit::text(
            "// Calls the kernel ", kernel_.name, " of ", file,
            " for a few items.\n//\n//   c++ -std=c++17 ", name_, "_example.cpp ", libraries,
            " -o ", name_, "_example && ./", name_,
            "_example\n#include <cstdint>\n#include <cstdio>\n#include <cstdlib>\n"
            "#include <fstream>\n#include <iterator>\n#include <string>\n#include <vector>\n");
        out += is_cuda_ ? cuda_device : opencl_device;
        out += example_support;
        if (has(Of::fault))
            out += R"(
// What did not hold, for which item: in which line of the kernels' text, or, where `kind` is 1,
// that its workspace is too small.
struct Fault {
    int64_t launch, item, kind, line;
    int32_t unused[2];
};
)";
        return out + main_text(file);
    }

  private:
    bool has(Of of) const {
        return std::any_of(kernel_.parameters.begin(), kernel_.parameters.end(),
                           [of](const ItemParameter& each) { return each.of == of; });
    }

    // As hosts know it: a bool is a byte.
    static std::string type_of(ir::DType dtype) {
        switch (dtype) {
            case ir::DType::boolean: return "uint8_t";
            case ir::DType::float32: return "float";
            case ir::DType::float64: return "double";
            default: return std::string(ir::name(dtype)) + "_t";
        }
    }

    // What all items have of a parameter: how many elements each has, and of which type.
    std::string elements_of(const ItemParameter& parameter, std::string& type) const {
        const auto number = static_cast<size_t>(parameter.number);
        if (parameter.of != Of::array) {
            type = type_of(parameter.of == Of::result ? own_.results[number].dtype
                                                      : own_.variables[number].dtype);
            return "items";
        }
        type = type_of(own_.arrays[number].dtype);
        std::string count = "items";
        for (const ir::scalar::Expr& extent : own_.arrays[number].shape) {
            const bool is_named =
                extent.op() == ir::scalar::Op::argument && extents_.contains(extent.index());
            count +=
                " * " +
                (is_named ? extents_.at(extent.index())
                          : std::to_string(std::max<int64_t>(
                                static_cast<int64_t>(ir::scalar::evaluate({extent}, values_)[0][0]),
                                0)));
        }
        return count;
    }

    bool is_output(const ItemParameter& parameter) const {
        return parameter.of == Of::result ||
               (parameter.of == Of::array &&
                own_.arrays[static_cast<size_t>(parameter.number)].role ==
                    ir::procedure::ArrayVariable::Role::output);
    }
    static bool is_memory(const ItemParameter& parameter) {
        return parameter.of == Of::array || parameter.of == Of::variable ||
               parameter.of == Of::result;
    }

    std::string main_text(const std::string& file) {
        std::string out = "\nint main() {\n    const int64_t items = 4";
        for (const ItemParameter& each : kernel_.parameters)
            if (each.of == Of::extent) {
                extents_[each.number] = each.name;
                out += composit::text(", ", each.name, " = ", extent_of_example);
            }
        out += ";\n";
        for (const ItemParameter& each : kernel_.parameters) {
            if (!is_memory(each)) continue;
            std::string type;
            const std::string count = elements_of(each, type);
            const bool is_number = each.of == Of::variable && type != "double" && type != "float";
            out +=
                composit::text("    std::vector<", type, "> ", each.name,
                               is_output(each) ? composit::text("(", count, ")")
                               : is_number ? composit::text("(", count, ", 1)")
                                           : composit::text(" = numbers<", type, ">(", count, ")"),
                               ";\n");
        }
        out += composit::text("    std::ifstream file(\"", file, "\");\n",
                              "    const std::string text{std::istreambuf_iterator<char>(file), "
                              "{}};\n    Device device(text, \"",
                              kernel_.name, "\");\n");
        return out + call_text(file) + "}\n";
    }

    std::string call_text(const std::string& file) const {
        const bool repeats = has(Of::workspace);
        std::string out, indent = "    ";
        const auto line = [&](const std::string& own) { out += indent + own + "\n"; };
        if (has(Of::fault)) line("Fault fault;");
        if (repeats) {
            line("int64_t workspace_bytes = 4096;  // of each item");
            line("while (true) {");
            indent += "    ";
        }
        if (has(Of::fault)) line("fault = {};");
        std::vector<std::string> arguments = {"items"};
        for (const ItemParameter& each : kernel_.parameters) {
            switch (each.of) {
                case Of::fault:
                    line("void* const fault_there = device.allocate(sizeof fault);");
                    line("device.write(fault_there, &fault, sizeof fault);");
                    arguments.emplace_back("fault_there");
                    break;
                case Of::workspace:
                    line("void* const workspaces = device.allocate(items * workspace_bytes);");
                    arguments.emplace_back("workspaces");
                    break;
                case Of::array:
                case Of::variable:
                case Of::result:
                    line(composit::text("void* const ", each.name, "_there = sent(device, ",
                                        each.name, ");"));
                    arguments.push_back(each.name + "_there");
                    break;
                default: arguments.push_back(each.name);
            }
        }
        std::string call = indent + "device.call(";
        for (size_t i = 0; i < arguments.size(); ++i) {
            const std::string next = arguments[i] + (i + 1 < arguments.size() ? "," : ");");
            const size_t width = call.size() - (call.rfind('\n') + 1);
            call += i == 0                           ? next
                    : width + 1 + next.size() <= 100 ? " " + next
                                                     : "\n" + indent + "            " + next;
        }
        out += call + "\n";
        for (const ItemParameter& each : kernel_.parameters) {
            if (is_memory(each))
                line(is_output(each)
                         ? composit::text("fetch(device, ", each.name, "_there, ", each.name, ");")
                         : composit::text("device.release(", each.name, "_there);"));
            if (each.of == Of::workspace) line("device.release(workspaces);");
        }
        if (has(Of::fault)) {
            line("device.read(fault_there, &fault, sizeof fault);");
            line("device.release(fault_there);");
        }
        if (repeats) {
            line("if (fault.launch == 0 || fault.kind != 1) break;");
            line("workspace_bytes *= 4;");
            indent.resize(4);
            line("}");
        }
        if (has(Of::fault)) {
            line("if (fault.launch != 0) {");
            line(composit::text("    std::fprintf(stderr, \"item %lld fails what ", file,
                                " requires in line %lld\\n\","));
            line(
                "                 static_cast<long long>(fault.item), "
                "static_cast<long long>(fault.line));");
            line("    return 1;");
            line("}");
        }
        for (const ItemParameter& each : kernel_.parameters)
            if (is_output(each))
                line(composit::text("print(\"", each.name, "\", ", each.name, ");"));
        return out;
    }

    const bool is_cuda_;
    const std::string& name_;
    const ItemKernel& kernel_;
    const Procedure& own_;
    std::vector<Bits> values_;            // of the example, by variable
    std::map<int, std::string> extents_;  // names of extents, by parameter
};

}  // namespace

std::string print_kernels(const std::string& language, const std::vector<Procedure>& procedures) {
    const simt::Dialect& dialect = dialect_of("source_for", language);
    std::vector<std::string> names;
    for (const Procedure& procedure : procedures) names.push_back(procedure.name);
    return simt::print_items(dialect, procedures, names).text;
}

std::vector<std::pair<std::string, std::string>> print_kernel_files(
    const std::string& language, const std::string& name,
    const std::vector<std::vector<Procedure>>& families) {
    const simt::Dialect& dialect = dialect_of("export", language);
    std::vector<Procedure> procedures;
    std::vector<std::string> names;
    for (size_t family = 0; family < families.size(); ++family)
        for (const Procedure& procedure : families[family]) {
            procedures.push_back(procedure);
            names.push_back(procedure.name + (family == 0 ? "" : "_float"));
        }
    const simt::ItemFile file = simt::print_items(dialect, procedures, names);
    const std::string kernels = name + (language == "cuda" ? ".cu" : ".cl");
    return {{kernels, file.text},
            {name + "_example.cpp", ExampleWriter(language, name, file.kernels[0]).text()}};
}

}  // namespace composit::device_source

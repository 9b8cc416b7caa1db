#include "composit/exporters/plain/selfcheck.h"

#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/exporters/plain/shapes.h"
#include "composit/exporters/plain/values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

namespace composit::plain {

using ir::Array;
using ir::DType;
using ir::kernel::Buffer;
using ir::kernel::Program;

namespace {

// Calls with more elements than this are recorded by rule: inputs by a formula, outputs by a
// checksum.
constexpr int64_t most_recorded = 256;

const Buffer& buffer_of(const Program& program, int number) {
    return program.buffers[static_cast<size_t>(number)];
}

// The same bytes as another type.
Array of_bytes(const Array& array, ir::DType dtype, const ir::Shape& shape) {
    if (array.dtype() == dtype && array.shape() == shape) return array;
    Array made = Array::zeros(dtype, shape);
    std::memcpy(made.mutable_data(), array.data_as<char>(), static_cast<size_t>(made.bytes()));
    return made;
}

// The formula of example_inputs, from 0 to 200.
int64_t example_number(int64_t input, int64_t i) { return (37 * i + 11 * input) % 201; }

uint32_t mixed(uint32_t hash, uint32_t word) { return (hash ^ word) * 16777619u; }

// NaN has the sign and the payload that the processor gives it.
constexpr uint32_t nan_of_float32 = 0x7fc00000u;
constexpr uint64_t nan_of_float64 = 0x7ff8000000000000u;

bool is_nan(const Array& array, int64_t i) {
    return array.dtype() == DType::float32   ? std::isnan(array.data_as<float>()[i])
           : array.dtype() == DType::float64 ? std::isnan(array.data_as<double>()[i])
                                             : false;
}

bool has_nan(const Array& array) {
    for (int64_t i = 0; i < array.size(); ++i)
        if (is_nan(array, i)) return true;
    return false;
}

// As check_text does it: of each element its bits, 32 at a time, the low ones first.
uint32_t checksum(const Array& array) {
    uint32_t hash = 2166136261u;
    const auto size = static_cast<size_t>(ir::size_of(array.dtype()));
    for (int64_t i = 0; i < array.size(); ++i) {
        uint64_t bits = 0;
        std::memcpy(&bits, array.data_as<char>() + static_cast<size_t>(i) * size, size);
        if (is_nan(array, i)) bits = size == 4 ? nan_of_float32 : nan_of_float64;
        hash = mixed(hash, static_cast<uint32_t>(bits));
        if (size == 8) hash = mixed(hash, static_cast<uint32_t>(bits >> 32));
    }
    return hash;
}

bool is_example(const PlainFunction& function, bool are_zero) {
    const std::vector<Array> examples = example_inputs(function.program, are_zero);
    for (size_t k = 0; k < examples.size(); ++k)
        if (std::memcmp(examples[k].data_as<char>(), function.inputs[k].data_as<char>(),
                        static_cast<size_t>(examples[k].bytes())) != 0)
            return false;
    return true;
}

class CheckWriter {
  public:
    CheckWriter(const ProgramText& text, const FunctionPlan& plan)
        : text_(text), plan_(plan), language_(text.options().language) {}

    // The statements of one function's check, which return its number where bits differ.
    std::string write(size_t number) {
        const Program& program = plan_.program;
        int64_t elements = 0;
        for (const auto* numbers : {&program.inputs, &program.outputs})
            for (const int b : *numbers) elements += ir::element_count(buffer_of(program, b).shape);
        const bool are_zero = is_example(*plan_.given, true);
        const bool by_rule =
            elements > most_recorded && (are_zero || is_example(*plan_.given, false));
        std::string declared, filled, checked;
        std::vector<std::string> arguments;
        for (size_t k = 0; k < program.inputs.size(); ++k) {
            const Buffer& buffer = buffer_of(program, program.inputs[k]);
            const std::string name = name_of(program.inputs[k]);
            // C takes no array of arrays of variables for one of constants.
            const bool is_cast = by_rule && language_ == Language::c && buffer.shape.size() > 1;
            const std::string extents = extents_text(buffer.shape);
            arguments.push_back(is_cast ? text("(const ", c_family::type_name(buffer.dtype), " (*)",
                                               extents.substr(extents.find(']') + 1), ")", name)
                                        : name);
            if (!by_rule) {
                declared += constant_text(language_, name, plan_.given->inputs[k]);
                continue;
            }
            add_array(buffer, name);
            if (!are_zero || ir::is_floating(buffer.dtype))
                filled += fill(buffer, name, static_cast<int64_t>(k));
        }
        for (size_t k = 0; k < program.outputs.size(); ++k) {
            const Buffer& buffer = buffer_of(program, program.outputs[k]);
            const std::string name = name_of(program.outputs[k]);
            arguments.push_back(name);
            if (by_rule)
                add_array(buffer, name);
            else
                declared += text(c_family::type_name(buffer.dtype), " ", name,
                                 extents_text(buffer.shape), ";\n");
            if (buffer.bytes == 0) continue;
            if (by_rule || has_nan(plan_.given->outputs[k])) {
                checked += text(
                    "if (", function(buffer.dtype), "((const ", c_family::type_name(buffer.dtype),
                    "*)", name, ", ", ir::element_count(buffer.shape),
                    ") != ", checksum(plan_.given->outputs[k]), "u) return ", number, ";\n");
                continue;
            }
            declared += constant_text(language_, "expected_" + name, plan_.given->outputs[k]);
            if (program.outputs.size() == 1) {
                std::string i = "i";  // none of the arrays
                while (std::find(plan_.names.begin(), plan_.names.end(), i) != plan_.names.end())
                    i += "_";
                const std::string as_bytes = "((const unsigned char*)";
                checked += text("for (unsigned ", i, " = 0; ", i, " < sizeof ", name, "; ++", i,
                                ")\n    if (", as_bytes, name, ")[", i, "] != ", as_bytes,
                                "expected_", name, ")[", i, "]) return ", number, ";\n");
                continue;
            }
            checked += text("if (differ(", name, ", expected_", name, ", sizeof ", name,
                            ") != 0) return ", number, ";\n");
        }
        if (text_.options().has_workspace && !plan_.memory->is_empty()) {
            declared += text("static struct ", plan_.name, "_memory memory;\n");
            arguments.push_back("&memory");
        }
        for (const auto& [type, arrays] : arrays_)
            declared += text("static ", type, " ", join(arrays), ";\n");
        const std::string call = text(plan_.name, "(", join(arguments), ")");
        return declared + filled +
               (plan_.can_fault ? text("if (", call, " != 0) return ", number, ";\n")
                                : call + ";\n") +
               checked;
    }

    // The functions that it calls, by name.
    static std::string function(DType dtype) {
        return "checksum_of_" + (dtype == DType::boolean ? std::string("bool") : text(dtype));
    }

    static std::string filler(DType dtype) {
        return "fill_" + (dtype == DType::boolean ? std::string("bool") : text(dtype));
    }

  private:
    std::string name_of(int b) const { return plan_.names[static_cast<size_t>(b)]; }

    // An array that is filled by rule: those of a type are declared together.
    void add_array(const Buffer& buffer, const std::string& name) {
        arrays_[c_family::type_name(buffer.dtype)].push_back(name + extents_text(buffer.shape));
    }

    static std::string fill(const Buffer& buffer, const std::string& name, int64_t input) {
        return text(filler(buffer.dtype), "((", c_family::type_name(buffer.dtype), "*)", name, ", ",
                    ir::element_count(buffer.shape), ", ", input, ");\n");
    }

    const ProgramText& text_;
    const FunctionPlan& plan_;
    Language language_;
    std::map<std::string, std::vector<std::string>> arrays_;  // by type
};

std::string checksum_function(Language language, DType dtype) {
    const std::string type = c_family::type_name(dtype);
    const int size = ir::size_of(dtype);
    std::string bits =
        ir::is_floating(dtype)
            ? text("values[i] != values[i] ? ",
                   size == 4 ? text(nan_of_float32, "u") : text(nan_of_float64, "ull"),
                   " : as_uint", 8 * size, "(values[i])")
            : converted(language, text("uint", std::max(32, 8 * size), "_t"),
                        size < 4 && dtype != DType::boolean
                            ? converted(language, text("uint", 8 * size, "_t"), "values[i]")
                            : "values[i]");
    const std::string word = language == Language::c ? "(uint32_t)" : "uint32_t";
    std::string result = text("static uint32_t ", CheckWriter::function(dtype), "(const ", type,
                              "* values, int32_t count) {\n    uint32_t hash = 2166136261u;\n"
                              "    for (int32_t i = 0; i < count; ++i) {\n        const ",
                              size == 8 ? "uint64_t" : "uint32_t", " bits = ", bits, ";\n");
    result +=
        text("        hash = (hash ^ ", size == 8 ? word + "(bits)" : "bits", ") * 16777619u;\n");
    if (size == 8) result += text("        hash = (hash ^ ", word, "(bits >> 32)) * 16777619u;\n");
    return result + "    }\n    return hash;\n}\n\n";
}

std::string fill_function(Language language, DType dtype) {
    const std::string type = c_family::type_name(dtype);
    const std::string number = "(37 * (i % 201) + 11 * input) % 201";
    const std::string value =
        ir::is_floating(dtype)    ? converted(language, type, "(" + number + " - 100)") + " / 128"
        : dtype == DType::boolean ? number + " % 2 != 0"
                                  : converted(language, type, "(" + number + " % 2)");
    return text("static void ", CheckWriter::filler(dtype), "(", type,
                "* values, int32_t count, int input) {\n    for (int32_t i = 0; i < count; ++i)\n"
                "        values[i] = ",
                value, ";\n}\n\n");
}

std::string helpers_for(Language language, DType dtype, const std::string& body) {
    std::string result;
    if (c_family::has_word(body, CheckWriter::filler(dtype)))
        result += fill_function(language, dtype);
    if (c_family::has_word(body, CheckWriter::function(dtype)))
        result += checksum_function(language, dtype);
    return result;
}

std::string indented(const std::string& lines) {
    std::string result = "    ";
    for (size_t at = 0; at < lines.size(); ++at) {
        result += lines[at];
        if (lines[at] == '\n' && at + 1 < lines.size()) result += "    ";
    }
    return result;
}

}  // namespace

std::vector<Array> example_inputs(const Program& program, bool are_zero) {
    std::vector<Array> inputs;
    for (size_t k = 0; k < program.inputs.size(); ++k) {
        const Buffer& buffer = buffer_of(program, program.inputs[k]);
        Array array = Array::zeros(buffer.dtype, buffer.shape);
        const auto size = static_cast<size_t>(ir::size_of(buffer.dtype));
        for (int64_t i = 0; i < array.size(); ++i) {
            char* const to =
                static_cast<char*>(array.mutable_data()) + static_cast<size_t>(i) * size;
            const int64_t number = example_number(static_cast<int64_t>(k), i);
            if (buffer.dtype == DType::float32) {
                const float value = static_cast<float>(number - 100) / 128;
                std::memcpy(to, &value, size);
            } else if (buffer.dtype == DType::float64) {
                const double value = static_cast<double>(number - 100) / 128;
                std::memcpy(to, &value, size);
            } else if (!are_zero) {
                *to = static_cast<char>(number % 2);
            }
        }
        inputs.push_back(std::move(array));
    }
    return inputs;
}

PlainFunction with_recorded_call(
    Program program, const std::vector<ir::TensorType>& inputs,
    const std::function<std::vector<Array>(const std::vector<Array>&)>& call) {
    PlainFunction made{std::move(program)};
    for (const bool are_zero : {false, true}) {
        made.inputs = example_inputs(made.program, are_zero);
        std::vector<Array> arguments, results;
        for (size_t k = 0; k < made.inputs.size(); ++k)
            arguments.push_back(of_bytes(made.inputs[k], inputs[k].dtype, inputs[k].shape));
        try {
            results = call(arguments);
        } catch (const IndexError&) {
            continue;
        }
        for (size_t k = 0; k < results.size(); ++k) {
            const Buffer& buffer = buffer_of(made.program, made.program.outputs[k]);
            made.outputs.push_back(of_bytes(results[k], buffer.dtype, buffer.shape));
        }
        break;
    }
    return made;
}

std::string selfcheck_declaration(const ProgramText& program) {
    return text("int ", program.name(), "_selfcheck(void)");
}

std::string selfcheck_text(const ProgramText& program) {
    std::string body, helpers;
    bool is_one = true;
    for (const FunctionPlan& plan : program.functions()) is_one &= &plan == &program.functions()[0];
    size_t number = 0;
    for (const FunctionPlan& plan : program.functions()) {
        ++number;
        if (plan.given->outputs.empty()) continue;
        const std::string text = CheckWriter(program, plan).write(number);
        body += is_one ? indented(text) : "    {\n" + indented(indented(text)) + "    }\n";
    }
    if (body.empty()) return "";
    const Language language = program.options().language;
    if (c_family::has_word(body, "differ"))
        helpers +=
            "static int differ(const void* found, const void* expected, unsigned bytes) {\n"
            "    for (unsigned i = 0; i < bytes; ++i)\n"
            "        if (((const unsigned char*)found)[i] != ((const unsigned char*)expected)[i]) "
            "return 1;\n    return 0;\n}\n\n";
    for (const DType dtype :
         {DType::boolean, DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8,
          DType::uint16, DType::uint32, DType::uint64, DType::float32, DType::float64})
        helpers += helpers_for(language, dtype, body);
    return helpers + selfcheck_declaration(program) + " {\n" + body + "    return 0;\n}\n";
}

}  // namespace composit::plain

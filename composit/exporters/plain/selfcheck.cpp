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

// The formula of example_inputs, from 0 to 200, for element i of all inputs of a dtype.
int64_t example_number(int64_t i) { return 37 * (i % 201) % 201; }

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

constexpr uint32_t first_hash = 2166136261u;

// As the text does it: of each element its bits, 32 at a time, the low ones first. `hash`: of what
// lies before.
uint32_t checksum(const Array& array, uint32_t hash = first_hash) {
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
        are_zero_ = is_example(*plan_.given, true);
        const bool by_rule =
            elements > most_recorded && (are_zero_ || is_example(*plan_.given, false));
        std::vector<std::string> arguments = by_rule ? by_rules(number) : recorded(number);
        if (text_.options().has_workspace && !plan_.memory->is_empty()) {
            declared_ += text("static struct ", plan_.name, "_memory memory;\n");
            arguments.push_back("&memory");
        }
        const std::string call = text(plan_.name, "(", join(arguments), ")");
        return declared_ + filled_ +
               (plan_.can_fault ? text("if (", call, " != 0) return ", number, ";\n")
                                : call + ";\n") +
               checked_;
    }

    // The functions that it calls, by name.
    static std::string function(DType dtype) { return "checksum_of_" + word_of(dtype); }
    static std::string filler(DType dtype) { return "fill_" + word_of(dtype); }
    static std::string word_of(DType dtype) {
        return dtype == DType::boolean ? std::string("bool") : text(dtype);
    }

  private:
    std::string name_of(int b) const { return plan_.names[static_cast<size_t>(b)]; }

    // Arrays of one dtype, the inputs or the outputs: one array, or the members of a struct, which
    // are filled and compared together.
    struct Together {
        std::vector<int> buffers;  // in the order of the parameters
        std::string name;          // of the struct; "" of one array
    };

    std::map<DType, Together> together(const std::vector<int>& numbers, const char* word) {
        std::map<DType, Together> result;
        for (const int b : numbers) {
            const Buffer& buffer = buffer_of(plan_.program, b);
            if (buffer.bytes > 0)
                result[buffer.dtype].buffers.push_back(b);
            else  // declared with an element, which nobody compares
                declared_ += text("static ", c_family::type_name(buffer.dtype), " ", name_of(b),
                                  extents_text(buffer.shape), ";\n");
        }
        const auto is_struct = [](const auto& each) { return each.second.buffers.size() > 1; };
        const bool is_one = std::count_if(result.begin(), result.end(), is_struct) == 1;
        for (auto& [dtype, all] : result) {
            std::string type = c_family::type_name(dtype), members;
            for (const int b : all.buffers)
                members += (members.empty() ? "" : ", ") + name_of(b) +
                           extents_text(buffer_of(plan_.program, b).shape);
            if (all.buffers.size() == 1) {
                declared_ += text("static ", type, " ", members, ";\n");
                continue;
            }
            all.name = unlike_arrays(is_one ? std::string(word) : text(word, "_", word_of(dtype)));
            declared_ += text("static struct { ", type, " ", members, "; } ", all.name, ";\n");
        }
        return result;
    }

    std::string path(const std::map<DType, Together>& all, int b) const {
        const Buffer& buffer = buffer_of(plan_.program, b);
        const std::string around = buffer.bytes > 0 ? all.at(buffer.dtype).name : "";
        return around.empty() ? name_of(b) : around + "." + name_of(b);
    }

    // All elements of them, as a pointer to the first and their number.
    std::string elements(const Together& all, DType dtype, const char* constness) const {
        int64_t count = 0;
        for (const int b : all.buffers)
            count += ir::element_count(buffer_of(plan_.program, b).shape);
        return text("(", constness, c_family::type_name(dtype), "*)",
                    all.name.empty() ? name_of(all.buffers[0]) : "&" + all.name, ", ", count);
    }

    // Inputs by the formula, outputs by checksums. Returns the arguments of the call.
    std::vector<std::string> by_rules(size_t number) {
        const Program& program = plan_.program;
        std::vector<std::string> arguments;
        const auto given = together(program.inputs, "given");
        const auto found = together(program.outputs, "found");
        for (const int b : program.inputs) {
            const Buffer& buffer = buffer_of(program, b);
            const std::string array = path(given, b);
            // C takes no array of arrays of variables for one of constants.
            const bool is_cast = language_ == Language::c && buffer.shape.size() > 1;
            const std::string extents = extents_text(buffer.shape);
            arguments.push_back(is_cast ? text("(const ", c_family::type_name(buffer.dtype), " (*)",
                                               extents.substr(extents.find(']') + 1), ")", array)
                                        : array);
        }
        for (const auto& [dtype, all] : given)
            if (!are_zero_ || ir::is_floating(dtype))
                filled_ += text(filler(dtype), "(", elements(all, dtype, ""), ");\n");
        for (const int b : program.outputs) arguments.push_back(path(found, b));
        for (const auto& [dtype, all] : found) {
            uint32_t hash = first_hash;
            for (size_t k = 0; k < program.outputs.size(); ++k)
                if (buffer_of(program, program.outputs[k]).dtype == dtype)
                    hash = checksum(plan_.given->outputs[k], hash);
            checked_ += text("if (", function(dtype), "(", elements(all, dtype, "const "),
                             ") != ", hash, "u) return ", number, ";\n");
        }
        return arguments;
    }

    // Inputs and outputs as they were.
    std::vector<std::string> recorded(size_t number) {
        const Program& program = plan_.program;
        std::vector<std::string> arguments;
        for (size_t k = 0; k < program.inputs.size(); ++k) {
            arguments.push_back(name_of(program.inputs[k]));
            declared_ += constant_text(language_, arguments.back(), plan_.given->inputs[k]);
        }
        for (size_t k = 0; k < program.outputs.size(); ++k) {
            const Buffer& buffer = buffer_of(program, program.outputs[k]);
            const std::string name = name_of(program.outputs[k]);
            arguments.push_back(name);
            declared_ += text(c_family::type_name(buffer.dtype), " ", name,
                              extents_text(buffer.shape), ";\n");
            if (buffer.bytes == 0) continue;
            if (has_nan(plan_.given->outputs[k])) {
                checked_ += text(
                    "if (", function(buffer.dtype), "((const ", c_family::type_name(buffer.dtype),
                    "*)", name, ", ", ir::element_count(buffer.shape),
                    ") != ", checksum(plan_.given->outputs[k]), "u) return ", number, ";\n");
                continue;
            }
            declared_ += constant_text(language_, "expected_" + name, plan_.given->outputs[k]);
            if (program.outputs.size() == 1) {
                const std::string i = unlike_arrays("i");
                const std::string as_bytes = "((const unsigned char*)";
                checked_ += text("for (unsigned ", i, " = 0; ", i, " < sizeof ", name, "; ++", i,
                                 ")\n    if (", as_bytes, name, ")[", i, "] != ", as_bytes,
                                 "expected_", name, ")[", i, "]) return ", number, ";\n");
                continue;
            }
            checked_ += text("if (differ(", name, ", expected_", name, ", sizeof ", name,
                             ") != 0) return ", number, ";\n");
        }
        return arguments;
    }

    // The name, unless an array has it.
    std::string unlike_arrays(std::string name) const {
        while (std::find(plan_.names.begin(), plan_.names.end(), name) != plan_.names.end())
            name += "_";
        return name;
    }

    const ProgramText& text_;
    const FunctionPlan& plan_;
    Language language_;
    bool are_zero_ = false;
    std::string declared_, filled_, checked_;
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
    const std::string number = "37 * (i % 201) % 201";
    const std::string value =
        ir::is_floating(dtype)    ? converted(language, type, "(" + number + " - 100)") +
                                        (dtype == DType::float32 ? " / 128.0f" : " / 128.0")
        : dtype == DType::boolean ? number + " % 2 != 0"
                                  : converted(language, type, "(" + number + " % 2)");
    return text("static void ", CheckWriter::filler(dtype), "(", type,
                "* values, int32_t count) {\n    for (int32_t i = 0; i < count; ++i)\n"
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
    std::map<DType, int64_t> counts;  // of elements so far
    for (size_t k = 0; k < program.inputs.size(); ++k) {
        const Buffer& buffer = buffer_of(program, program.inputs[k]);
        Array array = Array::zeros(buffer.dtype, buffer.shape);
        const auto size = static_cast<size_t>(ir::size_of(buffer.dtype));
        for (int64_t i = 0; i < array.size(); ++i) {
            char* const to =
                static_cast<char*>(array.mutable_data()) + static_cast<size_t>(i) * size;
            const int64_t number = example_number(counts[buffer.dtype]++);
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
        } catch (const InternalError&) {
            throw;
        } catch (const Error&) {  // of an index, or what else a kernel requires
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

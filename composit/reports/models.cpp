// Inputs are drawn one after the other from one generator, as NumPy's default_rng draws them.
#include "composit/reports/models.h"

#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/random/generator.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>

namespace composit::reports {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A length as Python reads integers: "3", " +3 ", "2_000"; nothing for another text.
std::optional<int64_t> length_of(std::string_view word) {
    constexpr std::string_view spaces = " \t\n\r\f\v";
    const size_t first = word.find_first_not_of(spaces);
    if (first == std::string_view::npos) return {};
    word = word.substr(first, word.find_last_not_of(spaces) + 1 - first);
    if (word[0] == '+') word.remove_prefix(1);
    std::string digits;
    for (size_t i = 0; i < word.size(); ++i) {
        if (is_digit(word[i]))
            digits += word[i];
        else if (word[i] != '_' || i == 0 || i + 1 == word.size() || word[i - 1] == '_')
            return {};
    }
    int64_t length = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, length);
    if (digits.empty() || error != std::errc() || stop != end) return {};
    return length;
}

// The lengths of "2,3", or of "2,"; nothing for another text.
std::optional<Shape> lengths_of(std::string_view words) {
    Shape lengths;
    while (!words.empty()) {
        const size_t end = std::min(words.find(','), words.size());
        const auto length = length_of(words.substr(0, end));
        if (!length) return {};
        lengths.push_back(*length);
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    return lengths;
}

// "1,234,567"
std::string in_thousands(int64_t number) {
    std::string digits = std::to_string(number);
    const int64_t first = number < 0 ? 1 : 0;
    for (int64_t place = static_cast<int64_t>(digits.size()) - 3; place > first; place -= 3)
        digits.insert(static_cast<size_t>(place), ",");
    return digits;
}

// "Conv 3, Relu 2": the most frequent first, equal ones as they come.
std::string counts_text(const std::vector<std::string>& names) {
    std::vector<std::pair<std::string, int64_t>> counts;
    for (const std::string& name : names) {
        const auto known = std::find_if(counts.begin(), counts.end(),
                                        [&](const auto& each) { return each.first == name; });
        if (known == counts.end())
            counts.emplace_back(name, 1);
        else
            ++known->second;
    }
    std::stable_sort(counts.begin(), counts.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::string> words;
    for (const auto& [name, count] : counts) words.push_back(text(name, " ", count));
    return join(words);
}

}  // namespace

std::map<std::string, Shape> shapes_from(const std::vector<std::string>& texts,
                                         const std::vector<OpenInput>& inputs) {
    std::map<std::string, Shape> shapes;
    for (const std::string& each : texts) {
        const size_t sign = each.rfind('=');
        const std::string name = sign == std::string::npos ? "" : each.substr(0, sign);
        const auto lengths =
            lengths_of(std::string_view(each).substr(sign == std::string::npos ? 0 : sign + 1));
        const bool is_input = std::any_of(inputs.begin(), inputs.end(),
                                          [&](const OpenInput& one) { return one.name == name; });
        if (!lengths || !is_input) {
            std::vector<std::string> names;
            for (const OpenInput& one : inputs) names.push_back(one.name);
            fail("--shape: '", each, "' is no input with its lengths. INPUT=2,3 is required, of ",
                 join(names), ".");
        }
        shapes[name] = *lengths;
    }
    return shapes;
}

std::vector<Array> drawn_inputs(const std::vector<OpenInput>& inputs,
                                const std::map<std::string, Shape>& shapes,
                                const numpy::random::SeedSequence& seed) {
    numpy::random::Generator draw = numpy::random::default_rng(seed);
    std::vector<Array> made;
    for (const OpenInput& input : inputs) {
        user_check(input.dtype.has_value(), input.name, ": the input is ", input.description,
                   ". Tensors of numbers are required.");
        const auto given = shapes.find(input.name);
        user_check(given != shapes.end() || input.shape, input.name,
                   ": the model does not say how many axes it has. --shape ", input.name,
                   "=2,3 is required.");
        Shape shape;
        if (given != shapes.end())
            shape = given->second;
        else
            for (const auto& length : *input.shape) shape.push_back(length.value_or(1));
        const int64_t below = *input.dtype == ir::DType::boolean ? 2 : 10;
        const ir::Tensor drawn = ir::is_floating(*input.dtype)
                                     ? draw.standard_normal(shape)
                                     : draw.integers(int64_t{0}, below, shape);
        made.push_back(execute::evaluate({numpy::astype(drawn, *input.dtype)})[0]);
    }
    return made;
}

std::string text_about(const Outline& model,
                       const std::vector<std::pair<std::string, Shape>>& given,
                       const ir::kernel::Program& program) {
    std::vector<std::string> lines{model.headline};
    for (const auto& [name, description] : model.inputs)
        lines.push_back(text("  input     ", name, ": ", description));
    for (const auto& [name, description] : model.outputs)
        lines.push_back(text("  output    ", name, ": ", description));
    lines.push_back("  operators " + counts_text(model.operations));
    lines.push_back("  weights   " + in_thousands(model.weights) + " numbers");
    lines.push_back(text("  kernels   ", program.kernels.size()));
    double flops = 0, moved = 0;
    for (const ir::kernel::Kernel& kernel : program.kernels) {
        flops += ir::kernel::flops(kernel);
        moved += ir::kernel::bytes_moved(kernel, program);
    }
    std::vector<std::string> shapes;
    for (const auto& [name, shape] : given) shapes.push_back(text(name, " ", shape));
    lines.push_back("  flops     " + in_thousands(std::llrint(flops)) + " with " + join(shapes));
    int64_t results = program.arena_bytes;
    for (const int number : std::set<int>(program.outputs.begin(), program.outputs.end()))
        results += program.buffers[static_cast<size_t>(number)].bytes;
    lines.push_back("  moved     " + in_thousands(std::llrint(moved)) +
                    " bytes, read and written by kernels");
    lines.push_back("  memory    " + in_thousands(results) + " bytes beside weights and inputs");
    return join(lines, "\n");
}

}  // namespace composit::reports

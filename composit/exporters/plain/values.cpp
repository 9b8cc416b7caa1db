#include "composit/exporters/plain/values.h"

#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"
#include "composit/exporters/plain/shapes.h"

#include <algorithm>
#include <cstring>

namespace composit::plain {
namespace {

constexpr size_t line_length = 100;

std::string element_text(Language language, const ir::Array& value, int64_t i) {
    const auto size = static_cast<size_t>(ir::size_of(value.dtype()));
    ir::scalar::Bits bits{};
    std::memcpy(bits.data(), value.data_as<char>() + static_cast<size_t>(i) * size, size);
    return c_family::literal(value.dtype(), bits, spelling_of(language));
}

// The elements of the last axis in braces; in several lines where they need them.
void add_row(std::string& result, Language language, const ir::Array& value, int64_t first,
             int64_t count, const std::string& margin, const std::string& end) {
    std::string line = margin + "{";
    for (int64_t i = 0; i < count; ++i) {
        const std::string element =
            element_text(language, value, first + i) + (i + 1 < count ? "," : "}" + end);
        if (line.size() + 1 + element.size() > line_length) {
            result += line + "\n";
            line = margin + " " + element;
        } else {
            line += (i == 0 ? "" : " ") + element;
        }
    }
    result += line + "\n";
}

void add_axes(std::string& result, Language language, const ir::Array& value, size_t axis,
              int64_t& first, const std::string& margin, const std::string& end) {
    const auto& shape = value.shape();
    if (axis + 1 >= shape.size()) {
        const int64_t count = shape.empty() ? 1 : shape.back();
        add_row(result, language, value, first, count, margin, end);
        first += count;
        return;
    }
    result += margin + "{\n";
    for (int64_t i = 0; i < shape[axis]; ++i)
        add_axes(result, language, value, axis + 1, first, margin + "    ",
                 i + 1 < shape[axis] ? "," : "");
    result += margin + "}" + end + "\n";
}

}  // namespace

std::string constant_text(Language language, const std::string& name, const ir::Array& value) {
    std::string values;
    int64_t first = 0;
    if (value.size() > 0)
        add_axes(values, language, value, 0, first, "", ";");
    else
        values = std::string(std::max<size_t>(value.shape().size(), 1), '{') + "0" +
                 std::string(std::max<size_t>(value.shape().size(), 1), '}') + ";\n";
    const std::string head = text("static const ", c_family::type_name(value.dtype()), " ", name,
                                  extents_text(value.shape()), " = ");
    // Short ones stand in one line; of others the braces begin behind the name.
    if (values.find('\n') + 1 == values.size() && head.size() + values.size() <= line_length + 1)
        return head + values;
    if (value.shape().size() > 1) return head + values;
    // The elements of one axis stand in lines of their own.
    std::string lines;
    add_row(lines, language, value, 0, value.size(), "   ", "");
    lines[lines.find('{')] = ' ';
    lines[lines.rfind('}')] = '\n';
    lines.pop_back();
    return head + "{\n" + lines + "};\n";
}

}  // namespace composit::plain

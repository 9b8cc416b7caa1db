// Names, lines and constants of a function of MLIR.
#include "composit/exporters/mlir_kernels/function_text.h"

#include "composit/base/comments.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/ir/array.h"
#include "composit/ir/scalar/function.h"
#include "composit/mlir/literals.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace composit::mlir {

using ir::DType;
using ir::scalar::Bits;

namespace {

constexpr size_t longest_line = 100;

// Letters, digits and _, beginning with no digit.
std::string identifier(std::string_view wanted) {
    std::string out;
    for (const char c : wanted)
        out += std::isalnum(static_cast<unsigned char>(c)) && static_cast<unsigned char>(c) < 128
                   ? c
                   : '_';
    return out.empty() || std::isdigit(static_cast<unsigned char>(out[0])) ? "v" + out : out;
}

// In quotes, as MLIR reads it.
std::string quoted(std::string_view text) {
    static const char digits[] = "0123456789ABCDEF";
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= ' ' && byte < 127 && c != '"' && c != '\\')
            out += c;
        else
            out += {'\\', digits[byte >> 4], digits[byte & 15]};
    }
    return out + "\"";
}

// Where a text that is too long for a line is broken: behind the word that most brackets close
// before, and the last of these; none in quotes, and none before the middle.
size_t break_of(std::string_view text, size_t room) {
    size_t place = std::string_view::npos;
    int depth = 0, best = 0;
    bool in_quotes = false;
    for (size_t i = 0; i < std::min(room, text.size()); ++i) {
        in_quotes ^= text[i] == '"';
        if (in_quotes) continue;
        depth += text[i] == '(' || text[i] == '{' || text[i] == '[';
        depth -= text[i] == ')' || text[i] == '}' || text[i] == ']';
        // A type and a value stay with their name, a brace with what it opens.
        const std::string_view next = text.substr(i + 1, 1);
        const bool is_gap = text[i] == ' ' && next != "{" && next != "=" && text[i - 1] != ':' &&
                            text[i - 1] != '>' && text[i - 1] != '=';
        if (!is_gap || i < room / 2) continue;
        if (place != std::string_view::npos && depth > best) continue;
        place = i;
        best = depth;
    }
    return place;
}

// The text on several lines, if it has to be.
std::string broken(std::string_view text, size_t indent) {
    std::string out;
    for (size_t own = indent;; own = indent + 4) {
        const size_t place = own + text.size() <= longest_line ? std::string_view::npos
                                                               : break_of(text, longest_line - own);
        out += std::string(own, ' ') + std::string(text.substr(0, place));
        if (place == std::string_view::npos) return out;
        out += '\n';
        text = text.substr(place + 1);
    }
}

}  // namespace

std::string scalar_type(DType dtype) {
    switch (dtype) {
        case DType::boolean: return "i1";
        case DType::int8:
        case DType::uint8: return "i8";
        case DType::int16:
        case DType::uint16: return "i16";
        case DType::int32:
        case DType::uint32: return "i32";
        case DType::int64:
        case DType::uint64: return "i64";
        case DType::float32: return "f32";
        case DType::float64: return "f64";
        default: break;
    }
    fail<InternalError>("mlir: a number of dtype ", dtype);
}

std::string scalar_literal(DType dtype, Bits bits) {
    if (dtype == DType::boolean) return bits[0] != 0 ? "true" : "false";
    if (ir::is_floating(dtype)) return number_literal(dtype, bits.data());
    const Bits wide = ir::scalar::evaluate(
        {ir::scalar::Expr::cast(ir::scalar::Expr::constant_bits(dtype, bits), DType::int64)},
        {})[0];
    auto value = static_cast<int64_t>(wide[0]);
    const int width = 8 * ir::size_of(dtype);
    if (width < 64 && value >= int64_t{1} << (width - 1)) value -= int64_t{1} << width;
    return text(value);
}

std::string FunctionText::fresh(std::string_view wanted) {
    // What Python calls _ is not to be read.
    const bool is_unnamed = wanted.find_first_not_of('_') == std::string_view::npos;
    return is_unnamed ? text("%", next_++) : unique(identifier(wanted));
}

std::string FunctionText::unique(std::string_view wanted) {
    const std::string name = "%" + std::string(wanted);
    if (names_.insert(name).second) return name;
    for (int64_t i = 2;; ++i)
        if (std::string other = text(name, "_", i); names_.insert(other).second) return other;
}

std::string FunctionText::add(std::string_view wanted, const std::string& operation) {
    std::string name = fresh(wanted);
    put(name + " = " + operation, depth_, true);
    return name;
}

void FunctionText::line(const std::string& text) { put(text, depth_, true); }

void FunctionText::label(const std::string& text) { put(text, depth_ - 1, false); }

void FunctionText::open(const std::string& text) {
    put(text, depth_, false);
    ++depth_;
}

void FunctionText::close(const std::string& text) {
    put(text, depth_ - 1, text == "}");
    if (text == "}") --depth_;
}

void FunctionText::put(const std::string& text, size_t depth, bool is_operation) {
    std::string made = text;
    const bool has_line = !style_.file.empty() && source_line_ != 0;
    if (has_line && style_.locations && is_operation)
        made += composit::text(" loc(", quoted(style_.file), ":", source_line_, ":0)");
    made = broken(made, 2 * depth);
    if (has_line && !style_.locations && source_line_ != said_line_ && text != "}") {
        said_line_ = source_line_;
        const std::string mark = composit::text("// ", in_comment(style_.file), ":", source_line_);
        const size_t width = made.size() - (made.rfind('\n') + 1);
        if (width + 2 + mark.size() <= longest_line)
            made += "  " + mark;
        else
            made = std::string(2 * depth, ' ') + mark + "\n" + made;
    }
    lines_.push_back(std::move(made));
}

std::string FunctionText::kept(const std::string& wanted, const std::string& value) {
    std::string& name = known_constants_[value];
    if (name.empty()) {
        name = unique(wanted);
        constants_.emplace_back(name, value);
    }
    return name;
}

std::string FunctionText::constant(DType dtype, Bits bits) {
    const std::string literal = scalar_literal(dtype, bits), type = scalar_type(dtype);
    if (dtype == DType::boolean) return kept(literal, literal);
    std::string wanted = "c" + literal + (ir::is_integer(dtype) ? "_" + type : "");
    if (ir::is_floating(dtype)) {
        const double value = ir::scalar::value_of(dtype, bits);
        if (!std::isfinite(value))
            wanted = std::isnan(value) ? "nan" : value > 0 ? "inf" : "minus_inf";
    }
    std::erase(wanted, '+');
    const std::string name = kept(wanted, literal + " : " + type);
    if (dtype == DType::int64) integers_[name] = static_cast<int64_t>(bits[0]);
    return name;
}

std::optional<int64_t> FunctionText::integer_of(const std::string& name) const {
    const auto place = integers_.find(name);
    return place == integers_.end() ? std::nullopt : std::optional(place->second);
}

std::string FunctionText::index_constant(int64_t value) {
    return kept(composit::text("c", value), composit::text(value, " : index"));
}

std::string FunctionText::failure(const std::string& function) const {
    std::string told = function + ": an assertion does not hold";
    if (!style_.file.empty() && source_line_ != 0)
        told += composit::text(" [", style_.file, ":", source_line_, "]");
    return quoted(told);
}

// Whether a line reads the value: names go on with letters, digits, dots and _.
bool FunctionText::is_read(const std::string& name) const {
    return std::any_of(lines_.begin(), lines_.end(), [&](const std::string& line) {
        for (size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
            const size_t end = at + name.size();
            const char next = end < line.size() ? line[end] : ' ';
            if (!std::isalnum(static_cast<unsigned char>(next)) && next != '_' && next != '.' &&
                next != '-')
                return true;
        }
        return false;
    });
}

std::string FunctionText::whole(const std::string& head) const {
    std::string out = broken(head, 2) + "\n";
    for (const auto& [name, value] : constants_)
        if (is_read(name)) out += "    " + name + " = arith.constant " + value + "\n";
    for (const std::string& line : lines_) out += line + "\n";
    return out + "  }\n";
}

}  // namespace composit::mlir

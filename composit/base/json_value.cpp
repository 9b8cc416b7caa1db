// A reader and a writer of JSON.
#include "composit/base/json_value.h"

#include "composit/base/error.h"
#include "composit/base/utf8.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <unordered_map>
#include <utility>

namespace composit {
namespace {

using Kind = JsonValue::Kind;

// The code at a place of a text in UTF-8, in which halves of characters may stand alone, and how
// many bytes it takes; a byte that begins nothing is its own.
std::pair<uint32_t, size_t> code_at(std::string_view text, size_t at) {
    const auto byte = [&](size_t i) {
        return i < text.size() ? static_cast<uint32_t>(static_cast<unsigned char>(text[i])) : 0U;
    };
    const uint32_t first = byte(at);
    const size_t count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    if (count == 1) return {first, 1};
    uint32_t code = first & (0xffU >> (count + 1));
    for (size_t i = 1; i < count; ++i) code = code << 6 | (byte(at + i) & 0x3f);
    return {code, std::min(count, text.size() - at)};
}

class JsonReader {
  public:
    JsonReader(std::string_view text, int most_depth, std::string_view too_deep)
        : text_(text), left_(most_depth), too_deep_(too_deep) {}

    JsonValue whole() {
        skip_space();
        JsonValue made = value();
        skip_space();
        if (at_ != text_.size()) fail("Extra data", at_);
        return made;
    }

  private:
    [[noreturn]] void fail(std::string_view what, size_t at) const {
        size_t line = 1, column = 1, count = 0;
        for (size_t i = 0; i < at && i < text_.size(); i += code_at(text_, i).second, ++count) {
            ++column;
            if (text_[i] == '\n') {
                ++line;
                column = 1;
            }
        }
        throw ValueError(
            composit::text(what, ": line ", line, " column ", column, " (char ", count, ")"));
    }

    bool is_at(char c) const { return at_ < text_.size() && text_[at_] == c; }
    void skip_space() {
        while (is_at(' ') || is_at('\n') || is_at('\t') || is_at('\r')) ++at_;
    }
    bool accept(std::string_view word) {
        if (text_.substr(at_, word.size()) != word) return false;
        at_ += word.size();
        return true;
    }

    JsonValue value() {
        if (is_at('"')) return JsonValue::of_text(string());
        if (is_at('{') || is_at('[')) {
            if (--left_ < 0) throw ValueError(std::string(too_deep_));
            JsonValue made = is_at('{') ? object() : list();
            ++left_;
            return made;
        }
        if (accept("null")) return {};
        if (accept("true")) return JsonValue::of_truth(true);
        if (accept("false")) return JsonValue::of_truth(false);
        for (const std::string_view word : {"NaN", "Infinity", "-Infinity"})
            if (accept(word)) return number_of(std::string(word));
        return number();
    }

    static JsonValue number_of(std::string text) {
        JsonValue made;
        made.kind = Kind::number;
        made.text = std::move(text);
        return made;
    }

    size_t digits(size_t at) const {
        while (at < text_.size() && text_[at] >= '0' && text_[at] <= '9') ++at;
        return at;
    }

    JsonValue number() {
        size_t end = at_ + (is_at('-') ? 1 : 0);
        const size_t begin_of_digits = end;
        end = end < text_.size() && text_[end] == '0' ? end + 1 : digits(end);
        if (end == begin_of_digits) fail("Expecting value", at_);
        if (end < text_.size() && text_[end] == '.' && digits(end + 1) > end + 1)
            end = digits(end + 1);
        if (end < text_.size() && (text_[end] | 0x20) == 'e') {
            size_t exponent = end + 1;
            if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-'))
                ++exponent;
            if (digits(exponent) > exponent) end = digits(exponent);
        }
        JsonValue made = number_of(std::string(text_.substr(at_, end - at_)));
        at_ = end;
        return made;
    }

    JsonValue list() {
        JsonValue made;
        made.kind = Kind::list;
        ++at_;
        skip_space();
        if (accept("]")) return made;
        for (;;) {
            made.items.push_back(value());
            skip_space();
            if (accept("]")) return made;
            if (!accept(",")) fail("Expecting ',' delimiter", at_);
            skip_space();
        }
    }

    JsonValue object() {
        JsonValue made;
        made.kind = Kind::object;
        Places places;
        ++at_;
        skip_space();
        if (accept("}")) return made;
        for (;;) {
            if (!is_at('"')) fail("Expecting property name enclosed in double quotes", at_);
            std::string name = string();
            skip_space();
            if (!accept(":")) fail("Expecting ':' delimiter", at_);
            skip_space();
            put(made, places, std::move(name), value());
            skip_space();
            if (accept("}")) return made;
            if (!accept(",")) fail("Expecting ',' delimiter", at_);
            skip_space();
        }
    }

    // Where the members of an object with many stand, by their names.
    using Places = std::unordered_map<std::string, size_t>;

    // The last one of a name counts.
    static void put(JsonValue& object, Places& places, std::string name, JsonValue value) {
        constexpr size_t few = 16;  // are searched faster than they are indexed
        auto& members = object.members;
        size_t at = 0;
        if (members.size() < few) {
            while (at < members.size() && members[at].first != name) ++at;
        } else {
            if (places.empty())
                for (size_t i = 0; i < members.size(); ++i) places.emplace(members[i].first, i);
            at = places.try_emplace(name, members.size()).first->second;
        }
        if (at < members.size())
            members[at].second = std::move(value);
        else
            members.emplace_back(std::move(name), std::move(value));
    }

    std::string string() {
        const size_t begin = at_++;
        std::string made;
        for (;;) {
            if (at_ == text_.size()) fail("Unterminated string starting at", begin);
            const char c = text_[at_];
            if (static_cast<unsigned char>(c) < 0x20) fail("Invalid control character at", at_);
            ++at_;
            if (c == '"') return made;
            if (c == '\\')
                escape(made, begin);
            else
                made.push_back(c);
        }
    }

    void escape(std::string& made, size_t begin) {
        if (at_ == text_.size()) fail("Unterminated string starting at", begin);
        constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
        const size_t place = at_ - 1;
        const char c = text_[at_++];
        if (const size_t which = letters.find(c); which != letters.npos) {
            made.push_back(meant[which]);
            return;
        }
        if (c != 'u') fail("Invalid \\escape", place);
        uint32_t code = four_digits(place);
        if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_, 2) == "\\u") {
            const size_t before = at_;
            at_ += 2;
            const uint32_t low = four_digits(before);
            if (low >= 0xdc00 && low < 0xe000)
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            else
                at_ = before;
        }
        append_character(made, code);
    }

    uint32_t four_digits(size_t place) {
        uint32_t code = 0;
        const char* const end = text_.data() + std::min(at_ + 4, text_.size());
        const auto read = std::from_chars(text_.data() + at_, end, code, 16);
        if (read.ptr != text_.data() + at_ + 4) fail("Invalid \\uXXXX escape", place + 1);
        at_ += 4;
        return code;
    }

    std::string_view text_;
    int left_;
    std::string_view too_deep_;
    size_t at_ = 0;
};

std::string hexadecimal(uint32_t code, size_t digits) {
    std::array<char, 8> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), code, 16).ptr;
    const std::string made(buffer.data(), end);
    return std::string(digits - std::min(digits, made.size()), '0') + made;
}

void write_text(std::string& out, std::string_view text) {
    out += '"';
    const auto is_as_it_is = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
    for (size_t at = 0; at < text.size();) {
        const size_t begin = at;
        while (at < text.size() && is_as_it_is(text[at])) ++at;
        out += text.substr(begin, at - begin);
        if (at == text.size()) break;
        const auto [code, bytes] = code_at(text, at);
        at += bytes;
        constexpr std::string_view letters = "\"\\bfnrt", meant = "\"\\\b\f\n\r\t";
        const size_t which = code < 0x80 ? meant.find(static_cast<char>(code)) : meant.npos;
        if (which != meant.npos) {
            out += {'\\', letters[which]};
        } else if (code < 0x10000) {
            out += "\\u" + hexadecimal(code, 4);
        } else {
            const uint32_t rest = code - 0x10000;
            out += "\\u" + hexadecimal(0xd800 + (rest >> 10), 4);
            out += "\\u" + hexadecimal(0xdc00 + (rest & 0x3ff), 4);
        }
    }
    out += '"';
}

// A list or an object, its texts and values written by these.
void write_parts(std::string& out, const JsonValue& value,
                 void (*write_name)(std::string&, std::string_view),
                 void (*write_value)(std::string&, const JsonValue&)) {
    const bool is_list = value.kind == Kind::list;
    const char* between = "";
    out += is_list ? '[' : '{';
    for (const JsonValue& item : value.items) {
        out += std::exchange(between, ", ");
        write_value(out, item);
    }
    for (const auto& [name, member] : value.members) {
        out += std::exchange(between, ", ");
        write_name(out, name);
        out += ": ";
        write_value(out, member);
    }
    out += is_list ? ']' : '}';
}

void write_json(std::string& out, const JsonValue& value) {
    switch (value.kind) {
        case Kind::null: out += "null"; return;
        case Kind::truth: out += value.truth ? "true" : "false"; return;
        case Kind::number: out += value.text; return;
        case Kind::text: write_text(out, value.text); return;
        case Kind::list:
        case Kind::object: write_parts(out, value, write_text, write_json); return;
    }
}

void show_text(std::string& out, std::string_view text) {
    const bool is_quoted_twice = text.find('\'') != text.npos && text.find('"') == text.npos;
    const char quote = is_quoted_twice ? '"' : '\'';
    out += quote;
    for (size_t at = 0; at < text.size();) {
        const auto [code, bytes] = code_at(text, at);
        if (code == static_cast<uint32_t>(quote) || code == '\\')
            out += {'\\', static_cast<char>(code)};
        else if (code == '\n' || code == '\r' || code == '\t')
            out += {'\\', code == '\n' ? 'n' : code == '\r' ? 'r' : 't'};
        else if (code < 0x20 || (code >= 0x7f && code < 0xa1) || code == 0xad)
            out += "\\x" + hexadecimal(code, 2);
        else if (code >= 0xd800 && code < 0xe000)
            out += "\\u" + hexadecimal(code, 4);
        else
            out += text.substr(at, bytes);
        at += bytes;
    }
    out += quote;
}

void show(std::string& out, const JsonValue& value) {
    switch (value.kind) {
        case Kind::null: out += "None"; return;
        case Kind::truth: out += value.truth ? "True" : "False"; return;
        case Kind::number:
            out += value.is_integer() ? value.text : python_number_text(value.number(), false);
            return;
        case Kind::text: show_text(out, value.text); return;
        case Kind::list:
        case Kind::object: write_parts(out, value, show_text, show); return;
    }
}

}  // namespace

JsonValue JsonValue::of_truth(bool truth) {
    JsonValue made;
    made.kind = Kind::truth;
    made.truth = truth;
    return made;
}

JsonValue JsonValue::of_integer(std::string digits) {
    JsonValue made;
    made.kind = Kind::number;
    made.text = std::move(digits);
    return made;
}

JsonValue JsonValue::of_number(double number) { return of_integer(python_number_text(number)); }

JsonValue JsonValue::of_text(std::string text) {
    JsonValue made;
    made.kind = Kind::text;
    made.text = std::move(text);
    return made;
}

JsonValue JsonValue::of_list(std::vector<JsonValue> items) {
    JsonValue made;
    made.kind = Kind::list;
    made.items = std::move(items);
    return made;
}

JsonValue JsonValue::of_object(std::vector<std::pair<std::string, JsonValue>> members) {
    JsonValue made;
    made.kind = Kind::object;
    made.members = std::move(members);
    return made;
}

bool JsonValue::is_integer() const {
    return kind == Kind::number && text.find_first_not_of("-0123456789") == text.npos;
}

double JsonValue::number() const {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (text == "Infinity") return infinite;
    if (text == "-Infinity") return -infinite;
    double found = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), found);
    if (read.ec != std::errc::result_out_of_range) return found;
    return std::strtod(text.c_str(), nullptr);  // 0 or infinite
}

JsonValue parse_json(std::string_view text, int most_depth, std::string_view too_deep) {
    return JsonReader(text, most_depth, too_deep).whole();
}

std::string json_text(const JsonValue& value) {
    std::string out;
    write_json(out, value);
    return out;
}

std::string shown_as_python(const JsonValue& value) {
    std::string out;
    show(out, value);
    return out;
}

std::string python_number_text(double number, bool is_json) {
    if (std::isnan(number)) return is_json ? "NaN" : "nan";
    if (std::isinf(number))
        return std::string(number < 0 ? "-" : "") + (is_json ? "Infinity" : "inf");
    std::array<char, 64> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                   std::chars_format::scientific)
                         .ptr;
    const std::string all(buffer.data(), end);
    const size_t mark = all.find('e');
    const int exponent = std::atoi(all.c_str() + mark + 1);
    if (exponent < -4 || exponent >= 16) return all;
    std::array<char, 64> plain{};
    const auto last =
        std::to_chars(plain.data(), plain.data() + plain.size(), number, std::chars_format::fixed)
            .ptr;
    std::string made(plain.data(), last);
    return made.find('.') == made.npos ? made + ".0" : made;
}

}  // namespace composit

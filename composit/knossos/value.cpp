// Values: what they are, and how errors show them.
#include "composit/knossos/value.h"

#include "composit/base/text.h"
#include "composit/ir/scalar/parse.h"
#include "composit/knossos/array.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace composit::knossos {
namespace {

// repr(float)
std::string text_of_float(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    char buffer[40];
    const double size = std::fabs(value);
    const bool is_plain = size == 0 || (size >= 1e-4 && size < 1e16);
    const auto format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, format);
    std::string text(buffer, end.ptr);
    if (is_plain && text.find('.') == text.npos) text += ".0";
    return text;
}

std::string text_of_tuple(const Tuple& tuple) {
    std::string inner;
    for (size_t i = 0; i < tuple.parts.size(); ++i)
        inner += (i > 0 ? ", " : "") + text_of(tuple.parts[i]);
    return "(" + inner + (tuple.parts.size() == 1 ? ",)" : ")");
}

}  // namespace

std::string_view name(Kind kind) {
    constexpr std::string_view names[] = {"bool", "int", "float", ""};
    return names[static_cast<int>(kind)];
}

std::optional<Kind> kind_named(std::string_view wanted) {
    for (const Kind each : {Kind::boolean, Kind::integer, Kind::floating, Kind::none})
        if (name(each) == wanted) return each;
    return std::nullopt;
}

bool Value::is_number() const { return as<bool>() || as<int64_t>() || as<double>() || as<Large>(); }

std::shared_ptr<Array> Value::array() const {
    const auto* found = as<std::shared_ptr<Array>>();
    return found ? *found : nullptr;
}

const Tuple* Value::tuple() const {
    const auto* found = as<std::shared_ptr<const Tuple>>();
    return found ? found->get() : nullptr;
}

const Record* Value::record() const {
    const auto* found = as<std::shared_ptr<const Record>>();
    return found ? found->get() : nullptr;
}

std::optional<int64_t> Value::plain_integer() const {
    const auto* found = as<int64_t>();
    return found ? std::optional(*found) : std::nullopt;
}

std::optional<int64_t> Value::integer() const {
    if (const auto* truth = as<bool>()) return *truth;
    return plain_integer();
}

std::optional<double> Value::number() const {
    if (const auto* found = as<double>()) return *found;
    if (const auto* large = as<Large>()) return std::strtod(large->digits.c_str(), nullptr);
    const auto whole = integer();
    return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
}

Value tuple_of(std::vector<Value> parts, bool is_list) {
    return std::make_shared<const Tuple>(Tuple{std::move(parts), is_list});
}

Value unnamed(const Value& value) {
    const Record* record = value.record();
    if (!record || !record->made_by->is_tuple()) return value;
    std::vector<Value> parts;
    for (const auto& [name, part] : record->fields) parts.push_back(part);
    return tuple_of(std::move(parts));
}

std::optional<Kind> kind(const Value& value) {
    if (const Expr* expression = value.expr()) {
        const DType dtype = expression->dtype();
        if (dtype == DType::boolean) return Kind::boolean;
        return ir::is_integer(dtype) ? Kind::integer : Kind::floating;
    }
    if (value.as<bool>()) return Kind::boolean;
    if (value.as<int64_t>() || value.as<Large>()) return Kind::integer;
    if (value.as<double>()) return Kind::floating;
    return std::nullopt;
}

std::string kind_of(const Value& value) {
    if (const auto known = kind(value)) return std::string(name(*known));
    if (value.tuple()) return "a tuple";
    if (const Record* record = value.record()) return "a " + record->made_by->name();
    if (value.array()) return "an array";
    return text_of(value);
}

std::string with_article(const std::string& kind) {
    if (kind.starts_with("a ") || kind.starts_with("an ")) return kind;
    const bool has_vowel = !kind.empty() && std::string_view("aeiou").find(kind[0]) != kind.npos;
    return (has_vowel ? "an " : "a ") + kind;
}

std::string text_of(const Value& value) {
    if (value.is_nothing()) return "None";
    if (const auto* truth = value.as<bool>()) return *truth ? "True" : "False";
    if (const auto* whole = value.as<int64_t>()) return std::to_string(*whole);
    if (const auto* large = value.as<Large>()) return large->digits;
    if (const auto* number = value.as<double>()) return text_of_float(*number);
    if (const auto* known = value.as<Kind>()) return "'" + std::string(name(*known)) + "'";
    if (const Expr* expression = value.expr()) return ir::scalar::print(*expression);
    if (const Tuple* tuple = value.tuple()) return text_of_tuple(*tuple);
    if (const Record* record = value.record()) return "a " + record->made_by->name();
    if (const auto array = value.array()) return array->outline();
    return (*value.as<std::shared_ptr<const Other>>())->text();
}

const Value& scalar(const Value& value) {
    if (value.expr() || value.is_number()) return value;
    throw Mismatch(kind_of(value) + " stands where a number is required", "Use one of its parts.");
}

Kind kind_of_number(const Value& value) { return *kind(scalar(value)); }

std::optional<Value> taken(Named& named, std::string_view name) {
    const auto found = std::find_if(named.begin(), named.end(),
                                    [&](const auto& each) { return each.first == name; });
    if (found == named.end()) return std::nullopt;
    Value value = std::move(found->second);
    named.erase(found);
    return value;
}

}  // namespace composit::knossos

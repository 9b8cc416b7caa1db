// StableHLO's text: lines, names, functions; operations that need no rule of their own.
#include "composit/mlir/writer.h"

#include "composit/base/error.h"
#include "composit/ir/scalar/expr.h"
#include "composit/mlir/literals.h"
#include "composit/mlir/unread.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

namespace composit::mlir {

namespace {

// Types of results: one alone, or several in brackets.
std::string results_text(const std::vector<ValueType>& types) {
    return types.size() == 1 ? type_text(types[0]) : "(" + type_texts(types) + ")";
}

double number_of(const ir::Array& one) {
    ir::scalar::Bits bits{};
    std::memcpy(bits.data(), one.data(), static_cast<size_t>(ir::size_of(one.dtype())));
    return ir::scalar::Expr::constant_bits(one.dtype(), bits).value();
}

// What MLIR takes as a name: letters, digits and _ $ . -, no digit first.
std::string identifier(std::string_view name) {
    std::string result;
    for (const char c : name) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        const bool is_inside = (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '$';
        if (is_letter || (is_inside && !result.empty()))
            result += c;
        else
            result += is_inside ? std::string("_") + c : "_";
    }
    return result.empty() ? "_" : result;
}

}  // namespace

Writer::Writer(std::string_view module, bool has_locations)
    : module_(identifier(module)), has_locations_(has_locations) {}

// ----- lines and names

std::string Writer::fresh() {
    // A number is no user's name.
    return "%" + std::to_string(open().next++);
}

std::string Writer::unique(std::string_view name) {
    const std::string wanted = identifier(name);
    std::string result = wanted;
    for (int k = 1; !open().names.insert(result).second; ++k)
        result = wanted + "_" + std::to_string(k);
    return "%" + result;
}

std::string Writer::location() const {
    if (!has_locations_) return "";
    const size_t colon = line_.rfind(':');
    if (line_.empty() || colon == std::string::npos) return " loc(unknown)";
    return " loc(\"" + line_.substr(0, colon) + "\":" + line_.substr(colon + 1) + ":0)";
}

void Writer::line(const std::string& text) {
    open().lines.push_back(std::string(2 * open().depth, ' ') + text);
}

Values Writer::results(std::string_view text, const std::vector<ValueType>& types) {
    const std::string name = fresh();
    std::string head = name;
    if (types.size() > 1) head += ":" + std::to_string(types.size());
    line(head + " = " + std::string(text) + location());
    Values values;
    for (size_t i = 0; i < types.size(); ++i)
        values.push_back({types.size() == 1 ? name : name + "#" + std::to_string(i), types[i].dtype,
                          types[i].shape});
    return values;
}

Value Writer::named(const Value& x, std::string_view name) {
    if (name.empty() || open().lines.empty()) return x;
    std::string& last = open().lines.back();
    const size_t start = last.find_first_not_of(' ');
    const std::string head = x.name + " = ";
    if (start == std::string::npos || last.compare(start, head.size(), head) != 0) return x;
    Value result = x;
    result.name = unique(name);
    last.replace(start, x.name.size(), result.name);
    open().reshaped.erase(x.name);  // the number is given again
    --open().next;
    return result;
}

// ----- functions

Values Writer::begin_function(std::string_view name, const std::vector<Parameter>& parameters,
                              bool is_public) {
    std::string own = identifier(name);
    const std::string wanted = own;
    for (int k = 1; !function_names_.insert(own).second; ++k)
        own = wanted + "_" + std::to_string(k);
    open_.emplace_back();
    open().name = own;
    Values values;
    std::vector<std::string> texts;
    for (const Parameter& parameter : parameters) {
        values.push_back({unique(parameter.name), parameter.type.dtype, parameter.type.shape});
        texts.push_back(values.back().name + ": " + type_text(parameter.type));
    }
    open().is_public = is_public;
    open().heading = "(" + join(texts) + ")";
    return values;
}

Writer::Function Writer::end_function(const Values& values) {
    line("return " + names_text(values) + " : " + type_texts(types_of(values)) + location());
    std::string text = open().heading + " -> " + results_text(types_of(values)) + " {\n";
    std::set<std::string> read;
    const std::vector<std::string> lines = without_unread(open().lines, read);
    for (const std::string& each : without_unread(open().constants, read)) text += each + "\n";
    for (const std::string& each : lines) text += each + "\n";
    text += "  }" + location() + "\n";
    Function function{open().name, types_of(values)};
    const bool is_public = open().is_public;
    open_.pop_back();
    const auto [same, is_new] = written_.emplace(text, function.name);
    if (is_new || is_public)
        done_.push_back(std::string("  func.func ") + (is_public ? "public" : "private") + " @" +
                        function.name + text);
    else  // the name is given again
        function_names_.erase(function.name), function.name = same->second;
    return function;
}

Values Writer::call(const Function& function, const Values& arguments) {
    return results("func.call @" + function.name + "(" + names_text(arguments) + ") : (" +
                       type_texts(types_of(arguments)) + ") -> " + results_text(function.results),
                   function.results);
}

Values Writer::composite(std::string_view name, std::string_view attributes,
                         const Function& function, const Values& arguments) {
    std::string own;
    if (!attributes.empty()) own = "composite_attributes = {" + std::string(attributes) + "}, ";
    return results("stablehlo.composite \"composit." + std::string(name) + "\" " +
                       names_text(arguments) + " {" + own + "decomposition = @" + function.name +
                       "} : (" + type_texts(types_of(arguments)) + ") -> " +
                       results_text(function.results),
                   function.results);
}

const Writer::Function* Writer::find(const std::string& key) const {
    const auto found = kept_.find(key);
    return found == kept_.end() ? nullptr : &found->second;
}

void Writer::keep(const std::string& key, Function function) {
    kept_.emplace(key, std::move(function));
}

std::string Writer::text() const {
    std::string text = "module @" + module_ + " {\n";
    // The last one is whose text was begun first.
    for (auto each = done_.rbegin(); each != done_.rend(); ++each) text += *each;
    return text + "}\n";
}

// ----- operations

Value Writer::add(std::string_view text, const ValueType& result) {
    return results("stablehlo." + std::string(text) + " : " + type_text(result), {result})[0];
}

Value Writer::apply(std::string_view operation, const Values& operands, std::string_view attributes,
                    const ValueType& result) {
    std::string text = "stablehlo." + std::string(operation) + " " + names_text(operands);
    if (!attributes.empty()) text += std::string(attributes);
    text += " : (" + type_texts(types_of(operands)) + ") -> " + type_text(result);
    return results(text, {result})[0];
}

Value Writer::apply_generic(std::string_view operation, const Values& operands,
                            std::string_view attributes, const ValueType& result) {
    return results("\"stablehlo." + std::string(operation) + "\"(" + names_text(operands) + ") <{" +
                       std::string(attributes) + "}> : (" + type_texts(types_of(operands)) +
                       ") -> " + type_text(result),
                   {result})[0];
}

Value Writer::convolution(std::string_view text, const Values& operands, const ValueType& result) {
    return results("stablehlo." + std::string(text) + " : (" + type_texts(types_of(operands)) +
                       ") -> " + type_text(result),
                   {result})[0];
}

Value Writer::unary(std::string_view operation, const Value& x) {
    return add(std::string(operation) + " " + x.name, x.type());
}

Value Writer::chlo(std::string_view operation, const Value& x) {
    return results("chlo." + std::string(operation) + " " + x.name + " : " + type_text(x.type()) +
                       " -> " + type_text(x.type()),
                   {x.type()})[0];
}

Value Writer::binary(std::string_view operation, const Value& a, const Value& b) {
    internal_check(a.type() == b.type(), operation, ": ", type_text(a.type()), " and ",
                   type_text(b.type()));
    return add(std::string(operation) + " " + a.name + ", " + b.name, a.type());
}

Value Writer::compare(std::string_view direction, const Value& a, const Value& b) {
    internal_check(a.type() == b.type(), "compare: ", type_text(a.type()), " and ",
                   type_text(b.type()));
    const char* const kind = ir::is_inexact(a.dtype)          ? "FLOAT"
                             : ir::is_signed_integer(a.dtype) ? "SIGNED"
                                                              : "UNSIGNED";
    const ValueType type{DType::boolean, a.shape};
    return results("stablehlo.compare " + std::string(direction) + ", " + a.name + ", " + b.name +
                       ", " + kind + " : (" + type_texts({a.type(), b.type()}) + ") -> " +
                       type_text(type),
                   {type})[0];
}

Value Writer::select(const Value& condition, const Value& chosen, const Value& other) {
    internal_check(chosen.type() == other.type(), "select: ", type_text(chosen.type()), " and ",
                   type_text(other.type()));
    return results("stablehlo.select " + names_text({condition, chosen, other}) + " : " +
                       type_texts({condition.type(), chosen.type()}),
                   {chosen.type()})[0];
}

// ----- elements moved or converted

Value Writer::convert(const Value& x, DType dtype) {
    if (x.dtype == dtype) return x;
    if (const auto constant = changed(x, dtype, x.shape)) return *constant;
    if (dtype == DType::boolean) return compare("NE", x, number(x.type(), 0));
    if (ir::is_complex(x.dtype) && !ir::is_complex(dtype)) return convert(real(x), dtype);
    return apply("convert", {x}, "", {dtype, x.shape});
}

Value Writer::bitcast(const Value& x, DType dtype) {
    if (x.dtype == dtype) return x;
    return apply("bitcast_convert", {x}, "", {dtype, x.shape});
}

Value Writer::reshape(const Value& x, const Shape& shape) {
    if (x.shape == shape) return x;
    if (const auto constant = changed(x, x.dtype, shape)) return *constant;
    const auto before = open().reshaped.find(x.name);
    const Value from = before == open().reshaped.end() ? x : before->second;
    if (from.shape == shape) return from;
    const Value made = apply("reshape", {from}, "", {x.dtype, shape});
    open().reshaped.emplace(made.name, from);
    return made;
}

Value Writer::transpose(const Value& x, const Axes& axes) {
    if (std::is_sorted(axes.begin(), axes.end())) return x;
    Shape shape;
    for (const int64_t axis : axes) shape.push_back(x.shape[static_cast<size_t>(axis)]);
    return apply("transpose", {x}, ", dims = " + list_text(axes), {x.dtype, shape});
}

Value Writer::broadcast(const Value& x, const Shape& shape) {
    if (x.shape == shape) return x;
    if (const auto constant = changed(x, x.dtype, shape)) return *constant;
    // Axes of length 1 stay those, or are dropped.
    const size_t more = shape.size() - x.shape.size();
    Axes axes;
    Shape kept;
    for (size_t d = 0; d < x.shape.size(); ++d) {
        if (x.shape[d] == 1 && shape[d + more] != 1) continue;
        kept.push_back(x.shape[d]);
        axes.push_back(static_cast<int64_t>(d + more));
    }
    return apply("broadcast_in_dim", {reshape(x, kept)}, ", dims = " + list_text(axes),
                 {x.dtype, shape});
}

Value Writer::slice(const Value& x, const Axes& starts, const Axes& lengths, const Axes& steps) {
    Axes turned;
    std::vector<std::string> parts;
    bool is_whole = true;
    for (size_t d = 0; d < x.shape.size(); ++d) {
        const int64_t n = lengths[d], step = n <= 1 ? 1 : steps[d];
        if (step < 0) turned.push_back(static_cast<int64_t>(d));
        const int64_t first = n == 0 ? 0 : step < 0 ? starts[d] + (n - 1) * step : starts[d];
        const int64_t stride = std::abs(step), end = n == 0 ? 0 : first + (n - 1) * stride + 1;
        is_whole = is_whole && first == 0 && stride == 1 && end == x.shape[d];
        std::string part = std::to_string(first) + ":" + std::to_string(end);
        if (stride != 1) part += ":" + std::to_string(stride);
        parts.push_back(part);
    }
    const Value cut =
        is_whole ? x : apply("slice", {x}, " [" + join(parts) + "]", {x.dtype, lengths});
    return reverse(cut, turned);
}

Value Writer::reverse(const Value& x, const Axes& axes) {
    if (axes.empty()) return x;
    return add("reverse " + x.name + ", dims = " + list_text(axes), x.type());
}

Value Writer::concatenate(const Values& parts, int64_t axis) {
    if (parts.size() == 1) return parts[0];
    Shape shape = parts[0].shape;
    int64_t& length = shape[static_cast<size_t>(axis)];
    length = 0;
    for (const Value& part : parts) length += part.shape[static_cast<size_t>(axis)];
    return apply("concatenate", parts, ", dim = " + std::to_string(axis), {parts[0].dtype, shape});
}

Value Writer::pad(const Value& x, const Value& filler, const Axes& low, const Axes& high,
                  const Axes& interior) {
    Shape shape;
    for (size_t d = 0; d < x.shape.size(); ++d)
        shape.push_back(x.shape[d] + std::max<int64_t>(0, x.shape[d] - 1) * interior[d] + low[d] +
                        high[d]);
    if (shape == x.shape && std::all_of(low.begin(), low.end(), [](int64_t n) { return n == 0; }))
        return x;
    return apply("pad", {x, filler},
                 ", low = " + list_text(low) + ", high = " + list_text(high) +
                     ", interior = " + list_text(interior),
                 {x.dtype, shape});
}

Value Writer::iota(DType dtype, const Shape& shape, int64_t axis) {
    return add("iota dim = " + std::to_string(axis), {dtype, shape});
}

Value Writer::complex(const Value& re, const Value& im) {
    const DType dtype = re.dtype == DType::float32 ? DType::complex64 : DType::complex128;
    return add("complex " + re.name + ", " + im.name, {dtype, re.shape});
}

Value Writer::real(const Value& x) {
    if (!ir::is_complex(x.dtype)) return x;
    return apply("real", {x}, "", {ir::real_part_of(x.dtype), x.shape});
}

Value Writer::imag(const Value& x) {
    return apply("imag", {x}, "", {ir::real_part_of(x.dtype), x.shape});
}

// ----- operations with bodies

Values Writer::with_block(std::string_view operation, const Values& operands,
                          std::string_view attributes, const std::vector<ValueType>& parameters,
                          const Block& block, const std::vector<ValueType>& types) {
    const std::string name = fresh();
    std::string head = name;
    if (types.size() > 1) head += ":" + std::to_string(types.size());
    line(head + " = \"stablehlo." + std::string(operation) + "\"(" + names_text(operands) + ") <{" +
         std::string(attributes) + "}> ({");
    Values arguments;
    std::vector<std::string> texts;
    for (const ValueType& type : parameters) {
        arguments.push_back({fresh(), type.dtype, type.shape});
        texts.push_back(arguments.back().name + ": " + type_text(type));
    }
    line("^bb0(" + join(texts) + "):");
    ++open().depth;
    const Values made = block(arguments);
    line("stablehlo.return " + names_text(made) + " : " + type_texts(types_of(made)));
    --open().depth;
    line("}) : (" + type_texts(types_of(operands)) + ") -> " + results_text(types) + location());
    Values values;
    for (size_t i = 0; i < types.size(); ++i)
        values.push_back({types.size() == 1 ? name : name + "#" + std::to_string(i), types[i].dtype,
                          types[i].shape});
    return values;
}

Value Writer::reduce(std::string_view operation, const Value& x, const Value& initial,
                     const Axes& axes) {
    Shape shape;
    for (int64_t d = 0; d < x.rank(); ++d)
        if (std::find(axes.begin(), axes.end(), d) == axes.end())
            shape.push_back(x.shape[static_cast<size_t>(d)]);
    const ValueType type{x.dtype, shape};
    return results("stablehlo.reduce(" + x.name + " init: " + initial.name +
                       ") applies stablehlo." + std::string(operation) +
                       " across dimensions = " + list_text(axes) + " : (" +
                       type_texts({x.type(), initial.type()}) + ") -> " + type_text(type),
                   {type})[0];
}

Values Writer::loop(const Values& initial, const Block& condition, const Block& body) {
    const std::string name = fresh();
    std::string head = name;
    if (initial.size() > 1) head += ":" + std::to_string(initial.size());
    Values state, after;
    std::vector<std::string> bindings;
    for (size_t i = 0; i < initial.size(); ++i) {
        const Value& x = initial[i];
        state.push_back({fresh(), x.dtype, x.shape});
        state.back().name = "%state_" + state.back().name.substr(1);
        bindings.push_back(state.back().name + " = " + x.name);
        after.push_back(
            {initial.size() == 1 ? name : name + "#" + std::to_string(i), x.dtype, x.shape});
    }
    line(head + " = stablehlo.while(" + join(bindings) + ") : " + type_texts(types_of(initial)) +
         location());
    const auto block = [&](const char* opening, const Block& inner) {
        line(opening);
        ++open().depth;
        const Values made = inner(state);
        line("stablehlo.return " + names_text(made) + " : " + type_texts(types_of(made)));
        --open().depth;
    };
    block("cond {", condition);
    block("} do {", body);
    line("}");
    return after;
}

// ----- constants

Value Writer::kept_constant(const std::string& literal, const ValueType& type,
                            std::string_view name, const ir::Array* element) {
    const std::string text = "stablehlo.constant " + literal + " : " + type_text(type);
    const auto found = open().known_constants.find(text);
    if (found != open().known_constants.end()) return found->second;
    const Value made{unique(name.empty() ? "c" : name), type.dtype, type.shape};
    open().constants.push_back("    " + made.name + " = " + text + location());
    open().known_constants.emplace(text, made);
    if (element != nullptr) open().elements.emplace(made.name, *element);
    return made;
}

std::optional<Value> Writer::changed(const Value& x, DType dtype, const Shape& shape) {
    const auto found = open().elements.find(x.name);
    if (found == open().elements.end()) return {};
    const ir::Array& element = found->second;
    if (dtype == element.dtype()) return splat(element, shape);
    if (ir::is_complex(dtype) || ir::is_complex(element.dtype())) return {};
    const double value = number_of(element);
    constexpr double most = 9007199254740992;  // of the integers that double has
    const bool is_whole = value == std::floor(value) && std::abs(value) < most;
    if (!ir::is_floating(element.dtype()) && !is_whole) return {};
    // What an integer dtype makes of another number is the reader's business.
    if (!ir::is_floating(dtype) && !(is_whole && value >= 0 && value <= 127)) return {};
    return number({dtype, shape}, value);
}

Value Writer::constant(const ir::Array& value, std::string_view name) {
    return kept_constant(literal_text(value), {value.dtype(), value.shape()}, name,
                         value.shape().empty() ? &value : nullptr);
}

Value Writer::splat(const ir::Array& one, const Shape& shape) {
    const bool is_empty = ir::element_count(shape) == 0;
    return kept_constant(is_empty ? "dense<>" : literal_text(one), {one.dtype(), shape}, {}, &one);
}

Value Writer::number(DType dtype, double value) { return number({dtype, {}}, value); }

Value Writer::number(const ValueType& type, double value) {
    return splat(ir::Array::scalar(type.dtype, value), type.shape);
}

}  // namespace composit::mlir

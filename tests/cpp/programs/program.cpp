// Statements and expressions of programs.
#include "program.h"

#include "composit/eager/history.h"
#include "composit/eager/operators.h"
#include "composit/nn/optimizers.h"
#include "composit/numpy/functions.h"
#include "composit/numpy/reductions.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace composit::tests {

using eager::Variable;
using ir::Array;
using ir::DType;
using ir::Tensor;
using numpy::Slice;

namespace {

int64_t whole(const std::string& text) { return std::stoll(text); }

ir::Shape shape_of(const std::string& text) {
    ir::Shape shape;
    for (const std::string& length : split(text, ',')) shape.push_back(whole(length));
    return shape;
}

Array array_of(DType dtype, const ir::Shape& shape, Words& words) {
    std::vector<double> values;
    while (words.has_more()) values.push_back(std::stod(words.next()));
    if (dtype == DType::float64) return Array::of<double>(dtype, shape, values);
    return Array::of<int64_t>(dtype, shape, std::vector<int64_t>(values.begin(), values.end()));
}

bool is_number(const std::string& text) {
    return text.find_first_of("0123456789") <= 1 &&
           text.find_first_not_of("-.0123456789") == std::string::npos;
}

// Numbers that differ by less are equal to comparisons and for indices: sums are rounded otherwise
// elsewhere.
constexpr double close = 1e-9;

bool compare(const std::string& comparison, double a, double b) {
    if (comparison == "<") return a + close < b;
    if (comparison == "<=") return a <= b + close;
    if (comparison == ">") return a > b + close;
    return a + close >= b;
}

Variable as_variable(const std::variant<double, Variable>& value) {
    if (const auto* number = std::get_if<double>(&value))
        return Variable(Array::scalar(DType::float64, *number));
    return std::get<Variable>(value);
}

// An operator of two variables, or of one and a number.
template <class Operator>
std::variant<double, Variable> apply_to(const std::variant<double, Variable>& a,
                                        const std::variant<double, Variable>& b,
                                        const Operator& op) {
    return std::visit(
        [&](const auto& x, const auto& y) -> std::variant<double, Variable> { return op(x, y); }, a,
        b);
}

// x / (x x + 1), which is exact to the last bit everywhere, and small.
template <class T>
T squash(const T& x) {
    return x / (x * x + 1.0);
}

}  // namespace

Fault fault_named(const std::string& name) {
    constexpr std::array<std::string_view, 9> names = {"none",
                                                       "views_copy",
                                                       "copies_share",
                                                       "swaps_keep_nothing",
                                                       "detached_have_gradients",
                                                       "results_are_bound",
                                                       "numbers_are_late",
                                                       "steps_forget",
                                                       "taken_change"};
    for (size_t i = 0; i < names.size(); ++i)
        if (names[i] == name) return static_cast<Fault>(i);
    fail("no fault is called '", name, "'");
}

std::string Program::run(const std::vector<Line>& lines) {
    const int64_t bound = eager::most_history_nodes();
    run_block(lines);
    if (eager::most_history_nodes() != bound) eager::set_most_history_nodes(bound);
    return std::move(printed_);
}

void Program::run_block(const std::vector<Line>& lines) {
    for (const Line& line : lines) run_line(line);
}

void Program::run_line(const Line& line) {
    try {
        run_statement(line);
        eager::shorten_history();
    } catch (const InternalError& error) {
        printed_ += text("InternalError: ", error.what(), '\n');
    } catch (const ValueError&) {
        printed_ += "ValueError\n";
    } catch (const IndexError&) {
        printed_ += "IndexError\n";
    } catch (const Error& error) {
        printed_ += text("Error: ", error.what(), '\n');
    }
}

void Program::run_statement(const Line& line) {
    const std::string& kind = line.words[0];
    Words words(line);
    const auto take = [&] { return words.next(); };
    if (kind == "array") {
        const std::string name = take(), dtype = take(), shape = take();
        bind(name, Variable(array_of(dtype == "int64" ? DType::int64 : DType::float64,
                                     shape_of(shape), words)));
    } else if (kind == "parameter") {
        const std::string name = take(), shape = take();
        bind(name, Variable::parameter(array_of(DType::float64, shape_of(shape), words)));
    } else if (kind == "let") {  // something new, whatever the expression is
        const std::string name = take();
        bind(name, variable_of(words).copied());
    } else if (kind == "view") {
        const std::string name = take();
        bind(name, named(take()));
    } else if (kind == "detach") {
        const std::string name = take();
        const Variable x = named(take());
        bind(name, fault_ == Fault::detached_have_gradients ? x : x.detached());
    } else if (kind == "copy") {
        const std::string name = take();
        const Variable x = named(take());
        bind(name, fault_ == Fault::copies_share ? x : x.copied());
    } else if (kind == "assign" || kind == "add" || kind == "subtract" || kind == "multiply") {
        write_in_place(kind, take(), words);
    } else if (kind == "swap") {
        const Variable a = named(take()), b = named(take());
        if (fault_ == Fault::swaps_keep_nothing) {
            a.assign(b);
            b.assign(a);
        } else {
            swap(a, b);
        }
    } else if (kind == "number") {
        const std::string name = take();
        const Value value = value_of(words);
        numbers_[name] = std::holds_alternative<double>(value) ? std::get<double>(value)
                                                               : std::get<Variable>(value).number();
        late_numbers_.erase(name);
        if (std::holds_alternative<Variable>(value))
            late_numbers_.emplace(name, std::get<Variable>(value));
    } else if (kind == "history") {
        eager::set_most_history_nodes(whole(take()));
    } else if (kind == "take") {
        const std::string name = take();
        const Variable x = variable_of(words);
        taken_.insert_or_assign(name, x.value());
        if (fault_ == Fault::taken_change) bind(name, x);
    } else if (kind == "index") {
        const std::string name = take();
        const auto length = static_cast<double>(whole(take()));
        const double rest = std::fmod(number_of(words) + close, length);
        integers_[name] = static_cast<int64_t>(rest < 0 ? rest + length : rest);
    } else if (kind == "print") {
        print(variable_of(words).value());
    } else if (kind == "backward") {
        variable_of(words).backward({}, true);  // more of it may follow
    } else if (kind == "forget") {
        named(take()).forget_gradient();
    } else if (kind == "step") {
        const std::string name = take();
        eager::update({named(name)}, nn::sgd_optimizer(std::stod(take())));
        if (fault_ == Fault::steps_forget) bind(name, Variable::parameter(named(name).value()));
    } else if (kind == "loop") {
        const std::string name = take();
        const int64_t count = whole(take());
        for (int64_t i = 0; i < count; ++i) {
            integers_[name] = i;
            run_block(line.block);
        }
    } else if (kind == "if") {
        if (holds(words)) run_block(line.block);
    } else if (kind == "while") {
        for (int64_t left = whole(take()); left > 0; --left) {
            Words condition(line);
            condition.next();
            if (!holds(condition)) break;
            run_block(line.block);
        }
    } else {
        fail<TypeError>("no statement is called '", kind, "'");
    }
}

void Program::write_in_place(const std::string& operation, const std::string& target,
                             Words& words) {
    const Variable to = named(target);
    const Value value = value_of(words);
    if (fault_ == Fault::results_are_bound && operation != "assign" &&
        target.find('[') == std::string::npos) {
        const Variable by = as_variable(value);
        const Variable result = operation == "add"        ? to + by
                                : operation == "subtract" ? to - by
                                                          : to * by;
        bind(target, Variable(Array::zeros(to.tensor().dtype(), to.tensor().shape())));
        return named(target).assign(result);
    }
    std::visit(
        [&](const auto& by) {
            if (operation == "assign") to.assign(by);
            if (operation == "add") to += by;
            if (operation == "subtract") to -= by;
            if (operation == "multiply") to *= by;
        },
        value);
}

// ----- Expressions

Program::Value Program::value_of(Words& words) {
    const std::string& word = words.next();
    if (is_number(word)) return std::stod(word);
    if (fault_ == Fault::numbers_are_late)
        if (const auto late = late_numbers_.find(word); late != late_numbers_.end())
            return late->second.number();
    if (const auto number = numbers_.find(word); number != numbers_.end()) return number->second;
    if (variables_.contains(word.substr(0, word.find('[')))) return named(word);
    if (const auto taken = taken_.find(word); taken != taken_.end()) return Variable(taken->second);
    return result_of(word, words);
}

Program::Value Program::result_of(const std::string& operation, Words& words) {
    const auto unary = [&](Tensor (*function)(const numpy::Operand&)) -> Value {
        return apply([&](const Tensor& x) { return function(x); }, variable_of(words));
    };
    if (operation == "grad") {
        const Variable x = named(words.next());
        const std::optional<Tensor> gradient = x.gradient();
        return gradient ? Variable(*gradient)
                        : Variable(Array::zeros(x.tensor().dtype(), x.tensor().shape()));
    }
    if (operation == "neg") return -variable_of(words);
    if (operation == "abs") return unary([](const numpy::Operand& x) { return numpy::abs(x); });
    if (operation == "tanh") return unary([](const numpy::Operand& x) { return numpy::tanh(x); });
    if (operation == "sum") return unary([](const numpy::Operand& x) { return numpy::sum(x); });
    const Value a = value_of(words);
    if (operation == "squash")
        return std::visit([](const auto& x) -> Value { return squash(x); }, a);
    const Value b = value_of(words);
    if (operation == "+") return apply_to(a, b, [](const auto& x, const auto& y) { return x + y; });
    if (operation == "-") return apply_to(a, b, [](const auto& x, const auto& y) { return x - y; });
    if (operation == "*") return apply_to(a, b, [](const auto& x, const auto& y) { return x * y; });
    const Variable x = as_variable(a), y = as_variable(b);
    if (operation == "<") return x + close < y;
    if (operation == "min")
        return apply([](const Tensor& x, const Tensor& y) { return numpy::minimum(x, y); }, x, y);
    if (operation == "max")
        return apply([](const Tensor& x, const Tensor& y) { return numpy::maximum(x, y); }, x, y);
    user_check<TypeError>(operation == "where", "no expression is called '", operation, "'");
    return apply(
        [](const Tensor& x, const Tensor& y, const Tensor& z) { return numpy::where(x, y, z); }, x,
        y, variable_of(words));
}

Variable Program::variable_of(Words& words) { return as_variable(value_of(words)); }

double Program::number_of(Words& words) {
    const Value value = value_of(words);
    if (const auto* number = std::get_if<double>(&value)) return *number;
    return std::get<Variable>(value).number();
}

bool Program::holds(Words& words) {
    const std::string comparison = words.next();
    const double a = number_of(words);
    return compare(comparison, a, number_of(words));
}

// ----- Names

Variable Program::named(const std::string& text) {
    const size_t bracket = text.find('[');
    const auto found = variables_.find(text.substr(0, bracket));
    user_check<TypeError>(found != variables_.end(), "no variable is called '", text, "'");
    if (bracket == std::string::npos) return found->second;
    const Variable part =
        found->second.at(index_of(text.substr(bracket + 1, text.size() - bracket - 2)));
    return fault_ == Fault::views_copy ? part.copied() : part;
}

numpy::Index Program::index_of(const std::string& text) {
    numpy::Index index;
    for (const std::string& entry : split(text, ',')) {
        if (entry == "None") {
            index.emplace_back(numpy::NewAxis{});
        } else if (entry == "...") {
            index.emplace_back(numpy::Ellipsis{});
        } else if (entry.find(':') != std::string::npos) {
            std::array<std::optional<int64_t>, 3> bounds;
            const std::vector<std::string> parts = split(entry, ':');
            for (size_t i = 0; i < parts.size(); ++i)
                if (!parts[i].empty()) bounds.at(i) = whole(parts[i]);
            index.emplace_back(Slice{bounds[0], bounds[1], bounds[2]});
        } else if (const auto integer = integers_.find(entry); integer != integers_.end()) {
            index.emplace_back(integer->second);
        } else {
            index.emplace_back(whole(entry));
        }
    }
    return index;
}

void Program::bind(const std::string& name, Variable variable) {
    variables_.insert_or_assign(name, std::move(variable));
}

void Program::print(const Array& array) {
    printed_ += text(array.dtype(), ' ');
    for (const int64_t length : array.shape()) printed_ += text(length, ',');
    for (int64_t i = 0; i < array.size(); ++i) {
        std::array<char, 32> number{};
        const double value = array.dtype() == DType::float64 ? array.data_as<double>()[i]
                             : array.dtype() == DType::int64
                                 ? static_cast<double>(array.data_as<int64_t>()[i])
                                 : array.data_as<bool>()[i];
        std::snprintf(number.data(), number.size(), " %.17g", value);
        printed_ += number.data();
    }
    printed_ += '\n';
}

}  // namespace composit::tests

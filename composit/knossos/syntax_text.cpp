// How Python writes trees: each operator has a precedence, and parentheses stand where it is too
// low.
#include "composit/knossos/syntax_text.h"

#include "composit/base/utf8.h"

#include <algorithm>

namespace composit::knossos {
namespace {

// From what binds least on.
enum Precedence : int {
    of_tuple,
    of_yield,
    of_test,
    of_or,
    of_and,
    of_not,
    of_comparison,
    of_bit_or,
    of_bit_xor,
    of_bit_and,
    of_shift,
    of_sum,
    of_product,
    of_sign,
    of_power,
    of_await,
    of_atom,
};

int precedence_of_operator(const std::string& symbol) {
    static const std::map<std::string, int> known{
        {"+", of_sum},     {"-", of_sum},     {"*", of_product},  {"@", of_product},
        {"/", of_product}, {"%", of_product}, {"//", of_product}, {"<<", of_shift},
        {">>", of_shift},  {"|", of_bit_or},  {"^", of_bit_xor},  {"&", of_bit_and},
        {"**", of_power},
    };
    return known.at(symbol);
}

class Writing {
  public:
    std::string text;

    // An expression, where what binds less than `around` needs parentheses.
    void expression(const Syntax& part, int around = of_test);
    void statement(const Syntax& part);

  private:
    void put(const std::string& more) { text += more; }
    void begin_line(const std::string& more = "") {
        if (!text.empty()) text += "\n";
        text += std::string(static_cast<size_t>(4 * indent_), ' ') + more;
    }
    void in_parentheses(bool are_needed, const auto& write) {
        if (are_needed) put("(");
        write();
        if (are_needed) put(")");
    }
    void separated(const std::vector<SyntaxRef>& parts, const std::string& separator = ", ") {
        for (size_t i = 0; i < parts.size(); ++i) {
            if (i > 0) put(separator);
            expression(*parts[i]);
        }
    }
    void items(const std::vector<SyntaxRef>& parts) {
        separated(parts);
        if (parts.size() == 1) put(",");
    }
    void optional(const SyntaxRef& part, const std::string& before = "") {
        if (!part) return;
        put(before);
        expression(*part);
    }
    void block(const std::vector<SyntaxRef>& body) {
        put(":");
        ++indent_;
        for (const SyntaxRef& each : body) statement(*each);
        --indent_;
    }
    void otherwise(const Syntax& part) {
        const auto body = part.all(Field::otherwise);
        if (body.empty()) return;
        begin_line("else");
        block(body);
    }

    void binary(const Syntax& part, int around);
    void comparison(const Syntax& part, int around);
    void both(const Syntax& part, int around);
    void call(const Syntax& part);
    void attribute(const Syntax& part);
    void subscript(const Syntax& part);
    void slice(const Syntax& part);
    void for_each(const Syntax& part);
    void parameter(const Syntax& part, const SyntaxRef& initial);
    void parameters(const Syntax& part);
    void function(const Syntax& part);
    void branch(const Syntax& part);
    void assignment(const Syntax& part);

    int indent_ = 0;
};

void Writing::binary(const Syntax& part, int around) {
    const int own = precedence_of_operator(part.name);
    const bool is_power = part.name == "**";
    in_parentheses(around > own, [&] {
        expression(*part.at(Field::left), is_power ? own + 1 : own);
        put(" " + part.name + " ");
        expression(*part.at(Field::right), is_power ? own : own + 1);
    });
}

void Writing::comparison(const Syntax& part, int around) {
    in_parentheses(around > of_comparison, [&] {
        expression(*part.at(Field::left), of_comparison + 1);
        const auto others = part.all(Field::right);
        for (size_t i = 0; i < others.size(); ++i) {
            put(" " + part.comparisons[i] + " ");
            expression(*others[i], of_comparison + 1);
        }
    });
}

void Writing::both(const Syntax& part, int around) {
    int own = part.name == "or" ? of_or : of_and;
    in_parentheses(around > own, [&] {
        const auto parts = part.all(Field::element);
        for (size_t i = 0; i < parts.size(); ++i) {
            if (i > 0) put(" " + part.name + " ");
            expression(*parts[i], std::min<int>(++own, of_atom));
        }
    });
}

void Writing::call(const Syntax& part) {
    expression(*part.at(Field::function), of_atom);
    put("(");
    auto given = part.all(Field::argument);
    const auto named = part.all(Field::keyword);
    given.insert(given.end(), named.begin(), named.end());
    separated(given);
    put(")");
}

void Writing::attribute(const Syntax& part) {
    const Syntax& holder = *part.at(Field::value);
    expression(holder, of_atom);
    // 3 .real, as 3.real is none
    const bool is_integer = holder.form == Form::constant &&
                            (holder.number.integer() || holder.number.as<Large>() != nullptr);
    put((is_integer ? " ." : ".") + part.name);
}

void Writing::subscript(const Syntax& part) {
    expression(*part.at(Field::value), of_atom);
    put("[");
    const Syntax& index = *part.at(Field::index);
    if (index.form == Form::tuple && !index.children.empty())
        items(index.all(Field::element));
    else
        expression(index);
    put("]");
}

void Writing::slice(const Syntax& part) {
    optional(part.at(Field::lower));
    put(":");
    optional(part.at(Field::upper));
    optional(part.at(Field::step), ":");
}

void Writing::for_each(const Syntax& part) {
    expression(*part.at(Field::element));
    for (const SyntaxRef& each : part.all(Field::generator)) {
        put(" for ");
        expression(*each->at(Field::target), of_tuple);
        put(" in ");
        expression(*each->at(Field::iterated), of_test + 1);
        for (const SyntaxRef& test : each->all(Field::test)) {
            put(" if ");
            expression(*test, of_test + 1);
        }
    }
}

void Writing::parameter(const Syntax& part, const SyntaxRef& initial) {
    put(part.name);
    optional(part.at(Field::annotation), ": ");
    optional(initial, "=");
}

void Writing::parameters(const Syntax& part) {
    const auto others = part.all(Field::other_parameter), initial = part.all(Field::initial);
    std::vector<SyntaxRef> all;  // by position
    for (const SyntaxRef& each : others)
        if (each->text == "/") all.push_back(each);
    const size_t last_by_position_only = all.size();
    for (const SyntaxRef& each : part.all(Field::parameter)) all.push_back(each);
    const size_t first = all.size() - std::min(all.size(), initial.size());
    for (size_t i = 0; i < all.size(); ++i) {
        if (i > 0) put(", ");
        parameter(*all[i], i >= first ? initial[i - first] : nullptr);
        if (i + 1 == last_by_position_only) put(", /");
    }
    bool is_first = all.empty(), has_star = false;
    for (const SyntaxRef& each : others) {
        if (each->text == "/") continue;
        put(is_first ? "" : ", ");
        const bool is_by_name = each->text == "=";
        if (is_by_name && !has_star) put("*, ");
        if (!is_by_name) put(each->text);
        parameter(*each, each->at(Field::initial));
        has_star = true;
        is_first = false;
    }
}

void Writing::expression(const Syntax& part, int around) {
    const auto parts = [&] { return part.all(Field::element); };
    switch (part.form) {
        case Form::name: return put(part.name);
        case Form::attribute: return attribute(part);
        case Form::subscript: return subscript(part);
        case Form::slice: return slice(part);
        case Form::tuple:
            return in_parentheses(around > of_tuple || part.children.empty(),
                                  [&] { items(parts()); });
        case Form::list:
            put("[");
            separated(parts());
            return put("]");
        case Form::starred: put("*"); return expression(*part.at(Field::value), of_bit_or);
        case Form::unary: {
            const int own = part.name == "not" ? of_not : of_sign;
            return in_parentheses(around > own, [&] {
                put(part.name == "not" ? "not " : part.name);
                expression(*part.at(Field::value), own);
            });
        }
        case Form::binary: return binary(part, around);
        case Form::both: return both(part, around);
        case Form::comparison: return comparison(part, around);
        case Form::choice:
            return in_parentheses(around > of_test, [&] {
                expression(*part.at(Field::body), of_test + 1);
                put(" if ");
                expression(*part.at(Field::test), of_test + 1);
                put(" else ");
                expression(*part.at(Field::otherwise));
            });
        case Form::call: return call(part);
        case Form::keyword:
            put(part.name.empty() ? "**" : part.name + "=");
            return expression(*part.at(Field::value));
        case Form::lambda:
            return in_parentheses(around > of_test, [&] {
                put("lambda");
                if (!part.at(Field::parameter) && !part.at(Field::other_parameter))
                    put(": ");
                else
                    put(" "), parameters(part), put(": ");
                expression(*part.at(Field::body));
            });
        case Form::list_of_each:
            put("[");
            for_each(part);
            return put("]");
        case Form::generator_of_each:
            put("(");
            for_each(part);
            return put(")");
        default: {  // constants, and what carries its text
            const bool is_bare = around <= of_yield && part.name.starts_with("Yield");
            return put(is_bare ? part.text.substr(1, part.text.size() - 2) : part.text);
        }
    }
}

void Writing::function(const Syntax& part) {
    if (!text.empty()) text += "\n";
    for (const SyntaxRef& each : part.all(Field::decorator)) {
        begin_line("@");
        expression(*each);
    }
    begin_line("def " + part.name + "(");
    parameters(part);
    put(")");
    optional(part.at(Field::result), " -> ");
    block(part.all(Field::body));
}

void Writing::branch(const Syntax& part) {
    const Syntax* here = &part;
    begin_line("if ");
    while (true) {
        expression(*here->at(Field::test));
        block(here->all(Field::body));
        const auto rest = here->all(Field::otherwise);
        if (rest.size() != 1 || rest[0]->form != Form::branch) return otherwise(*here);
        here = rest[0].get();
        begin_line("elif ");
    }
}

void Writing::assignment(const Syntax& part) {
    begin_line();
    for (const SyntaxRef& each : part.all(Field::target)) {
        expression(*each, of_tuple);
        put(" = ");
    }
    expression(*part.at(Field::value));
}

void Writing::statement(const Syntax& part) {
    switch (part.form) {
        case Form::function: return function(part);
        case Form::assign: return assignment(part);
        case Form::annotated:
            begin_line();
            expression(*part.at(Field::target));
            optional(part.at(Field::annotation), ": ");
            return optional(part.at(Field::value), " = ");
        case Form::augmented:
            begin_line();
            expression(*part.at(Field::target));
            put(" " + part.name + "= ");
            return expression(*part.at(Field::value));
        case Form::branch: return branch(part);
        case Form::loop:
            begin_line("for ");
            expression(*part.at(Field::target), of_tuple);
            put(" in ");
            expression(*part.at(Field::iterated));
            block(part.all(Field::body));
            return otherwise(part);
        case Form::repeat:
            begin_line("while ");
            expression(*part.at(Field::test));
            block(part.all(Field::body));
            return otherwise(part);
        case Form::leave: begin_line("return"); return optional(part.at(Field::value), " ");
        case Form::stop: return begin_line("break");
        case Form::go_on: return begin_line("continue");
        case Form::pass: return begin_line("pass");
        case Form::expression: begin_line(); return expression(*part.at(Field::value), of_yield);
        case Form::raise:
            begin_line("raise");
            optional(part.at(Field::error), " ");
            return optional(part.at(Field::cause), " from ");
        case Form::assertion:
            begin_line("assert ");
            expression(*part.at(Field::test));
            return optional(part.at(Field::message), ", ");
        default: return begin_line(part.text);
    }
}

}  // namespace

std::string written(const Syntax& part) {
    Writing writing;
    if (part.is_statement)
        writing.statement(part);
    else
        writing.expression(part);
    return std::move(writing.text);
}

std::string shown(const Syntax& part) {
    const std::string text = written(part);
    size_t characters = 0, end_of_37 = text.size(), at = 0;
    while (at < text.size()) {
        if (characters == 37) end_of_37 = at;
        const auto next = first_character(std::string_view(text).substr(at));
        at += next ? next->bytes : 1;
        ++characters;
    }
    return characters <= 40 ? text : text.substr(0, end_of_37) + "…";
}

std::string first_line_shown(const Syntax& statement) {
    const std::string text = shown(statement);
    return text.substr(0, text.find('\n'));
}

}  // namespace composit::knossos

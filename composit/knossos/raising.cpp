// Errors that kernels raise.
#include "composit/knossos/raising.h"

#include "composit/ir/procedure/interpret.h"
#include "composit/knossos/syntax_text.h"

#include <cmath>
#include <limits>

namespace composit::knossos {
namespace {

std::string with_braces_apart(std::string text) {
    for (size_t at = text.find("{}"); at != text.npos; at = text.find("{}", at + 3))
        text.replace(at, 2, "{ }");
    return text;
}

// str(constant)
// As str() writes it: an infinite number is "inf", and stands in the text as 1e309.
std::string text_of_constant(const Syntax& part) {
    if (part.is_text) return part.letters;
    const auto number = part.number.as<double>() ? part.number.number() : std::nullopt;
    return number && std::isinf(*number) ? "inf" : part.text;
}

Statement assertion_of(const Expr& condition, int line, const std::string& error, std::string text,
                       std::vector<Expr> values = {}) {
    Statement made;
    made.kind = Statement::Kind::expect;
    made.line = line;
    made.values = {condition};
    if (!text.empty())
        made.claim = std::make_shared<const ir::procedure::Claim>(ir::procedure::Claim{
            ir::procedure::claim_kind(error), std::move(text), std::move(values)});
    return made;
}

}  // namespace

void Raising::do_assertion(const SyntaxRef& statement) {
    const SyntaxRef& test = statement->at(Field::test);
    const Value holds = operators.truth(expressions.value(test));
    if (const Expr* condition = holds.expr()) {
        std::string text = "the assertion `" + shown(*test) + "` does not hold";
        if (const SyntaxRef& message = statement->at(Field::message))
            text += ": " + (message->form == Form::constant ? text_of_constant(*message)
                                                            : shown(*message));
        code.add(assertion_of(*condition, statement->line(), "AssertionError",
                              with_braces_apart(text) + "."));
    } else if (holds.is(0)) {
        scope.refuse(*statement, "`" + shown(*test) + "` never holds", "Leave it out.",
                     Refusal::Class::value);
    }
}

void Raising::do_raise(const SyntaxRef& statement) {
    const SyntaxRef& error = statement->at(Field::error);
    const bool is_call = error && error->form == Form::call;
    const auto arguments = is_call ? error->all(Field::argument) : std::vector<SyntaxRef>();
    const ObjectRef kind =
        error ? scope.meaning_or_none(is_call ? error->at(Field::function) : error) : nullptr;
    const std::string name = kind ? scope.outside.error_name(*kind) : "";
    const bool is_more = statement->at(Field::cause) || arguments.size() > 1 ||
                         (is_call && error->at(Field::keyword));
    if (name.empty() || is_more)
        scope.refuse(*statement, "`" + shown(*statement) + "` is not part of kernels",
                     "Write raise of one of ValueError, IndexError, AssertionError, TypeError, "
                     "ZeroDivisionError, OverflowError, RuntimeError, LinAlgError, with a text.");
    auto [text, values] = arguments.empty() ? std::pair(shown(*statement), std::vector<Expr>())
                                            : claim(*arguments[0]);
    const Expr never = operators.cast(false, Kind::boolean);
    code.add(assertion_of(never, statement->line(), name, std::move(text), std::move(values)));
    code.add(end());
    scope.defined.reset();
}

std::pair<std::string, std::vector<Expr>> Raising::claim(const Syntax& part) {
    if (part.form == Form::constant) return {with_braces_apart(text_of_constant(part)), {}};
    if (part.form != Form::joined_text) return {with_braces_apart(shown(part)), {}};
    std::string text;
    std::vector<Expr> values;
    for (const SyntaxRef& each : part.all(Field::element)) {
        if (each->form == Form::constant) {
            text += with_braces_apart(text_of_constant(*each));
            continue;
        }
        const SyntaxRef& inner = each->at(Field::value);
        const Value value = expressions.value(inner);
        if (kind(value) == Kind::integer && !each->at(Field::format)) {
            text += "{}";
            values.push_back(code.integer(value));
        } else {
            text += "(" + shown(*inner) + ")";
        }
    }
    return {std::move(text), std::move(values)};
}

Statement Raising::end() {
    const int call = stack.number();
    wanted.insert(call);
    std::vector<Expr> results;
    for (const DType dtype : found.returned[call])
        results.push_back(Expr::constant(
            dtype, ir::is_floating(dtype) ? std::numeric_limits<double>::quiet_NaN() : 0.0));
    return Statement::leave(std::move(results), 0);
}

void Raising::check(int call, const std::vector<DType>& dtypes) {
    if (!wanted.contains(call) || found.returned[call] == dtypes) return;
    found.returned[call] = dtypes;
    throw Restart();
}

}  // namespace composit::knossos

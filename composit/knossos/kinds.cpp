// Integers that may have to be floats.
#include "composit/knossos/kinds.h"

namespace composit::knossos {

bool Kinds::is_weak(const Value& value) const {
    const Expr* expression = value.expr();
    return expression && expression->op() == Op::argument &&
           weak.contains(code.variables[static_cast<size_t>(expression->index())].name);
}

Expr Kinds::fitted(const Syntax& part, const std::string& key, const Value& value, Kind wanted,
                   const std::string& what) {
    const std::string own = kind_of(value);
    const std::string elsewhere(name(wanted));
    if (own == elsewhere) return operators.cast(value, wanted);
    const bool is_declared = scope.declared_kinds && !scope.declared_kinds->empty();
    if (wanted == Kind::floating && own == "int") {
        const bool is_literal = value.is_number() || is_weak(value);
        if (is_literal || (is_declared && key.starts_with("return ")))
            return operators.cast(value, wanted);
    }
    const bool is_open = !found.floats.contains(key) && (weak.contains(key) || !is_declared);
    if (own == "float" && wanted == Kind::integer && is_open && !strong.contains(key)) {
        found.floats.insert(key);
        found.begin_again();
    }
    scope.refuse(
        part,
        what + " is " + with_article(own) + " here and " + with_article(elsewhere) + " elsewhere",
        wanted == Kind::boolean ? "One type is required."
                                : "One type is required: write " + elsewhere + "(…) here.",
        Refusal::Class::type);
}

Expr Kinds::value_of_variable(const std::string& name, const Value& value, const Syntax& part) {
    const std::string own = kind_of(value);
    const bool is_literal = own == "int" && (value.is_number() || is_weak(value));
    if (!code.has(name)) {
        const bool is_float = found.floats.contains(name);
        code.add_variable(name, is_float ? Kind::floating : kind_of_number(value));
        if (is_literal) weak.insert(name);
    }
    const Kind kind = *code.kind_named(name);
    if (own == "int" && !is_literal && kind == Kind::integer) {
        weak.erase(name);
        strong.insert(name);
    }
    return fitted(part, name, value, kind, name);
}

}  // namespace composit::knossos

// Python's expressions as values: which part translates which kind of them.
#pragma once

#include "composit/knossos/scope.h"

#include <functional>
#include <map>

namespace composit::knossos {

// `forms` are the functions of the other parts that translate expressions.
struct Expressions {
    using OfForm = std::function<Value(const SyntaxRef&)>;

    Code& code;
    Scope& scope;
    std::map<Form, OfForm> forms = {};

    // The value of an expression, whose statements are added to the code.
    Value value(const SyntaxRef& part);
    // The value of an expression, which may be a function from outside.
    Value value_or_function(const SyntaxRef& part);
    // Nothing where there is no expression.
    Value value_if_any(const SyntaxRef& part) { return part ? value(part) : Value(); }
};

}  // namespace composit::knossos

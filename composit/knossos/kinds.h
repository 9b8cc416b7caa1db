// The kinds of numbers of variables. One that is assigned integer literals in one place and floats
// in another is a float: what shows that begins the translation again.
#pragma once

#include "composit/knossos/scope.h"

#include <string>

namespace composit::knossos {

// Makes values those of variables and results.
struct Kinds {
    Code& code;
    Operators& operators;
    Scope& scope;
    Found& found;
    NameSet weak = {};  // ints that only literals were assigned to
    NameSet strong = {};

    // Whether an int expression is a variable that only literals were assigned to.
    bool is_weak(const Value& value) const;
    // The value as an expression of a kind; restarts where the kind should have been float. `key`
    // tells the variable or result from others, `what` is what errors call it.
    Expr fitted(const Syntax& part, const std::string& key, const Value& value, Kind kind,
                const std::string& what);
    // The value as the variable holds it, which is made where there is none yet.
    Expr value_of_variable(const std::string& name, const Value& value, const Syntax& part);
};

}  // namespace composit::knossos

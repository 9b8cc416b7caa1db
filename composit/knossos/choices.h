// Values of which some are not evaluated: and, or, conditional expressions.
#pragma once

#include "composit/knossos/expressions.h"
#include "composit/knossos/paths.h"

namespace composit::knossos {

// What needs statements is evaluated in a branch.
struct Choices {
    // One of several values, and the statements that it needs.
    struct Side {
        BlockRef statements;
        Value value;
    };

    Code& code;
    Operators& operators;
    Sharing& sharing;
    Expressions& expressions;
    Paths& paths;

    Value of_both(const SyntaxRef& part);
    Value of_choice(const SyntaxRef& part);

  private:
    Value truth(const SyntaxRef& part);
    Side side(const SyntaxRef& part);
    Value chosen(const Value& condition, const Side& a, const Side& b);
    // The same of values with arrays. `known`: variables below are known before it.
    Value of_paths(const Syntax& part, const Value& condition, const Side& a, const Side& b,
                   int known);
};

}  // namespace composit::knossos

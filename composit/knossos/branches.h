// The plain statements: `if`, `pass`, functions that are defined or called on a line of their own.
#pragma once

#include "composit/knossos/assignments.h"
#include "composit/knossos/names.h"
#include "composit/knossos/statements.h"

namespace composit::knossos {

// Joins what is known on the ways of an `if`.
struct Branches {
    ArrayFunctions& arrays;
    Scope& scope;
    CallStack& stack;
    Expressions& expressions;
    Names& names;
    Lists& lists;
    Statements& statements;
    Assignments& assignments;

    void do_branch(const SyntaxRef& statement);
    void do_expression(const SyntaxRef& statement);
    void do_function(const SyntaxRef& statement);

  private:
    // The statements of a side, within which is known what the condition says of counters.
    BlockRef side(const Syntax& statement, bool holds);
};

}  // namespace composit::knossos

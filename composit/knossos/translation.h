// The parts of a translator, each made once for one run over a text. A part needs those above it.
#pragma once

#include "composit/knossos/arithmetic.h"
#include "composit/knossos/branches.h"
#include "composit/knossos/calls.h"
#include "composit/knossos/choices.h"
#include "composit/knossos/comprehensions.h"
#include "composit/knossos/loops.h"
#include "composit/knossos/parameters.h"

namespace composit::knossos {

class Translation {
  public:
    Translation(const SourceRef& source, DType dtype, const Outside& outside,
                const KnownFunction& known, Found& found);
    Translation(const Translation&) = delete;
    Translation& operator=(const Translation&) = delete;

    Mentions mentions;
    // What is known along the way, and functions of arrays.
    ArrayFunctions arrays;
    Scope scope;
    Kinds kinds;
    Paths paths;
    CallStack stack;
    Parameters parameters;
    // Expressions.
    Expressions expressions;
    Lists lists;
    Names names;
    Arithmetic arithmetic;
    Choices choices;
    Subscripts subscripts;
    Targets targets;
    Sequences sequences;
    Comprehensions comprehensions;
    Arguments arguments;
    ArrayMethods methods;
    // Statements.
    Statements statements;
    ArrayVariables array_variables;
    ElementAssignments element_assignments;
    Assignments assignments;
    Branches branches;
    Loops loops;
    Raising raising;
    Returns returns;
    // Calls, which may become statements.
    Inlining inlining;
    Calls calls;

  private:
    void add_forms_of_expressions();
    void add_forms_of_statements();
};

}  // namespace composit::knossos

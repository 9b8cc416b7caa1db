// Names, literals, attributes, and functions that a kernel defines within.
#pragma once

#include "composit/knossos/array_functions.h"
#include "composit/knossos/lists.h"

namespace composit::knossos {

// Expressions that name what there is already.
struct Names {
    Scope& scope;
    Expressions& expressions;
    ArrayFunctions& arrays;
    Lists& lists;

    Value of_constant(const SyntaxRef& part);
    Value of_name(const SyntaxRef& part);
    Value of_attribute(const SyntaxRef& part);
    // A function that is defined where the translation stands.
    Value function_inside(const SyntaxRef& tree);
};

}  // namespace composit::knossos

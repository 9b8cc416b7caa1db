// Operators: of numbers, of arrays element by element, of tuples.
#pragma once

#include "composit/knossos/array_functions.h"
#include "composit/knossos/expressions.h"

#include <string>

namespace composit::knossos {

// The symbol of an operator in place, "+" of `+=`; Mismatch for a product of matrices.
const std::string& symbol_in_place(const Syntax& augmented);

// Binary and unary operators, and comparisons.
struct Arithmetic {
    ArrayFunctions& arrays;
    Expressions& expressions;

    Value of_binary(const SyntaxRef& part);
    Value of_unary(const SyntaxRef& part);
    Value of_comparison(const SyntaxRef& part);

  private:
    Value list_of(const Value& value, const Expr& count);
    // Whether a number is one of a tuple's.
    Value is_among(const Value& value, const Tuple& values, bool is_wanted);
};

}  // namespace composit::knossos

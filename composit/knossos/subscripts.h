// Tuples, lists, and what stands between brackets behind a value.
#pragma once

#include "composit/knossos/expressions.h"
#include "composit/knossos/slices.h"

#include <vector>

namespace composit::knossos {

// Makes tuples, and takes elements and slices.
struct Subscripts {
    Scope& scope;
    Expressions& expressions;
    Slices& slices;

    Value of_tuple(const SyntaxRef& part);
    Value of_list(const SyntaxRef& part);
    Value of_subscript(const SyntaxRef& part);
    // What stands between the brackets of an array.
    std::vector<Subscript> indices(const SyntaxRef& part);

  private:
    Value slice_of(const Syntax& slice, const Value& holder);
    Subscript subscript(const SyntaxRef& part);
    bool is_new_axis(const Syntax& part) const;
    Value index(const SyntaxRef& part);
};

}  // namespace composit::knossos

// Comprehensions: tuples of values that are known one by one, or arrays.
#pragma once

#include "composit/knossos/sequences.h"
#include "composit/knossos/targets.h"

namespace composit::knossos {

struct Comprehensions {
    ArrayFunctions& arrays;
    Scope& scope;
    Expressions& expressions;
    Targets& targets;
    Sequences& sequences;

    Value of_each(const SyntaxRef& part);

  private:
    Value of_items(const Syntax& part, const Syntax& generator, const Items& items);
    Value of_array(const SyntaxRef& part, const SyntaxRef& generator, const ArrayRef& items);
};

}  // namespace composit::knossos

// The arguments of calls: by position and by name, functions and dtypes among them.
#pragma once

#include "composit/knossos/expressions.h"
#include "composit/knossos/slices.h"

#include <string>
#include <vector>

namespace composit::knossos {

// What a call gives, as values.
struct Arguments {
    Scope& scope;
    Expressions& expressions;
    Slices& slices;

    std::vector<Value> by_position(const Syntax& call);
    Named by_name(const Syntax& call);
    // The kind of numbers that a dtype is of: float, "float64", np.float64, x.dtype.
    Kind kind_of_dtype(const SyntaxRef& part);
    // The arguments of a call in the order of the function's parameters.
    std::vector<Value> in_order(const Syntax& call, const Source& source,
                                std::vector<Value> arguments, const Named& named) const;
};

// ----- calls that mean the same as others

// `sum(e for v in x if c)` as `sum(e if c else 0 for v in x)`, for functions that have a value
// which changes no result; the call itself where there is none.
SyntaxRef with_neutral_elements(const SyntaxRef& call, const std::string& function);
// `sum(e for v in x for w in y if c)` as a function, without arguments, of loops within one another
// that adds in the same order, and so any and all; null for others, and for one loop.
SyntaxRef loops_of(const Syntax& call, const std::string& function);
// The call, whose dtype stands behind its name.
SyntaxRef with_dtype_by_name(const SyntaxRef& call, const std::string& function);
// `torch.zeros(n, m)` as `zeros((n, m))`.
SyntaxRef with_shape(const SyntaxRef& call);

}  // namespace composit::knossos

// Expressions as terms: whether two are the same, what they read, a base and a constant.
#pragma once

#include "composit/knossos/value.h"

#include <set>
#include <string>

namespace composit::knossos {

// Whether two extents are the same for certain.
bool same(const Value& a, const Value& b);
// The name of the last function that computes the expression; empty: none does.
std::string function_in(const Expr& value);
// The variables that an expression reads.
std::set<int> variables_of(const Expr& value);

// value = base + constant; an empty base is that of a number that is known.
struct Linear {
    Expr base;
    int64_t constant = 0;
};
Linear linear(const Value& value);

}  // namespace composit::knossos

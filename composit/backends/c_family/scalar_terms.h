// Operations of scalar expressions as terms of C++ or C.
#pragma once

#include "composit/backends/c_family/scalar_spelling.h"
#include "composit/ir/scalar/expr.h"

#include <cstdint>
#include <string>
#include <vector>

namespace composit::c_family {

// How tightly a term binds. Where C's precedence surprises or compilers warn, parentheses are
// written.
enum class Binding : uint8_t { choice, other, comparison, sum, product, prefix, atom };

struct Term {
    std::string text;
    Binding binding = Binding::atom;
    bool chooses = false;      // whether it has a choice or a call written out
    bool is_computed = false;  // of a bool: whether it comes out of no memory
    // Of an integer that wraps: before it becomes signed again.
    std::string unwrapped = {};
    Binding unwrapped_binding = Binding::atom;
};

// "name(a, b)"
Term function(const std::string& name, const std::vector<Term>& arguments);

// An operation of operands; `wraps`: whether a sum or product of integers may leave its type.
Term term_of_operation(const ir::scalar::Expr& expr, std::vector<Term> operands,
                       const ScalarSpelling& spelling, bool wraps = true);

}  // namespace composit::c_family

// What is known of integers before a procedure runs: how far apart two are, which are no negative
// ones.
#pragma once

#include "composit/ir/procedure/integer_sum.h"
#include "composit/ir/procedure/procedure.h"

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace composit::ir::procedure {

// Of the variables that a procedure has when the facts are made.
//   n = len(x): n + 1 and len(x) are 1 apart, and n is natural
class IntegerFacts {
  public:
    explicit IntegerFacts(const Procedure& procedure);

    // What variables are copies of that are assigned once: of parameters that never change.
    Expr resolved(const Expr& value) const;
    // a - b, if that is the same number in all runs.
    std::optional<int64_t> distance(const Expr& a, const Expr& b) const;
    // Whether a - b is no negative number whatever the arguments are.
    bool is_at_least(const Expr& a, const Expr& b) const;

    // Whether it is made of parameters that never change, and constants.
    bool is_fixed(const Expr& value) const;

  private:
    IntegerSum difference(const Expr& a, const Expr& b) const;

    std::vector<Expr> by_;
    std::set<int> extents_;  // of inputs
    std::set<int> fixed_;    // parameters
};

}  // namespace composit::ir::procedure

// What is known of the extents of arrays before a procedure runs.
#pragma once

#include "composit/backends/c_family/procedure_variables.h"
#include "composit/ir/procedure/procedure.h"

#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace composit::c_family {

// Integers that are negative for no arguments: extents of inputs, and what is made of them.
class Naturals {
  public:
    // `known`: parameters that are natural, beside extents.
    explicit Naturals(const ir::procedure::Procedure& procedure, std::set<int> known = {});
    bool contains(const ir::scalar::Expr& value) const;

  private:
    std::set<int> extents_;
    std::map<int, std::vector<ir::scalar::Expr>> values_;  // that variables are assigned
    mutable std::set<int> asked_;
};

// Whether an array is as large for all parameters, and small enough for the stack.
bool has_fixed_size(const ir::procedure::ArrayVariable& array);

// Local arrays of loops whose extents are known at the start, and not negative, live as long as the
// function: memory is asked for once.
std::set<size_t> hoisted_arrays(const ir::procedure::Procedure& procedure, const Homes& homes,
                                const Naturals& naturals);

}  // namespace composit::c_family

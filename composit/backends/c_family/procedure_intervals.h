// Between which numbers a procedure's integers lie, so that their sums need not wrap.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <cstdint>
#include <map>
#include <optional>

namespace composit::c_family {

struct Interval {
    int64_t low = 0, high = 0;
    int other = -1;    // a variable of int64, if any,
    int64_t more = 0;  // that it is at most so much more than
};

// What is known of variables of int64: extents of inputs, counters of loops where these read them,
// what goes on by one, and what is computed of them, once.
std::map<int, Interval> intervals_of(const ir::procedure::Procedure& procedure);

// The values of an expression of int64; nothing where they, or those of a sum or product within,
// may leave int64.
std::optional<Interval> interval_of(const ir::scalar::Expr& value,
                                    const std::map<int, Interval>& known);

}  // namespace composit::c_family

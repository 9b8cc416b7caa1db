// Which loops of functions of numbers ask, now and then, if they are to end, and how.
#pragma once

#include "composit/ir/scalar/expr.h"

#include <cstdint>
#include <vector>

namespace composit::c_family {

// `throwing`: by ::composit_stop_if_asked(), which may throw. `ending`: by loop_goes_on
// (prelude/loops.h), after which the results are of no use.
enum class LoopQuestion : uint8_t { none, throwing, ending };

// After how many steps a loop asks: this takes no time, but never seconds.
int64_t steps_between_questions(const ir::scalar::Loop& loop);
// Whether it may take as many steps.
bool may_take_long(const ir::scalar::Loop& loop);
// Whether the values, or functions that they call, have such a loop.
bool has_long_loop(const std::vector<ir::scalar::Expr>& values);

}  // namespace composit::c_family

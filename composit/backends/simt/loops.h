// Kernels for devices whose threads are loops (Dialect::threads_are_loops): a group is one thread,
// which goes through its share of the work in plain loops.
#pragma once

#include "composit/backends/simt/kernel_text.h"

#include <functional>
#include <string>
#include <vector>

namespace composit::simt {

// Elements that a thread goes through: enough for a launch of it to cost little.
inline constexpr int64_t elements_of_thread = 16384;

// The share of a thread of loops over `count`, `at_a_time` of them: opens a loop over it, or
// declares the one index, and returns the index. `close_share` ends it.
std::string open_share(FunctionText& f, int64_t count, int64_t at_a_time, const std::string& wish);
void close_share(FunctionText& f, int64_t at_a_time);

// Loops over all of `extents` around what `body` adds, which is given the indices.
using Body = std::function<void(const std::vector<std::string>& indices)>;
void print_loops(FunctionText& f, const ir::kernel::Extents& extents, const std::string& letters,
                 const Body& body);

// A block of a row: its lanes, 32 of them, each with its elements from `begin` to `end`, combined
// by halving. Returns the state of the result. `length`: how many elements, or -1 where that is
// known only when it runs. `add` adds the element of a number to a state.
using AddElement = std::function<void(const Combining::State& state, const std::string& element)>;
Combining::State print_lanes(FunctionText& f, const Combining& c, const std::string& begin,
                             const std::string& end, int64_t length, const AddElement& add);
// The same of `width` neighbouring columns at once, in arrays of 32 times `stride` elements. The
// result of a column is the state at its number.
using AddOfColumn = std::function<void(const Combining::State& state, const std::string& element,
                                       const std::string& column)>;
Combining::State print_lanes_of_columns(FunctionText& f, const Combining& c,
                                        const std::string& begin, const std::string& end,
                                        int64_t stride, const std::string& width,
                                        const AddOfColumn& add);

}  // namespace composit::simt

// Graphs as text that parses back (parse.h).
//
//   composit graph 1
//   body 0 "relu"(%0) {
//     %0 = input{dtype=float32, shape=[2]} : float32[2] "x"
//     %1 = constant{value=float32[]{0.0}} : float32[] "zero"
//     %2 = map(%0, %1){row=row("maximum")} : float32[2] at "layers.py:7"
//     return %2
//   }
//   %3 = input{dtype=float32, shape=[2]} : float32[2] "values"
//   %4 = call(%3){body=body(0)} : float32[2] "y" at "train.py:12"
//   return %4
//
// One node per line: number, operation, operands (%5.1 is the second output of a node with
// several), attributes, types, then the user's name and source line where there are any. Constants
// of at most 16 elements are written out, with the shortest text that reads back as the same bits;
// a larger one is data("<SHA-256 of its type and bytes>"), to be found in large_constants.
// A comment runs from # to the end of its line.
#pragma once

#include "composit/ir/node.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace composit::ir {

inline constexpr int text_version = 1;
inline constexpr int64_t most_inline_elements = 16;

// The whole graph. print(parse(print(g))) == print(g), names and source lines included.
std::string print(const std::vector<Tensor>& outputs);

// The lines of nodes number first <= i < last only, with comments that count what is left out.
std::string print(const std::vector<Tensor>& outputs, size_t first, size_t last);

// The arrays that print names by data(…), by that name.
std::map<std::string, Array> large_constants(const std::vector<Tensor>& outputs);

// One element: "true", "-3", "0.1", "nan", "(1.0, -2.0)", "bits(0x7fc00001)".
std::string element_text(DType dtype, const void* element);

// "text" with quotes, backslashes and control characters escaped.
std::string quoted(std::string_view text);

}  // namespace composit::ir

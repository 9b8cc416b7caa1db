// The lines of a printed function, and how a person would write them: declarations of one type that
// belong to one line of the source together, no braces around a single statement.
#pragma once

#include "composit/backends/c_family/taken_names.h"

#include <set>
#include <string>
#include <vector>

namespace composit::c_family {

struct PrintedLine {
    size_t indent = 0;  // how deep it stands
    std::string text;
    int source_line = 0;  // 0: the one of the line before
};

// The same statements in fewer lines:
//   const double a = x;  const double b = y;      to  const double a = x, b = y;
//   fill_zeros(x, n);  fill_zeros(y, m);          to  fill_zeros(x, n, y, m);
//   assert(i >= 0);  assert(i < n);               to  assert(i >= 0 && i < n);
//   const double a = x;  kept[i] = a;             to  const double a = kept[i] = x;
//   for (…) { y[i] += x; }                        to  for (…) y[i] += x;  on two lines, if they
//                                                     are of two lines of the source
//   x[0] = a;  x[1] = b;  x[2] = c;               to  set_elements(&x[0], {a, b, c});
// In derivatives, whose lines nobody wrote one by one, lines of the source tell nothing apart, and
// zeros are declared with earlier ones of the block, and constants that are read once stand where
// they are, but for the `names` that the function has, and for calls of functions that are
// `acting`: that change what they are given; parts of values get names, from `taken`, where lines
// become fewer. C has no set_elements.
std::vector<PrintedLine> gathered(std::vector<PrintedLine> lines, bool is_derived,
                                  bool is_c = false, const std::set<std::string>& names = {},
                                  const std::set<std::string>& acting = {},
                                  TakenNames* taken = nullptr);

// What stands in braces or parentheses, in as few lines as it fits.
std::string in_lines(const std::vector<std::string>& values, size_t indent);

// With marks of the source, "// train.py:12", where they change; `file` empty: without.
std::string printed(const std::vector<PrintedLine>& lines, const std::string& file);

}  // namespace composit::c_family

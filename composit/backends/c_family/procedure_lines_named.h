// Parts of values that printed lines have several times, by names.
#pragma once

#include "composit/backends/c_family/procedure_lines.h"
#include "composit/backends/c_family/taken_names.h"

#include <set>
#include <string>
#include <vector>

namespace composit::c_family {

// The same lines, in which a part of values that constants of one type give has a name where it
// takes fewer lines so; names come from `taken`.
//   const double a = …;  x += f(1.0 - a, …)…  to  const double a = …, t = 1.0 - a;  x += f(t, …)…
// Only text becomes shorter: compilers compute such a part once anyway.
std::vector<PrintedLine> with_parts_named(std::vector<PrintedLine> lines, TakenNames& taken);

// The same lines, in which the parts that have names for want of better ones, t, t_2, …, are
// numbered from 1 on: names of those that stand in place again are free. A t that is one of `names`
// stays.
std::vector<PrintedLine> with_low_numbers(std::vector<PrintedLine> lines,
                                          const std::set<std::string>& names);

}  // namespace composit::c_family

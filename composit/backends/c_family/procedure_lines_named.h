// Parts of values that printed lines have several times, by names.
#pragma once

#include "composit/backends/c_family/procedure_lines.h"
#include "composit/backends/c_family/taken_names.h"

#include <vector>

namespace composit::c_family {

// The same lines, in which a part of values that constants of one type give has a name where it
// takes fewer lines so; names come from `taken`.
//   const double a = …;  x += f(1.0 - a, …)…  to  const double a = …, t = 1.0 - a;  x += f(t, …)…
// Only text becomes shorter: compilers compute such a part once anyway.
std::vector<PrintedLine> with_parts_named(std::vector<PrintedLine> lines, TakenNames& taken);

}  // namespace composit::c_family

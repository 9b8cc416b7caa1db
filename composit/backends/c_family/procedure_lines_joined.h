// What a printed line alone needs of the one before it, in its place.
#pragma once

#include "composit/backends/c_family/procedure_lines.h"

#include <set>
#include <string>
#include <vector>

namespace composit::c_family {

// An index that one statement alone reads, once, where it needs fewer lines so:
//   const int64_t s = checked_index(i, n);  x[s] += 1.0;   to  x[checked_index(i, n)] += 1.0;
std::vector<PrintedLine> with_indices_in_place(std::vector<PrintedLine> lines, bool is_derived);

// A constant that one statement alone reads, once, where it takes no more lines so; none of the
// `names`, which are the function's own, and nothing past a call of a function that is `acting`:
//   const double a = x < y ? 0.0 : 1.0;  n += a;           to  n += x < y ? 0.0 : 1.0;
std::vector<PrintedLine> with_constants_in_place(std::vector<PrintedLine> lines,
                                                 const std::set<std::string>& names,
                                                 const std::set<std::string>& acting);

// What two rows receive of the gradient of their product:
//   add_multiple(dx, a, g, n);  add_multiple(da, x, g, n); to  dot_product_vjp(g, a, x, da, dx, n);
std::vector<PrintedLine> with_products_together(const std::vector<PrintedLine>& lines,
                                                bool is_derived);

// A value that is stored, then added; what is logged, then overwritten:
//   const double a = x[i] = b;  y += a;                    to  y += (x[i] = b);
//   x_log.push_back(x[i]);  x[i] = a;                      to  logged(x_log, x[i]) = a;
//   x_log.push_back(x[i]);  add_in_order(x[i], a);      to  add_in_order(logged(x_log, x[i]), a);
//   x_log_row[j] = x[i];  x[i] = a;                        to  logged(x_log_row[j], x[i]) = a;
// Lines that belong to several lines of the source stay apart, but in derivatives.
std::vector<PrintedLine> with_values_in_place(std::vector<PrintedLine> lines, bool is_derived,
                                              bool is_c);

}  // namespace composit::c_family

// Loops that take from the end of a log until it is empty.
#pragma once

#include "composit/backends/c_family/procedure_lines.h"

#include <vector>

namespace composit::c_family {

// Where each iteration of a loop logs something, once, nobody needs to count them:
//   while (…) { trips += 1; …; x_log.push_back(x); … }
//   for (int64_t trip = trips - 1; trip >= 0; --trip) { … take_last(x_log) … }   to
//   while (…) { …; x_log.push_back(x); … }
//   while (!x_log.empty()) { … take_last(x_log) … }
// Before declarations and statements are joined.
std::vector<PrintedLine> without_counted_logs(std::vector<PrintedLine> lines);

}  // namespace composit::c_family

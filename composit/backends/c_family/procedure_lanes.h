// Functions of numbers with loops, over arrays: several elements at a time, as lanes of vectors.
#pragma once

#include "composit/backends/c_family/taken_names.h"
#include "composit/ir/procedure/procedure.h"

#include <string>
#include <vector>

namespace composit::c_family {

// Of a function whose loops end for each element when they do: a loop over as many elements as
// there are lanes, whose inner loops run while any lane does. A lane that has ended keeps its
// values, so that the bits are those of a call for each element. "" where that would divide
// integers that the function does not, and where loops stand in one another.
//
//   for (; i + 16 <= count; i += 16) {
//       double x[16];  // of each lane
//       for (lane …) x[lane] = a[i + lane];
//       for (int64_t step = 0; step < limit; ++step) {
//           for (lane …) { const bool goes_on = …; x[lane] = goes_on ? … : x[lane]; … }
//           if (!any) break;
//       }
//       for (lane …) y[i + lane] = x[lane];
//   }
std::string print_lanes(const ir::procedure::Procedure& procedure,
                        const std::vector<std::string>& parameters,
                        const std::vector<std::string>& results, const std::string& element,
                        const std::string& count, TakenNames& taken);

}  // namespace composit::c_family

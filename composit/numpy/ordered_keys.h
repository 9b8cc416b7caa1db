// Values that are known, in their order: for functions that evaluate their operands now.
#pragma once

#include "composit/ir/array.h"

#include <cstdint>
#include <vector>

namespace composit::numpy {

// An integer for each value, in the values' order and equal where they are: 0 and -0 have one, and
// so have all NaN, which come last. Real dtypes and bool only.
struct OrderedKeys {
    std::vector<uint64_t> keys;   // in ascending order
    std::vector<int64_t> places;  // of these among the values; equals keep their order
    uint64_t not_a_number;        // the key of NaN; no key where the dtype has none
};
//   ordered_keys({2.0, 1.0}).places is {1, 0}
[[nodiscard]] OrderedKeys ordered_keys(const ir::Array& values);

}  // namespace composit::numpy

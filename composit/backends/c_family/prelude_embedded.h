// The table of prelude texts that the build generates.
#pragma once

#include <cstddef>
#include <string_view>

namespace composit::c_family {

struct EmbeddedPrelude {
    std::string_view name;      // "reduce.h"
    std::string_view includes;  // prelude headers it includes, separated by spaces
    std::string_view text;
};

extern const EmbeddedPrelude embedded_prelude[];  // sorted by name
extern const size_t embedded_prelude_count;

}  // namespace composit::c_family

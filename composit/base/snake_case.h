// Names of classes as names of functions.
#pragma once

#include <string>
#include <string_view>

namespace composit {

// "LinearSVC" as "linear_svc", "KMeans" as "k_means": an underscore before each capital that begins
// a word. ASCII letters count.
std::string snake_case(std::string_view name);

}  // namespace composit

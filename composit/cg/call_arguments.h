// What a function of cg is called with: values in order and by name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace composit::cg {

// For each of the inputs' names the place of its value: among `count` values in order, or behind
// these among the named ones. TypeError for a name that is no input's, or whose value stands in
// order, too; ValueError where inputs have no value. Surplus values in order are for nobody.
[[nodiscard]] std::vector<size_t> places_of_values(const std::string& function,
                                                   const std::vector<std::string>& inputs,
                                                   size_t count,
                                                   const std::vector<std::string>& named);

}  // namespace composit::cg

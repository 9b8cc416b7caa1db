// Padding with values that follow from what is there, or with a value for each side.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::numpy {

// Options of numpy.pad's modes. Pairs are (before, after), one for each axis, or one for all.
struct PadOptions {
    // What is added: constant_values of mode "constant", end_values of "linear_ramp"; empty: 0.
    std::vector<std::pair<Operand, Operand>> values = {};
    // Of how many elements at each edge "maximum", "mean", "median" and "minimum" are taken
    // (stat_length); empty: of all.
    std::vector<std::pair<int64_t, int64_t>> stat_lengths = {};
    // reflect_type="odd": "reflect" and "symmetric" turn what they mirror upside down.
    bool is_odd = false;
};

// numpy.pad in all of its modes but "empty", axis after axis, so that corners come from what was
// added along the axes before. One node. ValueError: unknown modes, negative widths or lengths, an
// empty axis that is to be extended from its elements, a stat_length of 0 for an extremum.
//
//   pad(x, {{1, 2}}, "linear_ramp", {.values = {{0, 9}}})
[[nodiscard]] Tensor pad(const Tensor& x, const std::vector<std::pair<int64_t, int64_t>>& widths,
                         std::string_view mode, const PadOptions& options);

}  // namespace composit::numpy

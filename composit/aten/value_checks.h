// What PyTorch's functions of networks refuse of values that are known, in its words:
// RuntimeErrors, if nothing else is said. Values are told by the least and the greatest; NaN where
// one is.
#pragma once

#include "composit/ir/dtype.h"

#include <cstdint>
#include <string_view>

namespace composit::aten {

// Values outside [0, 1], and NaN, of an operand of this name.
void check_probabilities(std::string_view name, double least, double greatest);
// Labels that are not among so many classes, of multi_margin_loss.
void check_margin_labels(double least, double greatest, int64_t classes);
// ValueError for a power of multi_margin_loss that is not 1 or 2.
void check_margin_power(double p);
// Classes of one_hot that are negative, or not below `count`, unless that is -1.
void check_class_values(double least, double greatest, int64_t count);
// What is wrong with them whatever their values are: another dtype than int64, none of them without
// a count, a count below -1.
void check_class_count(ir::DType dtype, int64_t elements, int64_t count);
// Lengths of ctc_loss, the longest ones, that are more than there are times, or elements of padded
// targets (batch, target_length); -1 where targets are not padded.
void check_ctc_lengths(int64_t longest_input, int64_t times, int64_t longest_target,
                       int64_t target_length = -1);

}  // namespace composit::aten

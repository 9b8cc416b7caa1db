// Refusals of values.
#include "composit/aten/value_checks.h"

#include "composit/base/error.h"

namespace composit::aten {

void check_probabilities(std::string_view name, double least, double greatest) {
    user_check<RuntimeError>(least >= 0 && greatest <= 1, "all elements of ", name,
                             " should be between 0 and 1");
}

void check_margin_labels(double least, double greatest, int64_t classes) {
    user_check<RuntimeError>(least >= 0 && greatest < static_cast<double>(classes),
                             "target out of range");
}

void check_margin_power(double p) {
    user_check(p == 1 || p == 2, "only p == 1 and p == 2 supported");
}

void check_class_values(double least, double greatest, int64_t count) {
    user_check<RuntimeError>(least >= 0, "Class values must be non-negative.");
    user_check<RuntimeError>(count == -1 || greatest < static_cast<double>(count),
                             "Class values must be smaller than num_classes.");
}

void check_class_count(ir::DType dtype, int64_t elements, int64_t count) {
    user_check<RuntimeError>(dtype == ir::DType::int64,
                             "one_hot is only applicable to index tensor of type LongTensor.");
    user_check<RuntimeError>(elements > 0 || count > 0,
                             "Can not infer total number of classes from empty tensor.");
    user_check<RuntimeError>(count >= -1, "Class values must be smaller than num_classes.");
}

void check_ctc_lengths(int64_t longest_input, int64_t times, int64_t longest_target,
                       int64_t target_length) {
    user_check<RuntimeError>(
        longest_input <= times, "Expected input_lengths to have value at most ", times,
        ", but got value ", longest_input, " (while checking arguments for ctc_loss)");
    user_check<RuntimeError>(target_length < 0 || longest_target <= target_length,
                             "Expected tensor to have size at least ", longest_target,
                             " at dimension 1, but got size ", target_length,
                             " for argument #2 'targets' (while checking arguments for ctc_loss)");
}

}  // namespace composit::aten

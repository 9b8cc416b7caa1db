// What PyTorch demands of a function's operands before it computes: tensors where it takes no
// numbers, one dtype where it promotes none, and dtypes that it has kernels for. composit promotes
// and computes more; scripts that PyTorch refuses are refused with its words.
#pragma once

#include "composit/ir/dtype.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace composit::aten {

// The dtype of an operand, by its place from 0 on and its name; none: it is no tensor, or not
// given.
using DTypeOfOperand = std::function<std::optional<ir::DType>(size_t place, std::string_view name)>;

// Checks that a function takes floats which PyTorch stores and converts, but does not compute with,
// if there are any. `is_scaled`: whether the second operand is one number. NotSupported.
void check_stored_floats(std::string_view function,
                         const std::vector<std::optional<ir::DType>>& operands, bool asks_for_dtype,
                         bool is_scaled);

// RuntimeError, in PyTorch's words, for a number that is too large for a dtype of short floats.
// Infinity is, where the dtype has none.
void check_fits(double number, ir::DType dtype);

// Checks the dtypes of the operands of a function of PyTorch's name ("conv2d", "scatter_add"): of
// `all` that are given in order, and by name. `asks_for_dtype`: whether the call says the result's
// dtype. RuntimeError: they differ where PyTorch promotes none. NotSupported: PyTorch has no kernel
// for them.
void check_operand_dtypes(std::string_view function,
                          const std::vector<std::optional<ir::DType>>& all,
                          const DTypeOfOperand& dtype_of, bool asks_for_dtype = false);

// Operands that must be tensors: the name of the first one of a function, and of the second one;
// empty where numbers may stand in their place. `is_method`: whether tensors have a method of that
// name.
struct TensorOperands {
    std::string_view first, second;
    bool takes_two_numbers = false;  // in place of both tensors
    bool takes_number_first = false;
};
[[nodiscard]] TensorOperands tensor_operands(std::string_view function, bool is_method);

}  // namespace composit::aten

// PyTorch's promotion of dtypes.
#include "composit/aten/dtypes.h"

#include "composit/base/error.h"
#include "composit/ir/dtype_traits.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/literal.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <complex>
#include <optional>

namespace composit::aten {
namespace {

std::atomic<DType> default_float{DType::float32};

// bool, integers, floats, complex numbers: what is higher decides.
int category(DType dtype) {
    if (dtype == DType::boolean) return 0;
    if (ir::is_integer(dtype)) return 1;
    return ir::is_complex(dtype) ? 3 : 2;
}

DType joined(std::optional<DType> first, DType second) {
    if (!first || *first == second) return second;
    for (const DType dtype : {*first, second})
        user_check<RuntimeError>(ir::traits(dtype).torch_use == ir::TorchUse::computed,
                                 "Promotion for Float8 Types is not supported, attempted to "
                                 "promote ",
                                 ir::scalar_type_name(*first), " and ",
                                 ir::scalar_type_name(second));
    const int a = category(*first), b = category(second);
    if (a != b && std::min(a, b) < 2) return a > b ? *first : second;
    return ir::promote(*first, second);
}

DType default_of(DType dtype) {
    if (!ir::is_inexact(dtype)) return dtype;
    if (!ir::is_complex(dtype)) return default_dtype();
    return default_dtype() == DType::float64 ? DType::complex128 : DType::complex64;
}

// Whether what is too large for the dtype becomes its greatest number.
bool has_greatest_only(DType dtype) {
    return ir::is_floating(dtype) && !ir::float_format(dtype).has_infinity;
}

std::vector<Tensor> in_dtype(const std::vector<Tensor>& operands, DType dtype) {
    std::vector<Tensor> made;
    bool is_any_tensor = false;
    for (const Tensor& x : operands) {
        made.push_back(cast(x, dtype));
        is_any_tensor = is_any_tensor || !x.type().weak;
    }
    if (!is_any_tensor && !made.empty()) made[0] = ops::astype(made[0], dtype);
    return made;
}

}  // namespace

DType default_dtype() { return default_float; }

void set_default_dtype(DType dtype) {
    user_check<TypeError>(ir::is_floating(dtype), "set_default_dtype: ", dtype,
                          " is given. A real floating dtype is required.");
    default_float = dtype;
}

DType result_dtype(const std::vector<Tensor>& operands) {
    // Of tensors with dimensions, of those without, of numbers.
    std::array<std::optional<DType>, 3> best;
    for (const Tensor& x : operands) {
        const bool is_number = x.type().weak;
        std::optional<DType>& level = best[is_number ? 2 : x.rank() == 0 ? 1 : 0];
        level = joined(level, is_number ? default_of(x.dtype()) : x.dtype());
    }
    std::optional<DType> result;
    for (const std::optional<DType>& dtype : best) {
        if (!dtype || (result && category(*dtype) <= category(*result))) continue;
        result = result == DType::float64 && ir::is_complex(*dtype) ? DType::complex128 : *dtype;
    }
    return result.value_or(default_dtype());
}

Tensor converted(const Tensor& x, DType dtype) {
    if (!has_greatest_only(dtype) || ir::holds_all(dtype, x.dtype())) return ops::astype(x, dtype);
    const double most = ir::float_format(dtype).greatest();
    // Of a complex number the real part is converted.
    const DType real = ir::traits(x.dtype()).real_part;
    const Tensor wide = ops::astype(x, ir::is_inexact(x.dtype()) ? real : DType::float32);
    return ops::astype(numpy::clip(wide, -most, most), dtype);
}

Tensor cast(const Operand& operand, DType dtype) {
    const Tensor& x = operand;
    if (!x.type().weak) return converted(x, dtype);
    if (ir::is_complex(x.dtype())) return x;
    const double value = *numpy::literal(x);
    if (ir::is_complex(dtype)) return ir::weak_scalar(std::complex<double>(value));
    if (ir::is_floating(dtype)) {
        const double most = ir::float_format(dtype).greatest();
        return ir::weak_scalar(has_greatest_only(dtype) ? std::clamp(value, -most, most) : value);
    }
    if (dtype == DType::boolean) return ir::weak_scalar(value != 0);
    return ir::is_integer(x.dtype()) ? x : ir::weak_scalar(static_cast<int64_t>(value));
}

std::vector<Tensor> together(const std::vector<Tensor>& operands) {
    return in_dtype(operands, result_dtype(operands));
}

std::vector<Tensor> together_as_floats(const std::vector<Tensor>& operands) {
    const DType dtype = result_dtype(operands);
    return in_dtype(operands, ir::is_inexact(dtype) ? dtype : default_dtype());
}

Tensor floating(const Tensor& x) {
    return ir::is_inexact(x.dtype()) ? x : ops::astype(x, default_dtype());
}

double epsilon_of(DType dtype) { return ir::float_format(dtype).epsilon(); }
double least_normal(DType dtype) { return ir::float_format(dtype).least_normal(); }
double lowest(DType dtype) { return -ir::float_format(dtype).greatest(); }

Tensor widened(const Tensor& x) {
    return x && ir::is_short_float(x.dtype()) ? ops::astype(x, DType::float32) : x;
}

}  // namespace composit::aten

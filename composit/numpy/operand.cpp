// Promotion of operands, and values that must be known while the graph is built.
#include "composit/numpy/operand.h"

#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/ops/ops.h"

#include <cmath>

namespace composit::numpy {
namespace {

// The dtype that a weak scalar takes beside strong ones (NEP 50).
DType strengthen(DType weak, DType strong) {
    if (ir::is_complex(weak))
        return ir::is_inexact(strong) ? ir::promote(strong, DType::complex64) : DType::complex128;
    if (ir::is_floating(weak)) return ir::is_inexact(strong) ? strong : DType::float64;
    if (ir::is_integer(weak)) return strong == DType::boolean ? DType::int64 : strong;
    return strong;
}

// A placeholder that x depends on, if there is one.
const ir::Node* placeholder_of(const Tensor& x) {
    if (!x.node().is_open()) return nullptr;
    for (const ir::Node* node : ir::topological_order({x}))
        if (ir::is_input(*node)) return node;
    return nullptr;
}

}  // namespace

Tensor strong(const Tensor& x) { return ops::astype(x, x.dtype()); }

DType result_type(const std::vector<Tensor>& operands) {
    bool any = false, any_strong = false;
    DType weak = DType::boolean, result = DType::boolean;
    for (const Tensor& x : operands) {
        DType& target = x.type().weak ? weak : result;
        if (!x.type().weak) {
            target = any_strong ? ir::promote(target, x.dtype()) : x.dtype();
            any_strong = true;
        } else {
            target = ir::promote(target, x.dtype());
        }
        any = true;
    }
    if (!any) return DType::float64;
    return any_strong ? strengthen(weak, result) : weak;
}

void check_integer_fits(std::string_view function, const Tensor& x, DType dtype) {
    if (!x.type().weak || x.dtype() != DType::int64 || !ir::is_integer(dtype)) return;
    const int64_t value = *ir::constant_value(x.node()).data_as<int64_t>();
    const int bits = 8 * ir::size_of(dtype);
    const bool fits = ir::is_unsigned_integer(dtype)
                          ? value >= 0 && (bits == 64 || value < (int64_t{1} << bits))
                          : bits == 64 || (value >= -(int64_t{1} << (bits - 1)) &&
                                           value < (int64_t{1} << (bits - 1)));
    user_check<OverflowError>(fits, function, ": Python integer ", value, " out of bounds for ",
                              dtype, ".");
}

void check_float_fits(std::string_view function, double value, DType dtype) {
    if (!ir::is_integer(dtype)) return;
    user_check(!std::isnan(value), function, ": cannot convert float NaN to integer.");
    user_check<OverflowError>(!std::isinf(value), function,
                              ": cannot convert float infinity to integer.");
    const double whole = std::trunc(value);
    const int bits = 8 * ir::size_of(dtype) - (ir::is_signed_integer(dtype) ? 1 : 0);
    const double end = std::ldexp(1.0, bits), first = ir::is_signed_integer(dtype) ? -end : 0;
    user_check<OverflowError>(whole >= first && whole < end, function, ": Python integer ", whole,
                              " out of bounds for ", dtype, ".");
}

std::vector<Tensor> promoted(const std::vector<Tensor>& operands, std::optional<DType> dtype) {
    const DType common = dtype ? *dtype : result_type(operands);
    std::vector<Tensor> result;
    for (const Tensor& x : operands) {
        check_integer_fits("promoted", x, common);
        result.push_back(ops::astype(x, common));
    }
    return result;
}

bool depends_on_placeholder(const Tensor& x) { return x.node().is_open(); }

Array concrete(std::string_view function, std::string_view what, const Tensor& x) {
    if (ir::is_constant(x.node())) return ir::constant_value(x.node());
    if (const ir::Node* placeholder = placeholder_of(x))
        fail<NotSupported>(
            function, ": the shape of the result depends on the values of ", what,
            ", which depend on the placeholder '", placeholder->name(),
            "'. Inside compile, grad, vmap and wrap_as_operation shapes must be known.");
    return execute::values_now({x})[0];
}

bool truth(std::string_view function, const Tensor& x, std::string_view instead) {
    if (const ir::Node* placeholder = placeholder_of(x))
        fail<NotSupported>(function, ": it needs the values of what depends on the placeholder '",
                           placeholder->name(),
                           "'. Inside compile, grad, vmap and wrap_as_operation use ", instead,
                           ".");
    return *execute::values_now({x})[0].data_as<bool>();
}

}  // namespace composit::numpy

// Conversions by rule.
#include "composit/numpy/casting.h"

#include "composit/base/errors_as.h"
#include "composit/numpy/variants.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <array>

namespace composit::numpy {
namespace {

// As NumPy shows dtypes.
std::string shown(DType dtype) { return text("dtype('", dtype, "')"); }

DType common_dtype(const std::vector<Tensor>& operands, std::optional<DType> dtype) {
    if (dtype) return *dtype;
    std::vector<Tensor> strong_ones;
    for (const Tensor& x : operands) strong_ones.push_back(strong(x));
    return result_type(strong_ones);
}

constexpr std::array<std::string_view, 5> rules = {"no", "equiv", "safe", "same_kind", "unsafe"};
constexpr std::string_view orders = "CFAKcfak";

}  // namespace

bool is_same_kind(std::string_view casting) {
    user_check(std::ranges::find(rules, casting) != rules.end(),
               "casting must be one of ('no', 'equiv', 'safe', 'same_kind', 'unsafe') (got '",
               casting, "')");
    return casting == "same_kind";
}

void check_order(std::string_view order) {
    user_check(order.size() == 1 && orders.find(order) != orders.npos,
               "order must be one of ('C', 'F', 'A', 'K') (got '", order, "')");
}

void check_input_cast(std::string_view function, size_t input, DType from, DType to,
                      std::string_view casting) {
    if (to == DType::boolean) return;
    user_check<TypeError>(can_cast(from, to, casting), "Cannot cast ufunc '", function, "' input ",
                          input, " from ", shown(from), " to ", shown(to), " with casting rule '",
                          casting, "'");
}

std::vector<Tensor> cast_inputs(std::string_view function, const std::vector<Tensor>& operands,
                                std::optional<DType> dtype, std::string_view casting) {
    return errors_as(function, [&] {
        const DType to = common_dtype(operands, dtype);
        std::vector<Tensor> result;
        for (const Tensor& x : operands) {
            check_input_cast(function, result.size(), x.dtype(), to, casting);
            result.push_back(ops::astype(x, to));
        }
        return result;
    });
}

Tensor cast_output(std::string_view function, const Tensor& result, DType to,
                   std::string_view casting) {
    user_check<TypeError>(can_cast(result.dtype(), to, casting), "Cannot cast ufunc '", function,
                          "' output from ", shown(result.dtype()), " to ", shown(to),
                          " with casting rule '", casting, "'");
    return ops::astype(result, to);
}

void check_buffer_cast(DType output, DType result) {
    user_check<TypeError>(can_cast(output, result), "Cannot cast array data from ", shown(output),
                          " to ", shown(result), " according to the rule 'safe'");
}

void check_difference_cast(DType dtype, DType target) {
    const DType common = promote_types(dtype, target);
    user_check<TypeError>(can_cast(common, target, "same_kind"),
                          "Cannot cast ufunc 'subtract' output from ", shown(common), " to ",
                          shown(target), " with casting rule 'same_kind'");
}

std::vector<Tensor> cast_parts(std::string_view function, const std::vector<Tensor>& parts,
                               std::optional<DType> dtype, std::string_view casting) {
    if (parts.empty()) return {};
    const DType to = common_dtype(parts, dtype);
    std::vector<Tensor> result;
    for (const Tensor& part : parts) {
        user_check<TypeError>(can_cast(part.dtype(), to, casting), function,
                              ": Cannot cast array data from ", shown(part.dtype()), " to ",
                              shown(to), " according to the rule '", casting, "'.");
        result.push_back(ops::astype(part, to));
    }
    return result;
}

}  // namespace composit::numpy

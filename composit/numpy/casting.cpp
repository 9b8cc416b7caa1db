// Conversions by rule.
#include "composit/numpy/casting.h"

#include "composit/base/errors_as.h"
#include "composit/numpy/variants.h"
#include "composit/ops/ops.h"

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

}  // namespace

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

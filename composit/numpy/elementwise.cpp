// Rows of the scalar table applied by name.
#include "composit/numpy/elementwise.h"

#include "composit/base/error.h"
#include "composit/ops/ops.h"

#include <limits>

namespace composit::numpy {
namespace {

std::vector<Tensor> tensors_of(const std::vector<Operand>& operands) {
    return {operands.begin(), operands.end()};
}

int kind(DType dtype) {
    if (ir::is_complex(dtype)) return 4;
    if (ir::is_floating(dtype)) return 3;
    if (ir::is_signed_integer(dtype)) return 2;
    return ir::is_unsigned_integer(dtype) ? 1 : 0;
}

// The least or greatest value of a real dtype, as a 0-d constant.
Tensor limit(DType dtype, bool greatest) {
    if (!ir::is_integer(dtype)) {
        const double infinity = std::numeric_limits<double>::infinity();
        const double value = dtype == DType::boolean ? greatest : greatest ? infinity : -infinity;
        return ir::constant(Array::scalar(dtype, value));
    }
    const int bits = 8 * ir::size_of(dtype);
    uint64_t pattern = greatest ? ~uint64_t{0} >> (64 - bits) : 0;
    if (ir::is_signed_integer(dtype)) pattern = (uint64_t{1} << (bits - 1)) - (greatest ? 1 : 0);
    Array array(dtype, {});
    for (int byte = 0; byte < bits / 8; ++byte)
        static_cast<uint8_t*>(array.mutable_data())[byte] =
            static_cast<uint8_t>(pattern >> (8 * byte));
    return ir::constant(array);
}

}  // namespace

Tensor apply(std::string_view row, const std::vector<Operand>& operands) {
    return ops::map(row, tensors_of(operands));
}

Tensor apply(std::string_view row, const std::vector<Operand>& operands, DType dtype) {
    std::vector<Tensor> converted;
    for (size_t i = 0; i < operands.size(); ++i) {
        const Tensor& x = operands[i];
        user_check<TypeError>(kind(x.dtype()) <= kind(dtype), "Cannot cast ufunc '", row,
                              "' input ", i, " from dtype('", x.dtype(), "') to dtype('", dtype,
                              "') with casting rule 'same_kind'");
        check_integer_fits(row, x, dtype);
        converted.push_back(ops::astype(x, dtype));
    }
    const Tensor result = ops::map(row, converted);
    user_check<TypeError>(kind(result.dtype()) <= kind(dtype), row,
                          ": no loop with this dtype exists: dtype=", dtype, " gives ",
                          result.dtype(), ". Leave dtype out and convert the result.");
    return ops::astype(result, dtype);
}

Tensor clip(const Operand& x, const Operand& low, const Operand& high) {
    if (!low && !high) return strong(x);
    std::vector<Tensor> given{x};
    for (const Operand& bound : {low, high})
        if (bound) given.push_back(bound);
    const DType dtype = result_type(given);
    for (const Tensor& bound : given) check_integer_fits("clip", bound, dtype);
    return apply("clip", {x, low ? low : Operand(limit(dtype, false)),
                          high ? high : Operand(limit(dtype, true))});
}

std::vector<Tensor> divmod(const Operand& x1, const Operand& x2) {
    return {apply("floor_divide", {x1, x2}), apply("remainder", {x1, x2})};
}

}  // namespace composit::numpy

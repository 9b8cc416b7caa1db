// Results as outputs take them.
#include "composit/numpy/outputs.h"

#include "composit/base/error.h"
#include "composit/ir/scalar/row.h"
#include "composit/numpy/casting.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::numpy {
namespace {

// The dtypes of the row's loop for operands that have these.
std::vector<DType> loop_of(std::string_view row, const std::vector<Tensor>& operands) {
    const DType common = result_type(operands);
    std::vector<DType> dtypes;
    for (const Tensor& x : operands) dtypes.push_back(x.type().weak ? common : x.dtype());
    const ir::scalar::RowRef found = ir::scalar::row(row);
    return found->types(found->name, dtypes).operands;
}

}  // namespace

bool broadcasts_to(const Shape& shape, const Shape& wide) {
    return shape.size() <= wide.size() &&
           std::equal(shape.rbegin(), shape.rend(), wide.rbegin(),
                      [](int64_t length, int64_t of) { return length == 1 || length == of; });
}

Tensor masked_by(std::string_view function, const Tensor& result, const Operand& where,
                 const Operand& out) {
    if (!out) return apply("where", {where, result, ops::astype(Operand(0), result.dtype())});
    const Tensor& below = out;
    const Tensor wide =
        broadcasts_to(result.shape(), below.shape()) ? broadcast_to(result, below.shape()) : result;
    return apply("where", {where, written_as(function, wide, below.shape(), below.dtype()), below});
}

Tensor written_as(std::string_view function, const Tensor& result, const Shape& shape, DType dtype,
                  const OutputRules& rules) {
    Tensor made = result;
    if (rules.widens && made.shape() != shape && broadcasts_to(made.shape(), shape))
        made = broadcast_to(made, shape);
    if (!is_same_kind(rules.casting)) made = cast_output(function, made, dtype, rules.casting);
    user_check(made.shape() == shape, "non-broadcastable output operand with shape ", shape,
               " doesn't match the broadcast shape ", made.shape());
    user_check<TypeError>(kind_rank(made.dtype()) <= kind_rank(dtype), "Cannot cast ufunc '",
                          function, "' output from dtype('", made.dtype(), "') to dtype('", dtype,
                          "') with casting rule 'same_kind'");
    return ops::astype(made, dtype);
}

Tensor apply_by(std::string_view row, const std::vector<Operand>& operands,
                std::optional<DType> dtype, std::string_view casting) {
    const bool is_usual = is_same_kind(casting);
    if (!dtype || *dtype == DType::boolean) {
        const Tensor result = apply(row, operands);
        if (!dtype || result.dtype() == DType::boolean) {
            if (is_usual) return result;
            const std::vector<Tensor> given(operands.begin(), operands.end());
            const std::vector<DType> loop = loop_of(row, given);
            for (size_t i = 0; i < given.size(); ++i)
                if (!given[i].type().weak)
                    check_input_cast(row, i, given[i].dtype(), loop[i], casting);
            return result;
        }
    }
    if (is_usual) return apply(row, operands, *dtype);
    std::vector<Operand> cast;
    for (const Tensor& x : operands) {
        if (!x.type().weak) check_input_cast(row, cast.size(), x.dtype(), *dtype, casting);
        cast.emplace_back(ops::astype(x, *dtype));
    }
    return apply(row, cast, *dtype);
}

}  // namespace composit::numpy

// Checks of PyTorch's, before composit::numpy's products.
#include "composit/aten/products.h"

#include "composit/aten/dtypes.h"
#include "composit/aten/shapes.h"
#include "composit/base/error.h"
#include "composit/ir/dtype_traits.h"
#include "composit/numpy/correlation.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::aten {
namespace {

using ir::DType;

Tensor product(const char* function, const Tensor& a, const Tensor& b,
               std::optional<DType> out_dtype) {
    const DType dtype = product_dtype(function, a, b, out_dtype);
    return numpy::matmul(ops::astype(a, dtype), ops::astype(b, dtype));
}

void check_ranks(const char* function, const Tensor& a, const Tensor& b, int64_t first,
                 int64_t second) {
    user_check(a.rank() == first && b.rank() == second, function, ": tensors of ", first, " and ",
               second, " dimensions are required, got ", a.rank(), " and ", b.rank(), ".");
}

}  // namespace

DType product_dtype(std::string_view function, const Tensor& a, const Tensor& b,
                    std::optional<DType> out_dtype) {
    user_check(a.dtype() == b.dtype(),
               "expected m1 and m2 to have the same dtype, but got: ", ir::cpp_type_name(a.dtype()),
               " != ", ir::cpp_type_name(b.dtype()));
    const DType dtype = out_dtype.value_or(a.dtype());
    user_check(dtype == a.dtype() || (ir::is_short_float(a.dtype()) && dtype == DType::float32),
               function, ": out_dtype ", dtype, " for matrices of ", a.dtype(),
               ". Their dtype is required, or float32 for float16 and bfloat16.");
    return dtype;
}

Tensor matmul(const Tensor& a, const Tensor& b, std::optional<DType> out_dtype) {
    return product("matmul", a, b, out_dtype);
}

Tensor mm(const Tensor& a, const Tensor& b, std::optional<DType> out_dtype) {
    check_ranks("mm", a, b, 2, 2);
    return product("mm", a, b, out_dtype);
}

Tensor bmm(const Tensor& a, const Tensor& b, std::optional<DType> out_dtype) {
    check_ranks("bmm", a, b, 3, 3);
    return product("bmm", a, b, out_dtype);
}

Tensor mv(const Tensor& a, const Tensor& b, std::optional<DType> out_dtype) {
    check_ranks("mv", a, b, 2, 1);
    return product("mv", a, b, out_dtype);
}

Tensor product(const Tensor& x, const Tensor& y) {
    const DType dtype = x.dtype();
    if (!ir::is_floating(dtype) || ir::float_format(dtype).has_infinity) return x * y;
    const auto wide = [](const Tensor& each) { return numpy::astype(each, DType::float32); };
    return converted(wide(x) * wide(y), dtype);
}

Tensor dot(const Tensor& a, const Tensor& b, std::optional<DType> out_dtype) {
    check_ranks("dot", a, b, 1, 1);
    return product("dot", a, b, out_dtype);
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    user_check(x.dtype() == weight.dtype(), "mat1 and mat2 must have the same dtype, but got ",
               ir::scalar_type_name(x.dtype()), " and ", ir::scalar_type_name(weight.dtype()));
    user_check(x.rank() > 0 && weight.rank() > 0, "linear: x has shape ", x.shape(), " and weight ",
               weight.shape(), ". One dimension of each at least is required.");
    user_check(x.shape().back() == weight.shape().back(),
               "mat1 and mat2 shapes cannot be multiplied (",
               ir::element_count({x.shape().begin(), x.shape().end() - 1}), "x", x.shape().back(),
               " and ", weight.shape().back(), "x", weight.shape().front(), ")");
    const Tensor made =
        numpy::matmul(x, weight.rank() > 1 ? numpy::swapaxes(weight, -1, -2) : weight);
    return bias ? made + bias : made;
}

Tensor cross(const Tensor& a, const Tensor& b, std::optional<int64_t> dim) {
    user_check<RuntimeError>(a.rank() == b.rank(),
                             "linalg.cross: inputs must have the same number of dimensions.");
    if (!dim) {
        const auto found = std::find(a.shape().begin(), a.shape().end(), 3);
        user_check<RuntimeError>(found != a.shape().end(), "no dimension of size 3 in input");
        dim = found - a.shape().begin();
    }
    const auto length_of = [&](const Tensor& x) {
        const auto axis = static_cast<size_t>(dimension_of(*dim, x.rank()));
        return x.rank() == 0 ? 1 : x.shape()[axis];
    };
    user_check<RuntimeError>(length_of(a) == 3 && length_of(b) == 3,
                             "linalg.cross: inputs dimension ", *dim, " must have length 3. Got ",
                             length_of(a), " and ", length_of(b));
    return numpy::cross(a, b, *dim, *dim, *dim);
}

}  // namespace composit::aten

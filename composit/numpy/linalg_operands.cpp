// Checks and conversions of the operands of numpy.linalg.
#include "composit/numpy/linalg_operands.h"

#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/operators.h"
#include "composit/ops/matrices.h"

#include <limits>

namespace composit::numpy::linalg {

DType common_type(std::string_view function, std::initializer_list<Tensor> operands) {
    bool is_double = false, is_complex = false;
    for (const Tensor& x : operands) {
        const DType real = ir::real_part_of(x.dtype());
        user_check<TypeError>(!ir::is_short_float(real), function, ": array type ", x.dtype(),
                              " is unsupported in linalg. float32 or float64 is required.");
        is_complex |= ir::is_complex(x.dtype());
        is_double |= real != DType::float32;
    }
    if (is_complex) return is_double ? DType::complex128 : DType::complex64;
    return is_double ? DType::float64 : DType::float32;
}

Tensor in_double(const Tensor& x, DType like) {
    return ops::astype(x, ir::is_complex(like) ? DType::complex128 : DType::float64);
}

void check_matrices(std::string_view function, const Tensor& x) {
    user_check<LinAlgError>(x.rank() >= 2, function, ": ", x.rank(),
                            "-dimensional array given. Array must be at least two-dimensional.");
}

void check_square(std::string_view function, const Tensor& x) {
    check_matrices(function, x);
    user_check<LinAlgError>(rows(x) == columns(x), function,
                            ": Last 2 dimensions of the array must be square, not ", x.shape(),
                            ".");
}

void check_one_matrix(std::string_view function, const Tensor& x) {
    user_check<LinAlgError>(x.rank() == 2, function, ": ", x.rank(),
                            "-dimensional array given. Array must be two-dimensional.");
}

Tensor spread(const Tensor& x, Shape batch) {
    batch.insert(batch.end(), x.shape().end() - 2, x.shape().end());
    return batch == x.shape() ? x : ops::broadcast_to(x, batch);
}

double precision_of(DType dtype) {
    const bool is_single = ir::real_part_of(dtype) == DType::float32;
    return is_single ? static_cast<double>(std::numeric_limits<float>::epsilon())
                     : std::numeric_limits<double>::epsilon();
}

Tensor hermitian_of(const Tensor& x) { return tril(x) + ops::adjoint(tril(x, -1)); }

}  // namespace composit::numpy::linalg

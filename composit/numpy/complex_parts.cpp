// Parts of numbers: what they are for real dtypes, refusals of complex ones.
#include "composit/numpy/complex_parts.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/ops/ops.h"

#include <numbers>

namespace composit::numpy {
namespace {

Tensor real_only(std::string_view function, const Tensor& x) {
    user_check<NotSupported>(!ir::is_complex(x.dtype()), function, ": ", x.dtype(),
                             " is not supported yet. A real dtype is required.");
    return strong(x);
}

// The parts of Python's True are integers.
Tensor part(std::string_view function, const Tensor& x) {
    const Tensor value = real_only(function, x);
    const bool is_python_bool = x.type().weak && x.dtype() == DType::boolean;
    return is_python_bool ? ops::astype(value, DType::int64) : value;
}

Tensor everywhere(const Tensor& x, bool value) { return full(x.shape(), value, DType::boolean); }

}  // namespace

Tensor real(const Tensor& x) { return part("real", x); }

Tensor imag(const Tensor& x) { return zeros_like(part("imag", x)); }

Tensor conjugate(const Tensor& x) {
    const Tensor value = real_only("conjugate", x);
    return value.dtype() == DType::boolean ? ops::astype(value, DType::int8) : value;
}

Tensor conj(const Tensor& x) {
    return errors_as("conj", [&] { return conjugate(x); });
}

Tensor angle(const Tensor& z, bool deg) {
    const Tensor value = real_only("angle", z);
    return errors_as("angle", [&] {
        const Tensor radians = apply("arctan2", {0, value});
        return deg ? apply("multiply", {radians, 180 / std::numbers::pi}) : radians;
    });
}

Tensor iscomplex(const Tensor& x) { return everywhere(real_only("iscomplex", x), false); }

Tensor isreal(const Tensor& x) { return everywhere(real_only("isreal", x), true); }

bool iscomplexobj(const Tensor& x) { return ir::is_complex(x.dtype()); }

bool isrealobj(const Tensor& x) { return !iscomplexobj(x); }

Tensor real_if_close(const Tensor& x) { return real_only("real_if_close", x); }

}  // namespace composit::numpy

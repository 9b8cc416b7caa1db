// Parts of numbers.
#include "composit/numpy/complex_parts.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <limits>
#include <numbers>

namespace composit::numpy {
namespace {

// The parts of Python's True are integers.
Tensor number(const Tensor& x) {
    const bool is_python_bool = x.type().weak && x.dtype() == DType::boolean;
    return is_python_bool ? ops::astype(x, DType::int64) : strong(x);
}

Tensor everywhere(const Tensor& x, bool value) { return full(x.shape(), value, DType::boolean); }

}  // namespace

Tensor real(const Tensor& x) { return ir::is_complex(x.dtype()) ? apply("real", {x}) : number(x); }

Tensor imag(const Tensor& x) {
    return ir::is_complex(x.dtype()) ? apply("imag", {x}) : zeros_like(number(x));
}

Tensor angle(const Tensor& z, bool deg) {
    return errors_as("angle", [&] {
        const bool is_complex = ir::is_complex(z.dtype());
        const Tensor radians = is_complex
                                   ? apply("arctan2", {apply("imag", {z}), apply("real", {z})})
                                   : apply("arctan2", {0, strong(z)});
        return deg ? apply("multiply", {radians, 180 / std::numbers::pi}) : radians;
    });
}

Tensor iscomplex(const Tensor& x) {
    if (!ir::is_complex(x.dtype())) return everywhere(x, false);
    return errors_as("iscomplex", [&] { return apply("not_equal", {apply("imag", {x}), 0}); });
}

Tensor isreal(const Tensor& x) {
    if (!ir::is_complex(x.dtype())) return everywhere(x, true);
    return errors_as("isreal", [&] { return apply("equal", {apply("imag", {x}), 0}); });
}

bool iscomplexobj(const Tensor& x) { return ir::is_complex(x.dtype()); }

bool isrealobj(const Tensor& x) { return !iscomplexobj(x); }

Tensor real_if_close(const Tensor& x, double tol) {
    if (!ir::is_complex(x.dtype())) return strong(x);
    return errors_as("real_if_close", [&] {
        const bool is_single = x.dtype() == DType::complex64;
        const double epsilon = is_single ? std::numeric_limits<float>::epsilon()
                                         : std::numeric_limits<double>::epsilon();
        const Tensor is_small =
            apply("less", {apply("absolute", {imag(x)}), tol > 1 ? epsilon * tol : tol});
        return truth("real_if_close", all(is_small), "real(x)") ? real(x) : strong(x);
    });
}

}  // namespace composit::numpy

// Dtypes of operands: numbers of C++ among them promote as numbers of Python do in NumPy, by their
// kind alone.
//
// Source: NEP 50, https://numpy.org/neps/nep-0050-scalar-promotion.html
#include "composit/cg/node_state.h"
#include "composit/cg/numbers.h"
#include "composit/numpy/operand.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <complex>

namespace composit::cg {
namespace {

bool is_weak(const Tensor& x) { return x.type().weak; }

}  // namespace

Tensor beside(const Tensor& x, const Tensors& others) {
    const auto is_alike = [&](const Tensor& other) { return other.dtype() == x.dtype(); };
    if (std::ranges::all_of(others, is_alike)) return x;
    Tensors all = others;
    if (ir::is_complex(x.dtype()))
        all.push_back(ir::weak_scalar(std::complex<double>()));
    else if (ir::is_floating(x.dtype()))
        all.push_back(ir::weak_scalar(0.0));
    else if (x.dtype() == ir::DType::boolean)
        all.push_back(ir::weak_scalar(false));
    else
        all.push_back(ir::weak_scalar(int64_t{0}));
    return ops::astype(x, numpy::result_type(all));
}

Tensors operands_of(const Nodes& nodes, const Tensors& tensors) {
    std::vector<bool> takes_dtype;
    Tensors others;
    for (size_t i = 0; i < nodes.size(); ++i) {
        takes_dtype.push_back(nodes[i].state().is_number && tensors[i].rank() == 0 &&
                              !is_weak(tensors[i]));
        if (!takes_dtype[i] && !is_weak(tensors[i])) others.push_back(tensors[i]);
    }
    Tensors result = tensors;
    for (size_t i = 0; i < nodes.size(); ++i) {
        if (!takes_dtype[i]) continue;
        result[i] = beside(tensors[i], others);
        const Tensor& own = nodes[i].tensor();
        if (ir::is_integer(result[i].dtype()) && ir::is_constant(own.node()))
            numpy::check_integer_fits(
                nodes[i].name(),
                ir::weak_scalar(*ir::constant_value(own.node()).data_as<int64_t>()),
                result[i].dtype());
    }
    return result;
}

Tensors strong_operands(const Tensors& tensors) {
    Tensors others, result;
    for (const Tensor& x : tensors)
        if (!is_weak(x)) others.push_back(x);
    for (const Tensor& x : tensors)
        result.push_back(is_weak(x) && ir::is_inexact(x.dtype()) ? beside(numpy::strong(x), others)
                                                                 : numpy::strong(x));
    return result;
}

}  // namespace composit::cg

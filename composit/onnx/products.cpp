// Products of matrices, and what is made of them.
#include "composit/numpy/creation.h"
#include "composit/numpy/linalg.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/onnx/operators.h"

namespace composit::onnx {
namespace products {
namespace {

Values matmul(Call& call) { return {numpy::matmul(call.tensor(0), call.tensor(1))}; }

// alpha A' B' + beta C, where ' may transpose.
Values gemm(Call& call) {
    const auto matrix = [&](size_t i, std::string_view flag) {
        const Tensor& x = call.tensor(i);
        call.check(x.rank() == 2, "input ", i, " has shape ", x.shape(), ". A matrix is required.");
        return call.flag(flag) ? numpy::transpose(x) : x;
    };
    const DType dtype = call.tensor(0).dtype();
    const auto scaled = [&](const Tensor& x, double factor) {
        if (factor == 1) return x;
        if (ir::is_floating(dtype)) return factor * x;
        return numpy::astype(numpy::astype(x, DType::float64) * factor, dtype);
    };
    const Tensor product =
        scaled(numpy::matmul(matrix(0, "transA"), matrix(1, "transB")), call.number("alpha", 1));
    if (!call.has(2)) return {product};
    return {product + scaled(call.tensor(2), call.number("beta", 1))};
}

Values einsum(Call& call) {
    std::string equation;
    for (const char c : call.text("equation"))
        if (c != ' ') equation.push_back(c);
    return {numpy::einsum(equation, call.tensors())};
}

Values det(Call& call) {
    const Tensor& x = call.tensor(0);
    return {numpy::astype(numpy::linalg::det(x), x.dtype())};
}

}  // namespace
}  // namespace products

void add_products(Registry& registry) {
    using namespace products;
    registry.add("Det", det);
    registry.add("Einsum", einsum);
    registry.add("Gemm", gemm);
    registry.add("MatMul", matmul);
}

}  // namespace composit::onnx

// Products of matrices, and what is made of them.
#include "composit/numpy/creation.h"
#include "composit/numpy/linalg.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/onnx/operators.h"
#include "composit/onnx/quantized.h"

namespace composit::onnx {
namespace products {
namespace {

Tensor product_of(const Call& call, const Value& a, const Value& b) {
    const std::optional<Tensor> of_numbers = product_of_quantized(call, a, b);
    return of_numbers ? *of_numbers : numpy::matmul(a.tensor(), b.tensor());
}

Values matmul(Call& call) {
    for (const size_t i : {size_t{0}, size_t{1}}) static_cast<void>(call.tensor(i));  // required
    return {product_of(call, call.value(0), call.value(1))};
}

// alpha A' B' + beta C, where ' may transpose.
Values gemm(Call& call) {
    const auto matrix = [&](size_t i, std::string_view flag) {
        const Tensor& x = call.tensor(i);
        call.check(x.rank() == 2, "input ", i, " has shape ", x.shape(), ". A matrix is required.");
        return call.flag(flag) ? transposed(call.value(i)) : call.value(i);
    };
    const DType dtype = call.tensor(0).dtype();
    const auto scaled = [&](const Tensor& x, double factor) {
        if (factor == 1) return x;
        if (ir::is_floating(dtype)) return factor * x;
        return numpy::astype(numpy::astype(x, DType::float64) * factor, dtype);
    };
    const Tensor product =
        scaled(product_of(call, matrix(0, "transA"), matrix(1, "transB")), call.number("alpha", 1));
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

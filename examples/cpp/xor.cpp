// Learns XOR with variables that remember what they were made from.
#include <composit/composit.h>

#include <iostream>
#include <vector>

using namespace composit;
using eager::apply;
using eager::Variable;
using ir::Array;
using ir::DType;
using ir::Tensor;

int main() {
    const Variable x(Array::of<float>(DType::float32, {4, 2}, {0, 0, 0, 1, 1, 0, 1, 1}));
    const Variable y(Array::of<int64_t>(DType::int64, {4}, {1, 0, 0, 1}));
    const std::vector<Variable> parameters = {
        Variable::parameter(Array::of<float>(DType::float32, {2, 4},
                                             {0.9F, -0.7F, 0.6F, -0.4F, -0.8F, 0.5F, 0.7F, -0.3F})),
        Variable::parameter(Array::of<float>(DType::float32, {4}, {0.1F, 0.2F, -0.1F, 0.3F})),
        Variable::parameter(Array::of<float>(DType::float32, {4, 2},
                                             {0.5F, -0.6F, -0.7F, 0.4F, 0.3F, -0.2F, 0.6F, 0.1F})),
    };
    const auto logits = [](const Tensor& x, const Tensor& w, const Tensor& b, const Tensor& v) {
        return numpy::matmul(nn::relu(numpy::matmul(x, w) + b), v);
    };

    float last = 0;
    for (int step = 0; step < 2000; ++step) {
        for (const Variable& parameter : parameters) parameter.forget_gradient();
        const Variable out = apply(logits, x, parameters[0], parameters[1], parameters[2]);
        const Variable loss = apply(
            [](const Tensor& out, const Tensor& y) { return nn::cross_entropy(out, y); }, out, y);
        loss.backward();
        eager::update(parameters, nn::sgd_optimizer(0.2));
        if (step == 1999) last = *loss.value().data_as<float>();
    }

    std::cout << "loss: " << last << '\n';
    const Variable out = apply(logits, x, parameters[0], parameters[1], parameters[2]);
    const Array found = out.value();
    bool is_learnt = last < 0.1F;
    for (int64_t i = 0; i < 4; ++i) {
        const auto* row = found.data_as<float>() + 2 * i;
        const bool equal = row[1] > row[0];
        std::cout << (i / 2) << " xor " << (i % 2) << ": " << (equal ? 0 : 1) << '\n';
        is_learnt = is_learnt && equal == (i / 2 == i % 2);
    }
    return is_learnt ? 0 : 1;
}

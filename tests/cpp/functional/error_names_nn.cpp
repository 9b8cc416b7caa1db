// Calls of all functions of composit/nn with operands and numbers of all sorts.
#include "composit/composit.h"
#include "composit/nn/differentiation.h"
#include "error_names.h"

namespace composit {
namespace {

using ir::DType;
using ir::Tensor;

nn::AttentionParameters attention(const Tensor& x) { return {x, x, x, x, x, x, x, x}; }

}  // namespace

// tests/python/front/test_cpp_names.py asks for all of them.
std::vector<Call> calls_of_nn() {
    return {
        // clang-format off
    CALL(relu, nn::relu(a)),
    CALL(sigmoid, nn::sigmoid(a)),
    CALL(silu, nn::silu(a)),
    CALL(gelu, nn::gelu(a)),
    CALL(gelu, nn::gelu(a, "exact")),
    CALL(tanh, nn::tanh(a)),
    CALL(relu6, nn::relu6(a)),
    CALL(leaky_relu, nn::leaky_relu(a)),
    CALL(prelu, nn::prelu(a, b, n)),
    CALL(rrelu, nn::rrelu(a, 1, 0)),
    CALL(rrelu, nn::rrelu(a, 0, 1, b)),
    CALL(elu, nn::elu(a)),
    CALL(selu, nn::selu(a)),
    CALL(celu, nn::celu(a, static_cast<double>(n))),
    CALL(mish, nn::mish(a)),
    CALL(hardtanh, nn::hardtanh(a, static_cast<double>(n))),
    CALL(hardsigmoid, nn::hardsigmoid(a)),
    CALL(hardswish, nn::hardswish(a)),
    CALL(softplus, nn::softplus(a, static_cast<double>(n))),
    CALL(softsign, nn::softsign(a)),
    CALL(softshrink, nn::softshrink(a, static_cast<double>(n))),
    CALL(hardshrink, nn::hardshrink(a)),
    CALL(tanhshrink, nn::tanhshrink(a)),
    CALL(threshold, nn::threshold(a, 1, 2)),
    CALL(logsigmoid, nn::logsigmoid(a)),
    CALL(glu, nn::glu(a, n)),
    CALL(transposed_convolution, nn::transposed_convolution(a, b, {.strides = {n}})),
    CALL(transposed_convolution, nn::transposed_convolution(a, a, {.groups = n, .bias = b})),
    CALL(max_pool_with_indices, nn::max_pool_with_indices(a, {.kernel_size = {n}})),
    CALL(adaptive_average_pool, nn::adaptive_average_pool(a, {n})),
    CALL(adaptive_max_pool, nn::adaptive_max_pool(a, {n}, true)),
    CALL(adaptive_max_pool_with_indices, nn::adaptive_max_pool_with_indices(a, {n})),
    CALL(global_average_pool, nn::global_average_pool(a)),
    CALL(global_max_pool, nn::global_max_pool(a)),
    CALL(softmin, nn::softmin(a, n)),
    CALL(scaled_dot_product_attention,
         nn::scaled_dot_product_attention(a, b, b, {.mask = a, .is_causal = true})),
    CALL(scaled_dot_product_attention,
         nn::scaled_dot_product_attention(a, b, a, {.group_heads = true, .position = b})),
    CALL(update_cache, nn::update_cache(a, b, a)),
    CALL(update_cache, nn::update_cache(a, a, numpy::asarray(ir::Array::scalar(DType::int64, 9)))),
    CALL(rotary_angles, nn::rotary_angles(a, n)),
    CALL(rotary_embedding, nn::rotary_embedding(a, b, b, n == 1)),
    CALL(rms_norm, nn::rms_norm(a, b, n)),
    CALL(instance_norm, nn::instance_norm(a, b, b, n)),
    CALL(batch_norm_training, nn::batch_norm_training(a, b, b, b, b, n)),
    CALL(normalize, nn::normalize(a, static_cast<double>(n), n)),
    CALL(multi_head_attention,
         nn::multi_head_attention(a, b, attention(a), n, nn::MultiHeadOptions{.memory = b})),
    CALL(transformer_encoder_layer,
         nn::transformer_encoder_layer(a, b, {attention(a), {a, a}, {a, a, a, a}, {a, a}}, n)),
    CALL(transformer_decoder_layer,
         nn::transformer_decoder_layer(
             a, b, {}, {},
             {attention(a), {a, a}, attention(b), {a, a}, {a, a, a, a}, {a, a}}, n)),
    CALL(pad, nn::pad(a, {n, n})),
    CALL(pad, nn::pad(a, {n, n}, "reflect")),
    CALL(embedding, nn::embedding(a, b)),
    CALL(convolution, nn::convolution(a, b, {.strides = {n}})),
    CALL(convolution, nn::convolution(a, a, {.channels_last = true, .groups = n})),
    CALL(max_pool, nn::max_pool(a, {.kernel_size = {n}})),
    CALL(average_pool, nn::average_pool(a, {.kernel_size = {n}, .padding = {n}})),
    CALL(lp_pool, nn::lp_pool(a, 2, {.kernel_size = {n}})),
    CALL(max_unpool, nn::max_unpool(a, b, {.kernel_size = {n}})),
    CALL(max_unpool, nn::max_unpool(a, a, {.kernel_size = {n}, .strides = {n}}, {n})),
    CALL(logsumexp, nn::logsumexp(a, n)),
    CALL(log_softmax, nn::log_softmax(a, n)),
    CALL(one_hot, nn::one_hot(a, n)),
    CALL(cross_entropy, nn::cross_entropy(a, b)),
    CALL(cross_entropy, nn::cross_entropy(a, b, "none")),
    CALL(nll, nn::nll(a, b)),
    CALL(mse, nn::mse(a, b)),
    CALL(mse, nn::mse(a, a, "median")),
    CALL(softmax, nn::softmax(a, n)),
    CALL(layer_norm, nn::layer_norm(a, b, b, n)),
    CALL(batch_norm, nn::batch_norm(a, b, a, a, a)),
    CALL(group_norm, nn::group_norm(a, b, b, 1, n)),
    CALL(group_norm, nn::group_norm(a, a, a, n, 1)),
    CALL(dropout, nn::dropout(a, 0.5 * static_cast<double>(n), b)),
    CALL(scaled_dot_product_attention, nn::scaled_dot_product_attention(a, b, b)),
    CALL(scaled_dot_product_attention, nn::scaled_dot_product_attention(a, a, a, b)),
    CALL(multi_head_attention, nn::multi_head_attention(a, {}, attention(b), n)),
    CALL(feedforward, nn::feedforward(a, b, b, a, a)),
    CALL(resnet_module, nn::resnet_module(a, {b, b, b, b, b}, {b, b, b, b, b}, {b, b, b, b, b}, {},
                                          true, {n})),
    CALL(variance_scaling, nn::variance_scaling(b, {n, 2}, 1, "fan_in", "normal")),
    CALL(glorot_normal, nn::glorot_normal(b, {n, 2})),
    CALL(glorot_uniform, nn::glorot_uniform(b, {n, 2})),
    CALL(he_normal, nn::he_normal(b, {n, 2}, {}, a.dtype())),
    CALL(he_uniform, nn::he_uniform(b, {n, 2})),
    CALL(lecun_normal, nn::lecun_normal(b, {n, 2})),
    CALL(lecun_uniform, nn::lecun_uniform(b, {n, 2})),
    CALL(stop_gradient, nn::stop_gradient(a)),
    CALL(gradient_where, nn::gradient_where(a, b)),
    CALL(with_values, nn::with_values(a, b)),
    CALL(gradient_where, nn::gradient_where(numpy::apply("equal", {a, a}), b)),
    CALL(chain_rule, nn::chain_rule({{a, b}}, {a})),
    CALL(optimize, nn::optimize({a}, {}, nn::sgd_optimizer(1))),
    CALL(sgd_optimizer, nn::sgd_optimizer(1)(a, b)),
    CALL(sgd, nn::sgd({.learning_rate = 1, .nesterov = true})),
    CALL(sgd, nn::sgd({.learning_rate = 1, .momentum = 1}).step({a}, {b}, {b})),
    CALL(adam, nn::adam().step({a}, {b}, {b, b, b})),
    CALL(adamw, nn::adamw().step({a}, {b}, {a, b, b})),
        // clang-format on
    };
}

}  // namespace composit

// The operators' functions, by subject: each adds those of its file to the registry.
#pragma once

#include "composit/numpy/elementwise.h"
#include "composit/onnx/call.h"

#include <cstddef>

namespace composit::onnx {

void add_elementwise(Registry& registry);
void add_activations(Registry& registry);
void add_casts(Registry& registry);
void add_shaping(Registry& registry);
void add_indexing(Registry& registry);
void add_reductions(Registry& registry);
void add_products(Registry& registry);
void add_convolutions(Registry& registry);
void add_pools(Registry& registry);
void add_normalizations(Registry& registry);
void add_random(Registry& registry);
void add_recurrent(Registry& registry);
void add_resizing(Registry& registry);
void add_image_decoder(Registry& registry);
void add_attention(Registry& registry);
void add_control(Registry& registry);
void add_losses(Registry& registry);
void add_quantized(Registry& registry);
void add_sampling(Registry& registry);
void add_sequences(Registry& registry);
void add_signals(Registry& registry);
void add_ml_models(Registry& registry);
void add_strings(Registry& registry);
void add_support_vectors(Registry& registry);
void add_training(Registry& registry);
void add_trees(Registry& registry);

// The name of a row of the scalar table, as an argument of a template.
template <size_t size>
struct RowName {
    char text[size];
    constexpr RowName(const char (&name)[size]) {  // NOLINT: a literal is a name
        for (size_t i = 0; i < size; ++i) text[i] = name[i];
    }
};

// Operators that are a row of the scalar table.
template <RowName row>
Values unary_row(Call& call) {
    return {numpy::apply(row.text, {call.tensor(0)})};
}
template <RowName row>
Values binary_row(Call& call) {
    return {numpy::apply(row.text, {call.tensor(0), call.tensor(1)})};
}

}  // namespace composit::onnx

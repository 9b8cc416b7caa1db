// All operators, gathered once.
#include "composit/onnx/operators.h"

namespace composit::onnx {

const Registry& operators() {
    static const Registry* const registry = [] {
        auto* made = new Registry;
        add_elementwise(*made);
        add_activations(*made);
        add_casts(*made);
        add_shaping(*made);
        add_indexing(*made);
        add_reductions(*made);
        add_products(*made);
        add_convolutions(*made);
        add_pools(*made);
        add_normalizations(*made);
        add_random(*made);
        add_recurrent(*made);
        add_resizing(*made);
        add_image_decoder(*made);
        add_attention(*made);
        add_control(*made);
        add_losses(*made);
        add_quantized(*made);
        add_sampling(*made);
        add_sequences(*made);
        add_signals(*made);
        add_ml_models(*made);
        add_strings(*made);
        add_support_vectors(*made);
        add_training(*made);
        add_trees(*made);
        return made;
    }();
    return *registry;
}

}  // namespace composit::onnx

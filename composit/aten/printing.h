// How PyTorch writes the values of a tensor.
//
//   text_of(array)   // "[[1.0000, 0.5000],\n [0.2500, 2.0000]]"
#pragma once

#include "composit/ir/array.h"

#include <cstdint>
#include <optional>
#include <string>

namespace composit::aten {

// The options of torch.set_printoptions.
struct PrintOptions {
    int precision = 4;                    // digits behind the point
    double threshold = 1000;              // arrays of more elements are shown by their edges
    int64_t edge_items = 3;               // elements shown at either end of an axis then
    int64_t line_width = 80;              // characters
    std::optional<bool> scientific = {};  // decided by the values unless given
};

// The values in brackets, in columns of one width and one notation. Lines after the first begin
// behind `indent` spaces: those that stand before the text. "[]" for no elements.
[[nodiscard]] std::string text_of(const ir::Array& values, const PrintOptions& options = {},
                                  int64_t indent = 0);

// What PyTorch writes of a tensor besides its values: what is usual is left out.
struct TensorText {
    std::string dtype = "float32", default_dtype = "float32";
    std::string device = {};  // none for the CPU
    bool requires_grad = false;
    std::string grad_fn = {};  // the name of the operation that made it
    bool is_parameter = false;
};
// "tensor([1., 2.], dtype=torch.float64)", with text_of's values. What does not fit into the line
// width stands on a line of its own.
[[nodiscard]] std::string tensor_text(const ir::Array& values, const TensorText& of = {},
                                      const PrintOptions& options = {});

}  // namespace composit::aten

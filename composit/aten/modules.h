// What PyTorch's modules demand of their arguments, and the parameters that they have: names and
// shapes, in the order of their states.
//
// Errors have PyTorch's words and classes; `module` is the class that is named.
#pragma once

#include "composit/ir/dtype.h"
#include "composit/ir/node.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace composit::aten {

using ir::Shape;

// A parameter; no shape where the module is made without it.
using NamedShape = std::pair<std::string, std::optional<Shape>>;

// ----- recurrent layers
struct RecurrentSizes {
    std::string_view mode = "LSTM";  // "GRU", "RNN_TANH", "RNN_RELU"
    int64_t input = 0, hidden = 0, layers = 1;
    bool has_bias = true, is_bidirectional = false;
    double dropout = 0;
    int64_t projection = 0;  // of LSTM: outputs are this wide
};
// Of each layer and direction weight_ih, weight_hh, the biases and the projection: "weight_ih_l0",
// "weight_ih_l0_reverse", …. ValueError for sizes that are none.
//
//   recurrent_parameters("LSTM", {.input = 3, .hidden = 4})
[[nodiscard]] std::vector<NamedShape> recurrent_parameters(std::string_view module,
                                                           const RecurrentSizes& sizes);

// The same of one step of a layer: weight_ih, weight_hh, bias_ih and bias_hh.
[[nodiscard]] std::vector<NamedShape> cell_parameters(int64_t input, int64_t hidden, int64_t gates,
                                                      bool has_bias);

// ----- attention
// One weight for queries, keys and values of one width, else one for each; biases, and a row that
// is added to keys and values, where they are wanted. AssertionError unless the heads divide the
// width.
[[nodiscard]] std::vector<NamedShape> attention_parameters(int64_t width, int64_t heads,
                                                           int64_t key_width, int64_t value_width,
                                                           bool has_bias, bool has_added_row);

// ----- convolutions
struct ConvolutionSizes {
    int64_t in_channels = 1, out_channels = 1, groups = 1;
    Shape kernel, stride, dilation, output_padding;
    std::variant<Shape, std::string> padding;  // "same" and "valid" are texts
    std::string padding_mode = "zeros";
    bool has_bias = true;
};
// "weight" and "bias". ValueError for groups that do not divide the channels, and for a mode of
// padding that there is not.
[[nodiscard]] std::vector<NamedShape> convolution_parameters(const ConvolutionSizes& sizes,
                                                             bool is_transposed = false);
// The sizes and options that are not as usual, as PyTorch shows them.
[[nodiscard]] std::string shown_convolution(const ConvolutionSizes& sizes);
// The widths, those of the last dimension first, by which an input is padded before a convolution
// without padding.
[[nodiscard]] std::vector<int64_t> widths_before(const ConvolutionSizes& sizes);
// The output_padding with which a transposed convolution of an input of this shape has the wanted
// size, whose last lengths count.
[[nodiscard]] Shape padding_for(const ConvolutionSizes& sizes, const Shape& input,
                                const Shape& wanted);

// ----- normalisations
// A tensor of a module before it is trained: all elements are `value`; no shape where the module is
// made without it.
struct FilledTensor {
    std::string name;
    std::optional<Shape> shape;
    double value = 0;
    bool is_learnt = true;  // a parameter; else a buffer
    bool is_count = false;  // an integer of 64 bits
};
// "weight" of ones and "bias" of zeros.
[[nodiscard]] std::vector<FilledTensor> norm_tensors(const Shape& shape, bool has_weight,
                                                     bool has_bias);
// The same of a normalisation by channels, and "running_mean", "running_var" and
// "num_batches_tracked" of one that tracks statistics.
[[nodiscard]] std::vector<FilledTensor> channel_norm_tensors(int64_t channels, bool has_weight,
                                                             bool has_bias, bool tracks);
// ValueError unless the groups divide the channels.
void check_channel_groups(int64_t groups, int64_t channels);
// ValueError, PyTorch's words, unless an input's number of dimensions is one of those; "at least
// 2D" where there are none.
void check_norm_rank(int64_t rank, const std::vector<int64_t>& allowed);

// The text of a list of modules from theirs: equal neighbours share a line.
[[nodiscard]] std::string shown_rows(std::string_view module,
                                     const std::vector<std::string>& texts);

// ----- layers of losses and of pools
// The classes of a softmax in clusters: the last class behind each cluster, the widths of the
// hidden layer of each, and how many classes it has. ValueError for cutoffs that do not ascend
// between 1 and the classes.
struct ClassClusters {
    std::vector<int64_t> cutoffs, widths, sizes;
};
[[nodiscard]] ClassClusters class_clusters(int64_t features, int64_t classes,
                                           const std::vector<double>& cutoffs, double division);
// RuntimeError unless targets (lowest to highest) are classes, and their shape is the input's
// without its last dimension.
void check_clustered(const Shape& input, const Shape& target, int64_t lowest, int64_t highest,
                     int64_t classes);
// ValueError unless a size or ratios between 0 and 1 are given, and not both.
void check_fractional(std::string_view module, bool has_size,
                      const std::optional<std::vector<double>>& ratios);

}  // namespace composit::aten

// Names and shapes of parameters.
#include "composit/aten/modules.h"

#include "composit/base/assertion_error.h"
#include "composit/base/error.h"
#include "composit/numpy/operand.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace composit::aten {
namespace {

void check_count(std::string_view name, const Shape& lengths, size_t count) {
    user_check(lengths.size() == count, "convolution: ", name, " is ", lengths, ". ", count,
               " lengths are required.");
}

int64_t gates_of(std::string_view mode) { return mode == "LSTM" ? 4 : mode == "GRU" ? 3 : 1; }

std::string python_text(const std::variant<Shape, std::string>& padding) {
    if (const auto* word = std::get_if<std::string>(&padding)) return *word;
    return text(std::get<Shape>(padding));
}

}  // namespace

std::vector<NamedShape> recurrent_parameters(std::string_view module, const RecurrentSizes& sizes) {
    constexpr std::array modes = {"LSTM", "GRU", "RNN_TANH", "RNN_RELU"};
    user_check(std::ranges::find(modes, sizes.mode) != modes.end(),
               "Unrecognized RNN mode: ", sizes.mode);
    user_check(sizes.dropout >= 0 && sizes.dropout <= 1,
               "dropout should be a number in range [0, 1], and is ", number_text(sizes.dropout));
    user_check(sizes.hidden > 0 && sizes.layers > 0, module, ": hidden_size ", sizes.hidden,
               " and num_layers ", sizes.layers, ". Numbers above zero are required.");
    user_check(sizes.projection == 0 || sizes.mode == "LSTM",
               "proj_size argument is only supported for LSTM");
    user_check(sizes.projection >= 0 && sizes.projection < sizes.hidden,
               "proj_size has to be smaller than hidden_size");
    const int64_t rows = gates_of(sizes.mode) * sizes.hidden;
    const int64_t outputs = sizes.projection ? sizes.projection : sizes.hidden;
    std::vector<NamedShape> all;
    for (int64_t layer = 0; layer < sizes.layers; ++layer) {
        const int64_t inputs =
            layer == 0 ? sizes.input : outputs * (sizes.is_bidirectional ? 2 : 1);
        for (const char* side : {"", "_reverse"}) {
            if (*side && !sizes.is_bidirectional) break;
            const auto add = [&](const char* part, Shape shape) {
                all.emplace_back(text(part, "_l", layer, side), std::move(shape));
            };
            add("weight_ih", {rows, inputs});
            add("weight_hh", {rows, outputs});
            if (sizes.has_bias) add("bias_ih", {rows});
            if (sizes.has_bias) add("bias_hh", {rows});
            if (sizes.projection) add("weight_hr", {sizes.projection, sizes.hidden});
        }
    }
    return all;
}

std::vector<NamedShape> cell_parameters(int64_t input, int64_t hidden, int64_t gates,
                                        bool has_bias) {
    const int64_t rows = gates * hidden;
    const std::optional<Shape> bias = has_bias ? std::optional(Shape{rows}) : std::nullopt;
    return {{"weight_ih", Shape{rows, input}},
            {"weight_hh", Shape{rows, hidden}},
            {"bias_ih", bias},
            {"bias_hh", bias}};
}

std::string shown_rows(std::string_view module, const std::vector<std::string>& texts) {
    std::string shown = text(module, "(");
    for (size_t start = 0; start < texts.size();) {
        size_t end = start;
        while (end + 1 < texts.size() && texts[end + 1] == texts[start]) ++end;
        shown += end == start ? text("\n  (", start, "): ")
                              : text("\n  (", start, "-", end, "): ", end - start + 1, " x ");
        for (const char letter : texts[start]) {
            shown += letter;
            if (letter == '\n') shown += "  ";
        }
        start = end + 1;
    }
    return shown + (texts.empty() ? ")" : "\n)");
}

std::vector<NamedShape> attention_parameters(int64_t width, int64_t heads, int64_t key_width,
                                             int64_t value_width, bool has_bias,
                                             bool has_added_row) {
    user_check<AssertionError>(heads != 0 && width % heads == 0,
                               "embed_dim must be divisible by num_heads");
    const bool is_one = key_width == width && value_width == width;
    const auto where = [](bool is_there, Shape shape) {
        return is_there ? std::optional<Shape>(std::move(shape)) : std::nullopt;
    };
    return {{"q_proj_weight", where(!is_one, {width, width})},
            {"k_proj_weight", where(!is_one, {width, key_width})},
            {"v_proj_weight", where(!is_one, {width, value_width})},
            {"in_proj_weight", where(is_one, {3 * width, width})},
            {"in_proj_bias", where(has_bias, {3 * width})},
            {"bias_k", where(has_added_row, {1, 1, width})},
            {"bias_v", where(has_added_row, {1, 1, width})}};
}

std::vector<NamedShape> convolution_parameters(const ConvolutionSizes& sizes, bool is_transposed) {
    user_check(sizes.groups > 0, "groups must be a positive integer");
    user_check(sizes.in_channels % sizes.groups == 0, "in_channels must be divisible by groups");
    user_check(sizes.out_channels % sizes.groups == 0, "out_channels must be divisible by groups");
    constexpr std::array modes = {"zeros", "reflect", "replicate", "circular"};
    user_check(std::ranges::find(modes, sizes.padding_mode) != modes.end(), "padding_mode '",
               sizes.padding_mode, "' is none of 'zeros', 'reflect', 'replicate' and 'circular'");
    Shape weight = is_transposed ? Shape{sizes.in_channels, sizes.out_channels / sizes.groups}
                                 : Shape{sizes.out_channels, sizes.in_channels / sizes.groups};
    weight.insert(weight.end(), sizes.kernel.begin(), sizes.kernel.end());
    return {{"weight", std::move(weight)},
            {"bias", sizes.has_bias ? std::optional(Shape{sizes.out_channels}) : std::nullopt}};
}

std::string shown_convolution(const ConvolutionSizes& sizes) {
    std::string shown = text(sizes.in_channels, ", ", sizes.out_channels,
                             ", kernel_size=", sizes.kernel, ", stride=", sizes.stride);
    const Shape none(sizes.kernel.size(), 0), ones(sizes.kernel.size(), 1);
    if (sizes.padding != std::variant<Shape, std::string>(none))
        shown += ", padding=" + python_text(sizes.padding);
    if (sizes.dilation != ones) shown += text(", dilation=", sizes.dilation);
    if (sizes.output_padding != none) shown += text(", output_padding=", sizes.output_padding);
    if (sizes.groups != 1) shown += text(", groups=", sizes.groups);
    if (!sizes.has_bias) shown += ", bias=False";
    if (sizes.padding_mode != "zeros") shown += ", padding_mode=" + sizes.padding_mode;
    return shown;
}

std::vector<int64_t> widths_before(const ConvolutionSizes& sizes) {
    if (const auto* given = std::get_if<Shape>(&sizes.padding))
        check_count("padding", *given, sizes.kernel.size());
    else
        check_count("dilation", sizes.dilation, sizes.kernel.size());
    std::vector<int64_t> widths;
    for (size_t d = sizes.kernel.size(); d-- > 0;) {
        int64_t low = 0, high = 0;
        if (const auto* given = std::get_if<Shape>(&sizes.padding)) {
            low = high = (*given)[d];
        } else if (std::get<std::string>(sizes.padding) == "same") {
            const int64_t total = sizes.dilation[d] * (sizes.kernel[d] - 1);
            low = total / 2;
            high = total - low;
        }
        widths.insert(widths.end(), {low, high});
    }
    return widths;
}

Shape padding_for(const ConvolutionSizes& sizes, const Shape& input, const Shape& wanted) {
    const size_t count = sizes.kernel.size();
    user_check(wanted.size() >= count && input.size() >= count, "conv_transpose: output_size is ",
               wanted, ". ", count, " lengths are required.");
    const auto* given = std::get_if<Shape>(&sizes.padding);
    user_check(given != nullptr, "conv_transpose: padding is a text. Lengths are required.");
    const Shape& padding = *given;
    check_count("padding", padding, count);
    check_count("stride", sizes.stride, count);
    check_count("dilation", sizes.dilation, count);
    Shape extra;
    for (size_t d = 0; d < count; ++d) {
        const int64_t length = input[input.size() - count + d];
        const int64_t least = (length - 1) * sizes.stride[d] - 2 * padding[d] +
                              sizes.dilation[d] * (sizes.kernel[d] - 1) + 1;
        extra.push_back(wanted[wanted.size() - count + d] - least);
    }
    return extra;
}

std::vector<FilledTensor> norm_tensors(const Shape& shape, bool has_weight, bool has_bias) {
    const auto where = [&](bool is_there) {
        return is_there ? std::optional(shape) : std::nullopt;
    };
    return {{"weight", where(has_weight), 1}, {"bias", where(has_weight && has_bias), 0}};
}

std::vector<FilledTensor> channel_norm_tensors(int64_t channels, bool has_weight, bool has_bias,
                                               bool tracks) {
    std::vector<FilledTensor> all = norm_tensors({channels}, has_weight, has_bias);
    const auto where = [&](Shape shape) {
        return tracks ? std::optional(std::move(shape)) : std::nullopt;
    };
    all.push_back({"running_mean", where({channels}), 0, false});
    all.push_back({"running_var", where({channels}), 1, false});
    all.push_back({"num_batches_tracked", where({}), 0, false, true});
    return all;
}

void check_channel_groups(int64_t groups, int64_t channels) {
    user_check<ZeroDivisionError>(groups != 0,
                                  "GroupNorm: num_groups is 0. "
                                  "Another number is required.");
    user_check(channels % groups == 0, "num_channels (", channels,
               ") must be divisible by num_groups (", groups, ")");
}

void check_norm_rank(int64_t rank, const std::vector<int64_t>& allowed) {
    if (allowed.empty()) {
        user_check(rank >= 2, "expected at least 2D input (got ", rank, "D input)");
        return;
    }
    if (std::ranges::find(allowed, rank) != allowed.end()) return;
    std::string wanted;
    for (const int64_t each : allowed) wanted += text(wanted.empty() ? "" : " or ", each, "D");
    fail("expected ", wanted, " input (got ", rank, "D input)");
}

ClassClusters class_clusters(int64_t features, int64_t classes, const std::vector<double>& given,
                             double division) {
    user_check<ZeroDivisionError>(division != 0,
                                  "AdaptiveLogSoftmaxWithLoss: div_value is 0. "
                                  "Another number is required.");
    user_check(!given.empty(), "cutoffs should be a sequence of length larger than 0");
    const bool ascends =
        std::ranges::adjacent_find(given, std::ranges::greater_equal()) == given.end();
    const bool are_whole =
        std::ranges::all_of(given, [](double cutoff) { return cutoff == std::trunc(cutoff); });
    user_check(ascends && are_whole && given.front() > 0 &&
                   given.back() <= static_cast<double>(classes - 1),
               "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
               "order, where each value is between 1 and n_classes-1");
    ClassClusters found{{given.begin(), given.end()}, {}, {}};
    found.cutoffs.push_back(classes);
    for (size_t i = 0; i + 1 < found.cutoffs.size(); ++i) {
        const double narrowed =
            static_cast<double>(features) / std::pow(division, static_cast<double>(i + 1));
        numpy::check_float_fits("AdaptiveLogSoftmaxWithLoss", narrowed, ir::DType::int64);
        found.widths.push_back(static_cast<int64_t>(std::floor(narrowed)));
        found.sizes.push_back(found.cutoffs[i + 1] - found.cutoffs[i]);
    }
    return found;
}

void check_clustered(const Shape& input, const Shape& target, int64_t lowest, int64_t highest,
                     int64_t classes) {
    user_check<RuntimeError>(input.size() == target.size() + 1 && input.size() <= 2,
                             "AdaptiveLogSoftmaxWithLoss: 0D or 1D target tensor expected, and an "
                             "input of one dimension more; given are ",
                             target.size(), " and ", input.size(), ".");
    user_check<RuntimeError>(input.size() < 2 || input[0] == target[0],
                             "Input and target should have the same size in the batch dimension.");
    user_check<RuntimeError>(lowest >= 0 && highest < classes, "Target values should be in [0, ",
                             classes - 1, "], but values in range [", lowest, ", ", highest,
                             "] were found. ");
}

void check_fractional(std::string_view module, bool has_size,
                      const std::optional<std::vector<double>>& ratios) {
    user_check(has_size || ratios, module,
               " requires specifying either an output size, or a pooling ratio");
    user_check(!has_size || !ratios, "only one of output_size and output_ratio may be specified");
    if (!ratios) return;
    const bool fits = std::ranges::all_of(*ratios, [](double x) { return x > 0 && x < 1; });
    std::string shown;
    for (const double ratio : *ratios) shown += (shown.empty() ? "" : ", ") + number_text(ratio);
    user_check(fits, "output_ratio must be between 0 and 1 (got (", shown, "))");
}

}  // namespace composit::aten

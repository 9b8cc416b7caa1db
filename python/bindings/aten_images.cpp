// Functions of networks: composit/aten/attention.h, convolutions.h, embedding.h, grid_sample.h,
// modules.h, normalization.h, pooling.h, resizing.h.
#include "aten.h"
#include "casters.h"
#include "composit/aten/attention.h"
#include "composit/aten/convolutions.h"
#include "composit/aten/embedding.h"
#include "composit/aten/grid_sample.h"
#include "composit/aten/initializers.h"
#include "composit/aten/modules.h"
#include "composit/aten/normalization.h"
#include "composit/aten/pooling.h"
#include "composit/aten/resizing.h"
#include "flags.h"
#include "location.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>

#include <string>
#include <variant>

namespace composit::python {
namespace {

using Integers = std::vector<int64_t>;
using Maybe = const MaybeOperand&;

// None, or a list with None in it, where a length is x's own.
aten::OutputSize output_size(nb::handle given) {
    if (given.is_none()) return {std::nullopt};
    if (PyLong_Check(given.ptr())) return {integer_from(given)};
    aten::OutputSize made;
    for (nb::handle value : given) {
        if (value.is_none())
            made.emplace_back();
        else
            made.emplace_back(integer_from(value));
    }
    return made;
}

void bind_pools(nb::module_& module) {
    const nb::call_guard<Located> located;
    const auto largest = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, int64_t count, const Integers& kernel_size,
                       const Integers& stride, const Integers& padding, const Integers& dilation,
                       TruthFlag ceil_mode) {
                return function(x, count, {kernel_size, stride, padding, dilation, ceil_mode});
            },
            located);
    };
    largest("max_pool", aten::max_pool);
    largest("max_pool_with_indices", aten::max_pool_with_indices);
    module.def(
        "average_pool",
        [](const Tensor& x, int64_t count, const Integers& kernel_size, const Integers& stride,
           const Integers& padding, TruthFlag ceil_mode, TruthFlag count_include_pad,
           std::optional<double> divisor) {
            return aten::average_pool(x, count, {kernel_size, stride, padding, {}, ceil_mode},
                                      count_include_pad, divisor);
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none(), located);
    module.def(
        "lp_pool",
        [](const Tensor& x, int64_t count, double norm_type, const Integers& kernel_size,
           const Integers& stride, TruthFlag ceil_mode) {
            return aten::lp_pool(x, count, norm_type, {kernel_size, stride, {}, {}, ceil_mode});
        },
        located);
    module.def("fractional_max_pool", &aten::fractional_max_pool, located);
    module.def("fractional_size", &aten::fractional_size, located);
    // (lengths of windows, of the result, shape of the samples); a ratio may be one number.
    module.def(
        "fractional_windows",
        [](const std::string& function, const Tensor& x, int64_t count, const ir::Shape& kernel,
           const std::optional<ir::Shape>& size, nb::handle ratios) {
            std::optional<std::vector<double>> given;
            if (PyFloat_Check(ratios.ptr()))
                given = {number_from(ratios)};
            else if (!ratios.is_none())
                given = nb::cast<std::vector<double>>(ratios);
            const aten::FractionalWindows found =
                aten::fractional_windows(function, x, count, kernel, size, given);
            return nb::make_tuple(tuple_from(found.kernel), tuple_from(found.size),
                                  tuple_from(found.samples));
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), located);
    module.def(
        "max_unpool",
        [](const Tensor& x, const Tensor& indices, int64_t count, const Integers& kernel_size,
           const Integers& stride, const Integers& padding, const Integers& output_size) {
            return aten::max_unpool(x, indices, count, {kernel_size, stride, padding}, output_size);
        },
        located);
    module.def(
        "adaptive_average_pool",
        [](const Tensor& x, int64_t count, nb::handle size) {
            return aten::adaptive_average_pool(x, count, output_size(size));
        },
        nb::arg(), nb::arg(), nb::arg().none(), located);
    module.def(
        "adaptive_max_pool",
        [](const Tensor& x, int64_t count, nb::handle size) {
            return aten::adaptive_max_pool(x, count, output_size(size));
        },
        nb::arg(), nb::arg(), nb::arg().none(), located);
}

void bind_convolutions(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "convolution",
        [](const Tensor& x, const Tensor& weight, Maybe bias, const Integers& stride,
           nb::handle padding, const Integers& dilation, int64_t groups) {
            aten::ConvolutionOptions options{
                .stride = stride, .padding = {}, .dilation = dilation, .groups = groups};
            if (PyUnicode_Check(padding.ptr()))
                options.same_padding = nb::cast<std::string>(padding) == "same";
            else
                options.padding = integers_from(padding);
            return aten::convolution(x, weight, bias, options);
        },
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        located);
    module.def(
        "transposed_convolution",
        [](const Tensor& x, const Tensor& weight, Maybe bias, const Integers& stride,
           const Integers& padding, const Integers& output_padding, int64_t groups,
           const Integers& dilation) {
            return aten::transposed_convolution(x, weight, bias,
                                                {.stride = stride,
                                                 .padding = padding,
                                                 .dilation = dilation,
                                                 .groups = groups,
                                                 .output_padding = output_padding});
        },
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), located);
}

void bind_norms(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "layer_norm",
        [](const Tensor& x, int64_t count, Maybe weight, Maybe bias, double eps) {
            return aten::layer_norm(x, count, weight, bias, eps);
        },
        located);
    module.def(
        "rms_norm",
        [](const Tensor& x, int64_t count, Maybe weight, std::optional<double> eps) {
            return aten::rms_norm(x, count, weight, eps);
        },
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), located);
    module.def(
        "group_norm",
        [](const Tensor& x, int64_t groups, Maybe weight, Maybe bias, double eps) {
            return aten::group_norm(x, groups, weight, bias, eps);
        },
        located);
    const auto running = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, Maybe weight, Maybe bias, Maybe mean, Maybe var,
                       TruthFlag is_training, double momentum, double eps) {
                aten::RunningNorm made =
                    function(x, {weight, bias, mean, var, is_training, momentum, eps});
                return std::vector<Tensor>{made.result, made.running_mean, made.running_var};
            },
            nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
            nb::arg(), nb::arg(), nb::arg(), located);
    };
    module.def("local_response_norm", &aten::local_response_norm, located);
    module.def("cross_map_lrn", &aten::cross_map_lrn, located);
    running("batch_norm", aten::batch_norm);
    running("instance_norm", aten::instance_norm);
}

void bind_sampling(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "grid_sample",
        [](const Tensor& x, const Tensor& grid, int64_t mode, int64_t padding,
           TruthFlag align_corners) {
            return aten::grid_sample(x, grid, static_cast<aten::GridMode>(mode),
                                     static_cast<aten::GridPadding>(padding), align_corners);
        },
        located);
    module.def("affine_grid", &aten::affine_grid, located);
    using Factors = std::vector<std::optional<double>>;
    module.def(
        "upsample",
        [](const Tensor& x, const std::optional<Integers>& size,
           const std::optional<Factors>& factors, const std::string& mode, TruthFlag align_corners,
           TruthFlag antialias) {
            return aten::upsample(x, size.value_or(Integers()), factors.value_or(Factors()),
                                  {mode, align_corners, antialias});
        },
        nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg("align_corners") = false,
        nb::arg("antialias") = false, located);
    module.def(
        "interpolate",
        [](const Tensor& x, const std::optional<Integers>& size, nb::handle factors,
           const std::string& mode, TruthFlag align_corners, TruthFlag antialias,
           TruthFlag recompute) {
            std::vector<double> given;
            if (PyFloat_Check(factors.ptr()) || PyLong_Check(factors.ptr()))
                given.push_back(number_from(factors));
            else if (!factors.is_none())
                for (nb::handle factor : factors) given.push_back(number_from(factor));
            return aten::interpolate(x, size.value_or(Integers()), given,
                                     {mode, align_corners, antialias}, recompute);
        },
        nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg().none(), nb::arg(),
        nb::arg().none(), located);
    module.def("calculate_gain", &aten::calculate_gain, nb::arg(), nb::arg().none(), located);
    module.def("fans_of", &aten::fans_of, located);
    module.def("kaiming_deviation", &aten::kaiming_deviation, located);
    module.def("dirac", &aten::dirac, located);
    module.def(
        "embedding_bag",
        [](const Tensor& indices, const Tensor& weight, Maybe offsets, const std::string& mode,
           Maybe per_sample_weights, TruthFlag include_last_offset,
           std::optional<int64_t> padding_idx) {
            return aten::embedding_bag(
                indices, weight,
                {offsets, mode, per_sample_weights, include_last_offset, padding_idx});
        },
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none(), nb::arg(),
        nb::arg().none(), located);
    module.def(
        "safe_softmax", [](const Tensor& x, int64_t dim) { return aten::safe_softmax(x, dim); },
        located);
    module.def(
        "scaled_dot_product_attention",
        [](const Tensor& query, const Tensor& key, const Tensor& value, Maybe mask, double dropout,
           TruthFlag is_causal, std::optional<double> scale, TruthFlag group_heads,
           Maybe random_key) {
            return aten::scaled_dot_product_attention(
                query, key, value, {mask, dropout, is_causal, scale, group_heads, random_key});
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg().none(),
        nb::arg(), nb::arg().none(), located);
}

// In the order of ConvolutionSizes.
aten::ConvolutionSizes convolution_from(nb::args given) {
    aten::ConvolutionSizes sizes;
    sizes.in_channels = integer_from(given[0]);
    sizes.out_channels = integer_from(given[1]);
    sizes.groups = integer_from(given[2]);
    sizes.kernel = integers_from(given[3]);
    sizes.stride = integers_from(given[4]);
    sizes.dilation = integers_from(given[5]);
    sizes.output_padding = integers_from(given[6]);
    if (nb::isinstance<nb::str>(given[7]))
        sizes.padding = nb::cast<std::string>(given[7]);
    else
        sizes.padding = integers_from(given[7]);
    sizes.padding_mode = nb::cast<std::string>(given[8]);
    sizes.has_bias = truth_of(given[9]);
    return sizes;
}

void bind_modules(nb::module_& module) {
    using ir::Shape;
    module.def("recurrent_parameters", [](const std::string& name, const std::string& mode,
                                          int64_t input, int64_t hidden, int64_t layers,
                                          TruthFlag has_bias, double dropout,
                                          TruthFlag is_bidirectional, int64_t projection) {
        return aten::recurrent_parameters(
            name, {mode, input, hidden, layers, has_bias, is_bidirectional, dropout, projection});
    });
    module.def("cell_parameters",
               [](int64_t input, int64_t hidden, int64_t gates, TruthFlag has_bias) {
                   return aten::cell_parameters(input, hidden, gates, has_bias);
               });
    module.def("shown_rows", &aten::shown_rows);
    module.def("attention_parameters",
               [](int64_t width, int64_t heads, int64_t key_width, int64_t value_width,
                  TruthFlag has_bias, TruthFlag has_added_row) {
                   return aten::attention_parameters(width, heads, key_width, value_width, has_bias,
                                                     has_added_row);
               });
    module.def("convolution_parameters", [](bool is_transposed, nb::args sizes) {
        return aten::convolution_parameters(convolution_from(sizes), is_transposed);
    });
    module.def("shown_convolution",
               [](nb::args sizes) { return aten::shown_convolution(convolution_from(sizes)); });
    module.def("widths_before",
               [](nb::args sizes) { return aten::widths_before(convolution_from(sizes)); });
    module.def("padding_for", [](const Shape& input, const Shape& wanted, nb::args sizes) {
        return aten::padding_for(convolution_from(sizes), input, wanted);
    });
    // (cutoffs, widths, sizes)
    module.def("class_clusters", [](int64_t features, int64_t classes,
                                    const std::vector<double>& cutoffs, double division) {
        const aten::ClassClusters found =
            aten::class_clusters(features, classes, cutoffs, division);
        return nb::make_tuple(tuple_from(found.cutoffs), tuple_from(found.widths),
                              tuple_from(found.sizes));
    });
    module.def("check_clustered", &aten::check_clustered);
    module.def("check_fractional", &aten::check_fractional, nb::arg("module"), nb::arg("has_size"),
               nb::arg("ratios").none());
}

}  // namespace

void bind_aten_images(nb::module_& module) {
    bind_modules(module);
    bind_convolutions(module);
    bind_norms(module);
    bind_pools(module);
    bind_sampling(module);
}

}  // namespace composit::python

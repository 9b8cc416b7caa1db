// Operations of images of composit/nn, into module composit._core.nn.
#include "casters.h"
#include "composit/base/errors_as.h"
#include "composit/nn/operations.h"
#include "composit/nn/padding.h"
#include "composit/nn/pooling.h"
#include "composit/nn/rearranging.h"
#include "composit/nn/resizing.h"
#include "flags.h"
#include "location.h"
#include "nn.h"

#include <nanobind/stl/pair.h>

namespace composit::python {

using Integers = std::vector<int64_t>;

namespace {

// A number, or a tuple or list of numbers.
std::vector<double> factors_from(nb::handle source) {
    std::vector<double> factors;
    const auto add = [&](nb::handle item) {
        const double factor = PyFloat_AsDouble(item.ptr());
        if (factor == -1 && PyErr_Occurred() != nullptr) {
            if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
            PyErr_Clear();
            fail<TypeError>("interpolate: scale_factor is ", nb::repr(source).c_str(),
                            ". A number, or one for each spatial axis, is required.");
        }
        factors.push_back(factor);
    };
    if (PyTuple_Check(source.ptr()) || PyList_Check(source.ptr()))
        for (const nb::handle item : source) add(item);
    else
        add(source);
    return factors;
}

}  // namespace

void bind_nn_images(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "convolution",
        [](const Tensor& x, const Tensor& filters, bool channels_last, const Integers& strides,
           const Integers& padding, const Integers& dilation, int64_t groups,
           const MaybeOperand& bias, const std::string& padding_mode, bool same_padding) {
            return nn::convolution(x, filters,
                                   {channels_last, strides, padding, dilation, groups, bias,
                                    padding_mode, same_padding});
        },
        located);
    module.def(
        "transposed_convolution",
        [](const Tensor& x, const Tensor& filters, bool channels_last, const Integers& strides,
           const Integers& padding, const Integers& output_padding, const Integers& dilation,
           int64_t groups, const MaybeOperand& bias) {
            return nn::transposed_convolution(
                x, filters,
                {channels_last, strides, padding, output_padding, dilation, groups, bias});
        },
        located);
    const auto pool = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, const Integers& kernel_size, bool channels_last,
                       const Integers& strides, const Integers& padding, const Integers& dilation,
                       bool ceil_mode, bool count_include_pad) {
                return function(x, {kernel_size, channels_last, strides, padding, dilation,
                                    ceil_mode, count_include_pad});
            },
            located);
    };
    pool("max_pool", nn::max_pool);
    pool("max_pool_with_indices", [](const Tensor& x, const nn::PoolOptions& options) {
        return errors_as("max_pool", [&] { return nn::max_pool_with_indices(x, options); });
    });
    module.def(
        "max_unpool",
        [](const Tensor& x, const Tensor& indices, const Integers& kernel_size, bool channels_last,
           const Integers& strides, const Integers& padding, const Integers& output_size) {
            return nn::max_unpool(x, indices, {kernel_size, channels_last, strides, padding},
                                  output_size);
        },
        located);
    pool("average_pool", nn::average_pool);
    module.def(
        "lp_pool",
        [](const Tensor& x, double norm_type, const Integers& kernel_size, bool channels_last,
           const Integers& strides, bool ceil_mode) {
            return nn::lp_pool(x, norm_type,
                               {kernel_size, channels_last, strides, {}, {}, ceil_mode});
        },
        located);
    module.def("adaptive_average_pool", &nn::adaptive_average_pool, located);
    module.def("adaptive_max_pool", &nn::adaptive_max_pool, located);
    module.def("global_average_pool", &nn::global_average_pool, located);
    module.def("global_max_pool", &nn::global_max_pool, located);
    module.def(
        "pad",
        [](const Tensor& x, const Integers& padding, const std::string& mode, double value) {
            return nn::pad(x, padding, mode, value);
        },
        located);
    module.def(
        "interpolate",
        [](const Tensor& x, const Integers& size, nb::handle scale_factor, const std::string& mode,
           bool align_corners, bool antialias, bool channels_last) {
            return nn::interpolate(x, {size, factors_from(scale_factor), mode, align_corners,
                                       antialias, channels_last});
        },
        located);
    module.def("pixel_shuffle", &nn::pixel_shuffle, located);
    module.def("pixel_unshuffle", &nn::pixel_unshuffle, located);
    module.def("channel_shuffle", &nn::channel_shuffle, located);
    module.def(
        "unfold",
        [](const Tensor& x, const Integers& kernel_size, const Integers& strides,
           const Integers& padding, const Integers& dilation) {
            return nn::unfold(x, {kernel_size, strides, padding, dilation});
        },
        located);
    module.def(
        "fold",
        [](const Tensor& columns, const Integers& output_size, const Integers& kernel_size,
           const Integers& strides, const Integers& padding, const Integers& dilation) {
            return nn::fold(columns, output_size, {kernel_size, strides, padding, dilation});
        },
        located);
}

}  // namespace composit::python

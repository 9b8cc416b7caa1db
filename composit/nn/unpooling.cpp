// max_unpool: an operation of its own, as its gradient is PyTorch's: where an element is written
// several times, every one of its sources gets it.
#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ir/operation.h"
#include "composit/nn/pooling.h"
#include "composit/nn/spatial.h"
#include "composit/numpy/creation.h"
#include "composit/ops/ops.h"

namespace composit::nn {
namespace {

using ir::Shape;
using Tensors = std::vector<Tensor>;

int64_t size_of(const ir::Node& node) { return node.attributes().get<int64_t>("size"); }

// Number i in row i, beside every index of it.
Tensor row_numbers(const Tensor& indices) { return ops::iota({indices.shape()[0], 1}, 0); }

Tensor scattered(const ir::Node& node) {
    const Tensor &x = node.operand(0), &indices = node.operand(1);
    const Tensor zeros = ops::full({x.shape()[0], size_of(node)}, numpy::scalar(x.dtype(), 0));
    return ops::scatter(zeros, {row_numbers(indices), indices}, {0, 1}, x, false);
}

// (rows, n) elements to the places (rows, n) of rows of `size`.
const ir::Operation& max_unpool_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "max_unpool",
        .doc = "Elements of rows written to their places in longer rows of zeros.",
        .infer =
            [](const Tensors& x, const ir::Attributes& attributes) {
                return std::vector<ir::TensorType>{
                    {{x[0].shape()[0], attributes.get<int64_t>("size")}, x[0].dtype()}};
            },
        .vjp =
            [](const ir::Node& node, const Tensors& g, const std::vector<bool>&) {
                const Tensor& indices = node.operand(1);
                return Tensors{ops::gather(g[0], {row_numbers(indices), indices}, {0, 1}),
                               Tensor()};
            },
        .batch =
            [](const ir::Node& node, const Tensors& x, const std::vector<bool>& batched,
               int64_t size) {
                Tensors joined;
                for (size_t i = 0; i < 2; ++i) {
                    Shape shape = node.operand(static_cast<int>(i)).shape();
                    shape.insert(shape.begin(), size);
                    const Tensor whole = batched[i] ? x[i] : ops::broadcast_to(x[i], shape);
                    joined.push_back(ops::reshape(whole, {shape[0] * shape[1], shape[2]}));
                }
                const Tensor y = ir::make(max_unpool_operation(), joined, node.attributes());
                return Tensors{ops::reshape(y, {size, node.operand(0).shape()[0], size_of(node)})};
            },
        .decompose = [](const ir::Node& node) { return Tensors{scattered(node)}; },
        .check =
            [](const Tensors& x, const ir::Attributes& attributes) {
                ir::check_operand_count("max_unpool", x, 2);
                ir::check_lengths("max_unpool", x);
                const auto size = ir::checked_attribute<int64_t>("max_unpool", attributes, "size");
                user_check(x[0].rank() == 2 && x[0].shape() == x[1].shape() && size >= 0 &&
                               size <= ir::most_length && ir::is_integer(x[1].dtype()) &&
                               !ir::is_complex(x[0].dtype()),
                           "max_unpool: operands are ", x[0].type(), " and ", x[1].type(),
                           ", size is ", size,
                           ". Rows of real elements and of as many integers are required.");
            },
    });
    return operation;
}

}  // namespace

void register_unpooling() { max_unpool_operation(); }

Tensor max_unpool(const Tensor& x, const Tensor& indices, const PoolOptions& options,
                  const std::vector<int64_t>& output_size) {
    constexpr std::string_view name = "max_unpool";
    const size_t count = spatial_axes(name, x);
    user_check<TypeError>(!ir::is_complex(x.dtype()) && ir::is_integer(indices.dtype()),
                          "max_unpool: x is ", x.dtype(), ", indices are ", indices.dtype(),
                          ". A real dtype and integers are required.");
    user_check(x.shape() == indices.shape(), "max_unpool: x has shape ", x.shape(),
               ", indices have shape ", indices.shape(), ". They must be equal.");
    user_check(!options.kernel_size.empty(), "max_unpool: kernel_size is empty.");
    user_check(options.dilation.empty() && !options.ceil_mode,
               "max_unpool: dilation or ceil_mode is given. output_size says what they would.");
    const Axes window = per_axis(name, "kernel_size", options.kernel_size, count, 1, 1);
    const Axes strides = per_axis(name, "strides", options.strides, count, 1, 1);
    const Axes padding = per_axis(name, "padding", options.padding, count, 0, 0);
    const Axes given = per_axis(name, "output_size", output_size, count, 0, 0);
    const Tensor first = channels_first(numpy::strong(x), options.channels_last);
    const Tensor places = channels_first(numpy::strong(indices), options.channels_last);
    Shape shape{first.shape()[0], first.shape()[1]};
    for (size_t d = 0; d < count; ++d) {
        const int64_t length = (first.shape()[d + 2] - 1) * strides[d] - 2 * padding[d] + window[d];
        if (!output_size.empty())
            user_check(given[d] > length - strides[d] && given[d] < length + strides[d],
                       "max_unpool: output_size is ", given, ", whose number ", d,
                       " is not what such windows have that many of: between ", length - strides[d],
                       " and ", length + strides[d], " is required.");
        const int64_t made = output_size.empty() ? length : given[d];
        user_check(made >= 0, "max_unpool: the result would have ", made,
                   " elements along spatial axis ", d, ": x has shape ", x.shape(), ", padding is ",
                   padding, ".");
        shape.push_back(made);
    }
    const int64_t rows = shape[0] * shape[1];
    const int64_t from = rows == 0 ? 0 : ir::element_count(first.shape()) / rows;
    const int64_t size = rows == 0 ? 0 : ir::element_count(shape) / rows;
    const Tensor y = ir::make(
        max_unpool_operation(),
        {ops::reshape(first, {rows, from}), ops::reshape(places, {rows, from})}, {{"size", size}});
    return channels_back(ops::reshape(y, shape), options.channels_last);
}

}  // namespace composit::nn

// Products of matrices, and convolutions.
#include "composit/base/error.h"
#include "composit/ir/operation.h"
#include "composit/onnx/save_rules.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::onnx::saving {
namespace {

using Axes = std::vector<int64_t>;

Shape lengths(const Written& x, const Axes& axes) {
    Shape shape;
    for (const int64_t axis : axes) shape.push_back(x.shape[static_cast<size_t>(axis)]);
    return shape;
}

// As matrices in the last two axes, behind the batch: rows of `first`, columns of `second`.
Written as_matrices(GraphWriter& out, const Written& x, const Axes& batch, const Axes& first,
                    const Axes& second) {
    Axes order = batch;
    order.insert(order.end(), first.begin(), first.end());
    order.insert(order.end(), second.begin(), second.end());
    Shape shape = lengths(x, batch);
    shape.push_back(ir::element_count(lengths(x, first)));
    shape.push_back(ir::element_count(lengths(x, second)));
    return out.reshape(out.transpose(x, order), shape);
}

ManyWritten contract(GraphSaver& saver, const Node& node, const ManyWritten& x) {
    GraphWriter& out = saver.out;
    const ops::Contraction c = ops::contraction_of(node.attributes());
    const DType dtype = node.types()[0].dtype;
    // ONNX multiplies matrices of floats and of wide integers.
    const DType inner = ir::is_floating(dtype) || ir::size_of(dtype) >= 4 ? dtype : DType::int32;
    const Axes free_a = ops::free_axes(node.operand(0), c.batch_a, c.contracted_a);
    const Axes free_b = ops::free_axes(node.operand(1), c.batch_b, c.contracted_b);
    const Written a = as_matrices(out, out.cast(x[0], inner), c.batch_a, free_a, c.contracted_a);
    const Written b = as_matrices(out, out.cast(x[1], inner), c.batch_b, c.contracted_b, free_b);
    Shape shape = a.shape;
    shape.back() = b.shape.back();
    const Written product = out.add("MatMul", {a, b}, {inner, shape});
    return {out.cast(out.reshape(product, node.types()[0].shape), dtype)};
}

ManyWritten convolve(GraphSaver& saver, const Node& node, const ManyWritten& x) {
    GraphWriter& out = saver.out;
    const ir::Attributes& a = node.attributes();
    const Axes &low = a.get<Axes>("padding_low"), &high = a.get<Axes>("padding_high"),
               &spread = a.get<Axes>("input_dilation");
    const ir::TensorType& type = node.types()[0];
    user_check<NotSupported>(ir::is_floating(type.dtype), "onnx.save: convolve of ", type.dtype,
                             " has no operator of ONNX. A floating dtype is required",
                             node.location().empty() ? "" : " (" + node.location() + ")", ".");
    Written image = x[0];
    Axes pads = low;
    const auto is_negative = [](int64_t n) { return n < 0; };
    const bool is_spread =
        std::any_of(spread.begin(), spread.end(), [](int64_t n) { return n != 1; });
    if (is_spread || std::any_of(low.begin(), low.end(), is_negative) ||
        std::any_of(high.begin(), high.end(), is_negative)) {
        // What Conv cannot do is done before.
        Axes around{0, 0}, behind{0, 0}, between{0, 0};
        around.insert(around.end(), low.begin(), low.end());
        behind.insert(behind.end(), high.begin(), high.end());
        for (const int64_t n : spread) between.push_back(n - 1);
        const ir::Tensor padded =
            ops::pad(node.operand(0), ops::astype(ir::weak_scalar(0.0), type.dtype), around, behind,
                     between);
        image = saver.in_place_of(padded);
        pads = Axes(low.size() * 2, 0);
    } else {
        pads.insert(pads.end(), high.begin(), high.end());
    }
    const Shape window(x[1].shape.begin() + 2, x[1].shape.end());
    return {out.add(
        "Conv", {image, x[1]}, {type.dtype, type.shape},
        {integers_attribute("strides", a.get<Axes>("strides")),
         integers_attribute("dilations", a.get<Axes>("filter_dilation")),
         integers_attribute("pads", pads), integer_attribute("group", a.get<int64_t>("groups")),
         integers_attribute("kernel_shape", window)})};
}

}  // namespace

void add_product_rules(SaveRules& rules) {
    rules["contract"] = contract;
    rules["convolve"] = convolve;
}

}  // namespace composit::onnx::saving

// pad: a value around and between the elements.
#include "composit/base/error.h"
#include "composit/ops/batching.h"
#include "composit/ops/checks.h"
#include "composit/ops/nest.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"
#include "composit/ops/rules.h"

namespace composit::ops {

namespace {

const Axes& list_of(const Attributes& attributes, std::string_view name) {
    return attributes.get<Axes>(name);
}
const Axes& list_of(const Node& node, std::string_view name) {
    return list_of(node.attributes(), name);
}

// A value per slice cannot be padded with at once: zeros are, and what is not from x is then
// replaced.
Tensors batch_pad(const Node& node, const Tensors& operands, const Batched& batched, int64_t n) {
    const Axes &low = list_of(node, "low"), &high = list_of(node, "high"),
               &interior = list_of(node, "interior");
    const Tensor x = with_batch(operands[0], batched[0], n);
    const auto padded = [&](const Tensor& value) {
        return pad(x, value, prefixed(0, low), prefixed(0, high), prefixed(0, interior));
    };
    if (!batched[1]) return {padded(operands[1])};
    const Tensor yes = full(node.operand(0).shape(),
                            ir::constant(Array::scalar(DType::boolean, 1), "scalar_True"));
    const Tensor no = ir::constant(Array::scalar(DType::boolean, 0), "scalar_False");
    const Tensor zero = ir::constant(Array::scalar(x.dtype(), 0), "scalar_0");
    const Tensor value = with_rank(operands[1], node.operand(0).rank());
    return {map("where", {pad(yes, no, low, high, interior), padded(zero), value})};
}

const ir::Operation& pad_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "pad",
        .doc = "A value around and between the elements; negative amounts crop.",
        .infer =
            [](const Tensors& x, const Attributes& attributes) {
                const Axes &low = list_of(attributes, "low"), &high = list_of(attributes, "high");
                Shape shape;
                for (size_t d = 0; d < low.size(); ++d) {
                    const int64_t n = x[0].shape()[d],
                                  step = list_of(attributes, "interior")[d] + 1;
                    shape.push_back((n == 0 ? 0 : (n - 1) * step + 1) + low[d] + high[d]);
                    user_check(shape.back() >= 0, "pad: cropping ", -low[d], " and ", -high[d],
                               " from axis ", d, " of ", x[0].shape(),
                               " leaves a negative length.");
                }
                internal_check(x[1].shape().empty() && x[1].dtype() == x[0].dtype(), "pad: value");
                return std::vector<TensorType>{{shape, x[0].dtype()}};
            },
        .vjp = [](const Node& node, const Tensors& g, const Wanted& wanted) -> Tensors {
            const Axes &low = list_of(node, "low"), &interior = list_of(node, "interior");
            const Tensor& x = node.operand(0);
            // Positions of x inside the result; those that were cropped away get zero.
            Axes starts, lengths, steps, before, after, none(low.size(), 0);
            for (size_t d = 0; d < low.size(); ++d) {
                const int64_t step = interior[d] + 1, n = x.shape()[d],
                              total = node.types()[0].shape[d];
                const auto [first, count] = kept_by_padding(n, low[d], step, total);
                starts.push_back(count ? low[d] + first * step : 0);
                lengths.push_back(count);
                steps.push_back(step);
                before.push_back(count ? first : 0);
                after.push_back(n - count - before.back());
            }
            const Tensor zero = ir::constant(Array::scalar(g[0].dtype(), 0), "scalar_0.0");
            Tensors result(2);
            const Tensor inside = slice(g[0], starts, lengths, steps);
            if (wanted[0])
                result[0] =
                    inside.shape() == x.shape() ? inside : pad(inside, zero, before, after, none);
            if (wanted[1]) {
                Axes all;
                for (int64_t d = 0; d < g[0].rank(); ++d) all.push_back(d);
                result[1] = map("subtract", {reduce(Combiner::sum, g[0], all),
                                             reduce(Combiner::sum, inside, all)});
            }
            return result;
        },
        .batch = batch_pad,
        .lower =
            [](const Node& node, Lowering& lowering) {
                const Access target = lowering.new_output(0);
                emit_pad(lowering, lowering.operand(0), lowering.operand(1), list_of(node, "low"),
                         list_of(node, "interior"), node.types()[0].shape, target);
            },
        .moves_elements = true,
        .check = check_pad,
    });
    return operation;
}

}  // namespace

Tensor pad(const Tensor& x, const Tensor& value, std::vector<int64_t> low,
           std::vector<int64_t> high, std::vector<int64_t> interior) {
    check_lists("pad", x.shape().size(), {{"low", low}, {"high", high}, {"interior", interior}});
    return ir::make(pad_operation(), {x, value},
                    {{"low", low}, {"high", high}, {"interior", interior}});
}

void register_pad() { pad_operation(); }

}  // namespace composit::ops

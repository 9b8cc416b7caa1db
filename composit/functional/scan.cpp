// scan as a loop whose state is the carry and the stacks that its results are written to.
#include "composit/functional/scan.h"

#include "composit/base/error.h"
#include "composit/functional/loop_body.h"
#include "composit/numpy/operand.h"
#include "composit/ops/ops.h"

namespace composit {
namespace {

int64_t checked_length(const Tensors& xs, std::optional<int64_t> given) {
    user_check(given || !xs.empty(),
               "scan: neither xs nor length is given. One of them is required.");
    user_check(!given || *given >= 0, "scan: length is ", given.value_or(0),
               ". It must not be negative.");
    const Tensor* first = nullptr;
    for (const Tensor& x : xs) {
        user_check(x.rank() > 0,
                   "scan: a part of xs is 0-d. A leading axis, which the scan goes "
                   "along, is required.");
        if (first == nullptr) first = &x;
        user_check(x.shape()[0] == first->shape()[0], "scan: parts of xs have shapes ",
                   first->shape(), " and ", x.shape(),
                   ". Leading axes of one length are required.");
        user_check(!given || x.shape()[0] == *given, "scan: length is ", given.value_or(0),
                   ", and a part of xs has shape ", x.shape(), ". They must be equal.");
    }
    return given ? *given : first->shape()[0];
}

}  // namespace

Scanned scan(const ScanBody& f, const Tensors& given, const Tensors& xs,
             std::optional<int64_t> given_length, bool reverse, const std::string& name) {
    const int64_t length = checked_length(xs, given_length);
    Tensors sequences;
    for (const Tensor& x : xs) sequences.push_back(numpy::strong(x));
    const auto place_of = [&](const Tensor& i) {
        if (!reverse) return i;
        const Tensor last = ir::constant(ir::Array::scalar(ir::DType::int64, length - 1));
        return ops::map("subtract", {last, i});
    };
    const LoopBody step = [&](const Tensor& i, const Tensors& carry) {
        Tensors rows;
        for (const Tensor& x : sequences) rows.push_back(ops::gather(x, {place_of(i)}, {0}));
        Scanned made = f(carry, rows);
        user_check<TypeError>(made.carry.size() == carry.size(), "scan: the body returned ",
                              made.carry.size(), " tensors for a carry of ", carry.size(),
                              ". As many are required.");
        made.carry.insert(made.carry.end(), made.ys.begin(), made.ys.end());
        return made.carry;
    };
    Tensors operands = settled(step, given);
    const size_t carried = operands.size();
    ir::Body body = traced_body(step, operands, name);
    for (size_t k = 0; k < carried; ++k)
        check_part("scan", "carry", k, operands[k], body.results[k]);
    const Tensor place = place_of(body.parameters[0]);
    for (size_t k = carried; k < body.results.size(); ++k) {
        Tensor& y = body.results[k];
        ir::Shape shape = y.shape();
        shape.insert(shape.begin(), length);
        const Tensor zero = ir::constant(ir::Array::zeros(y.dtype(), {}));
        operands.push_back(ops::full(shape, zero));
        body.parameters.push_back(ir::input(text("ys", k - carried), y.dtype(), shape));
        y = ops::scatter(body.parameters.back(), {place}, {0}, y, false);
    }
    const Tensors all = loop_of(std::move(body), operands, 0, length);
    const auto middle = all.begin() + static_cast<long>(carried);
    return {{all.begin(), middle}, {middle, all.end()}};
}

}  // namespace composit

// Attention in PyTorch's terms, by composit::nn's where that has it.
#include "composit/aten/attention.h"

#include "composit/aten/rank.h"
#include "composit/aten/rows.h"
#include "composit/aten/series.h"
#include "composit/nn/layers.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <cmath>

namespace composit::aten {
namespace {

int64_t length_of(const Tensor& x, int64_t axis) {
    return x.shape()[static_cast<size_t>(x.rank() + axis)];
}

// The mask as what is added to scores.
Tensor additive(const Tensor& mask, DType dtype) {
    if (mask.dtype() != DType::boolean) return mask;
    return rows::where(mask, numpy::zeros({}, dtype), numpy::full({}, -infinity, dtype));
}

// Added to scores so that query i looks at keys 0 to i alone.
Tensor causal(int64_t queries, int64_t keys, DType dtype) {
    std::vector<double> values;
    for (int64_t i = 0; i < queries; ++i)
        for (int64_t k = 0; k < keys; ++k) values.push_back(k <= i ? 0 : -infinity);
    return ops::astype(numpy::array<double>(values, {queries, keys}), dtype);
}

}  // namespace

Tensor safe_softmax(const Tensor& x, int64_t dim) {
    if (x.size() == 0) return x;
    const Tensor sees = numpy::max(x, dim, true) > -infinity, zero = rows::zero_of(x);
    return rows::where(sees, nn::softmax(rows::where(sees, x, zero), dim), zero);
}

Tensor scaled_dot_product_attention(const Tensor& given_query, const Tensor& given_key,
                                    const Tensor& given_value, const AttentionOptions& o) {
    for (const Tensor& each : {given_query, given_key, given_value})
        check_rank("scaled_dot_product_attention", each, o.group_heads ? 3 : 2);
    Tensor query = given_query, key = given_key, value = given_value;
    if (o.group_heads) {
        user_check<RuntimeError>(length_of(key, -3) > 0,
                                 "scaled_dot_product_attention: the key has no heads.");
        const int64_t groups = length_of(query, -3) / length_of(key, -3);
        key = numpy::repeat(key, groups, -3);
        value = numpy::repeat(value, groups, -3);
    }
    const double root = std::sqrt(static_cast<double>(length_of(query, -1)));
    Tensor mask = o.mask ? additive(o.mask, query.dtype()) : Tensor();
    if (o.is_causal) {
        const Tensor behind = causal(length_of(query, -2), length_of(key, -2), query.dtype());
        mask = mask ? mask + behind : behind;
    }
    if (o.scale && std::abs(*o.scale - 1 / root) > 1e-12 * std::max(std::abs(*o.scale), 1 / root))
        query = query * (*o.scale * root);
    const bool may_be_blind = static_cast<bool>(o.mask);  // a row may let a query see nothing
    if (o.dropout == 0 && !may_be_blind)
        return nn::scaled_dot_product_attention(query, key, value, mask);
    Tensor scores = numpy::matmul(query, numpy::swapaxes(key, -1, -2)) * (1 / root);
    if (mask) scores = scores + mask;
    Tensor weights = may_be_blind ? safe_softmax(scores, -1) : nn::softmax(scores, -1);
    if (o.dropout != 0) weights = nn::dropout(weights, o.dropout, o.random_key);
    return numpy::matmul(weights, value);
}

}  // namespace composit::aten

// Sums over bags are a product with the matrix of members.
#include "composit/aten/embedding.h"

#include "composit/aten/rank.h"
#include "composit/aten/series.h"
#include "composit/base/error.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"

namespace composit::aten {

Tensor embedding_bag(const Tensor& indices, const Tensor& weight, const EmbeddingBagOptions& o) {
    user_check(o.mode == "sum" || o.mode == "mean" || o.mode == "max",
               "mode has to be one of sum, mean or max");
    check_rank("embedding_bag: weight", weight, 2);
    user_check<ValueError>(indices.rank() == 2 || indices.rank() == 1,
                           "embedding_bag: input has to be a 1D or 2D Tensor, but got Tensor of "
                           "dimension ",
                           indices.rank());
    user_check<ValueError>(indices.rank() == 2 || (o.offsets && o.offsets.rank() == 1),
                           "embedding_bag: offsets has to be a 1D Tensor where the input is one.");
    Tensor line = indices, starts;
    int64_t bags = 0;
    if (indices.rank() == 2) {
        bags = indices.shape()[0];
        line = numpy::reshape(indices, {-1});
        starts = numpy::arange(bags) * indices.shape()[1];
    } else {
        bags = o.offsets.shape()[0] - (o.include_last_offset ? 1 : 0);
        starts = numpy::get_item(o.offsets, {numpy::Slice{{}, bags}});
    }
    const Tensor place = numpy::expand_dims(numpy::arange(line.shape()[0]), 1);
    const Tensor has_begun = place >= numpy::reshape(starts, {1, -1});
    const Tensor bag = numpy::sum(ops::astype(has_begun, DType::int64), 1) - 1;
    Tensor member =
        rows::equal(numpy::expand_dims(numpy::arange(bags), 1), numpy::expand_dims(bag, 0));
    if (o.padding_idx) {
        const int64_t count = weight.shape()[0];
        const Tensor is_padding = rows::equal(line, ((*o.padding_idx % count) + count) % count);
        member = member & ~numpy::expand_dims(is_padding, 0);
    }
    Tensor chosen = numpy::take(weight, line, 0);
    if (o.mode == "max") {
        const Tensor seen =
            rows::where(numpy::expand_dims(member, 2), numpy::expand_dims(chosen, 0),
                        numpy::full({}, -infinity, chosen.dtype()));
        const Tensor is_empty = ~numpy::any(member, 1);
        return rows::where(numpy::expand_dims(is_empty, 1), rows::zero_of(chosen),
                           numpy::max(seen, 1));
    }
    if (o.per_sample_weights) chosen = chosen * numpy::reshape(o.per_sample_weights, {-1, 1});
    const Tensor shares = ops::astype(member, chosen.dtype());
    const Tensor total = numpy::matmul(shares, chosen);
    if (o.mode == "sum") return total;
    return total / rows::maximum(numpy::sum(shares, 1, {}, true), 1);
}

}  // namespace composit::aten

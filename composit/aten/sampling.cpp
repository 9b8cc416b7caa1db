// Draws by running totals, by Gumbel's noise and by gamma variables.
#include "composit/aten/sampling.h"

#include "composit/aten/rows.h"
#include "composit/aten/sorting.h"
#include "composit/base/error.h"
#include "composit/ir/dtype_traits.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/sorting.h"
#include "composit/ops/ops.h"
#include "composit/random/distributions.h"

namespace composit::aten {
namespace {

using ir::DType;
using numpy::Ellipsis;
using numpy::NewAxis;

// By the inverse of the running totals. Row i's lie in [i, i + 1], so that one search does.
Tensor by_totals(const Tensor& key, const Tensor& weights, int64_t count) {
    const int64_t classes = weights.shape().back(), rows = weights.size() / classes;
    const Tensor totals =
        numpy::cumsum(numpy::reshape(ops::astype(weights, DType::float64), {rows, classes}), -1);
    const Tensor number = numpy::reshape(numpy::arange(rows), {rows, 1});
    const Tensor last = numpy::get_item(totals, {numpy::Slice{}, numpy::Slice{-1, {}}});
    const Tensor edges = numpy::reshape(totals / last + number, {-1});
    const Tensor fractions = random::uniform(key, {rows, count}, DType::float64) + number;
    const Tensor places =
        numpy::searchsorted(edges, fractions, numpy::Side::right) - number * classes;
    ir::Shape shape = weights.shape();
    shape.back() = count;
    return numpy::reshape(numpy::clip(places, 0, classes - 1), shape);
}

}  // namespace

Tensor multinomial(const Tensor& key, const Tensor& weights, int64_t count, bool replacement) {
    user_check<TypeError>(ir::is_floating(weights.dtype()), "multinomial: weights have dtype ",
                          weights.dtype(), ". Floats are required.");
    user_check<RuntimeError>(weights.rank() == 1 || weights.rank() == 2,
                             "prob_dist must be 1 or 2 dim");
    user_check(weights.shape().back() > 0, "multinomial: weights have shape ", weights.shape(),
               ". Classes are required.");
    user_check<RuntimeError>(count > 0, "cannot sample n_sample <= 0 samples");
    user_check<RuntimeError>(
        replacement || count <= weights.shape().back(),
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
    if (count == 1) {
        const Tensor place = random::categorical(random::fold_in(key, 0), rows::log(weights), -1);
        return numpy::get_item(place, {Ellipsis{}, NewAxis{}});
    }
    if (replacement) return by_totals(key, weights, count);
    // The largest of logits with Gumbel noise are draws without replacement.
    const Tensor noisy = rows::log(weights) + random::gumbel(key, weights.shape(), weights.dtype());
    return topk(noisy, count).second;
}

Tensor dirichlet(const Tensor& key, const Tensor& concentration) {
    const DType dtype = concentration.dtype();
    user_check<TypeError>(ir::is_floating(dtype), "dirichlet: the concentration has dtype ", dtype,
                          ". Floats are required.");
    const Tensor draws = random::gamma(key, concentration, concentration.shape(), DType::float64);
    const Tensor found = draws / numpy::sum(draws, -1, {}, true);
    const double least = ir::float_format(dtype).least_normal(), most = 1 - 0x1p-53;
    return ops::astype(numpy::clip(found, least, most), dtype);
}

}  // namespace composit::aten

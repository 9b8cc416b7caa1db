// Connectionist temporal classification: probabilities of all alignments, by one scan over times.
#include "composit/base/errors_as.h"
#include "composit/functional/scan.h"
#include "composit/nn/differentiation.h"
#include "composit/nn/loss_parts.h"
#include "composit/nn/losses.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"

#include <algorithm>
#include <limits>

namespace composit::nn {
namespace {

constexpr std::string_view name = "ctc_loss";
constexpr double nothing = -std::numeric_limits<double>::infinity();  // the logarithm of 0

// log(sum(exp(x))) of a stack; where all are the logarithm of 0 it is that, with slopes of 0 (which
// a gradient of NaN passes, as torch's), or of NaN (`strict`).
Tensor log_sum(const Tensor& stacked, int64_t axis, bool strict = false) {
    const Tensor greatest = stop_gradient(numpy::max(stacked, axis, true));
    const Tensor shift = chosen(apply("equal", {greatest, nothing}), 0.0, greatest);
    const Tensor sum = numpy::sum(apply("exp", {stacked - shift}), axis);
    const Tensor back = numpy::squeeze(shift, axis);
    if (strict) return apply("log", {sum}) + back;
    const Tensor is_none = apply("equal", {sum, 0.0});
    const Tensor none = stop_gradient(
        chosen(is_none, numpy::scalar(sum.dtype(), 1), numpy::scalar(sum.dtype(), 0)));
    const Tensor offset = stop_gradient(chosen(is_none, nothing, back));
    return apply("log", {sum + none}) + offset;
}

Tensor integers(std::string_view what, const Tensor& x) {
    user_check<TypeError>(ir::is_integer(x.dtype()), name, ": ", what, " have dtype ", x.dtype(),
                          ". Integers are required.");
    return ops::astype(numpy::strong(x), DType::int64);
}

Tensor lengths_of(std::string_view what, const Tensor& x, int64_t batch) {
    const Tensor result = integers(what, x);
    user_check(x.size() == batch && x.rank() <= 1, name, ": ", what, " have shape ", x.shape(),
               ". (", batch, ",), one for each sequence, is required.");
    return numpy::reshape(result, {batch});
}

// (batch, length), of targets one after the other: what lies beyond a sequence's end does not
// matter.
Tensor padded_targets(const Tensor& targets, const Tensor& lengths, int64_t times) {
    const int64_t width = std::min(targets.size(), times), batch = lengths.size();
    if (width == 0) return ops::astype(ops::iota({batch, 0}, 1), DType::int64);
    const Tensor ends = numpy::cumsum(lengths);
    const Tensor places = numpy::expand_dims(ends - lengths, -1) + ops::iota({batch, width}, 1);
    return numpy::take(targets, apply("minimum", {places, targets.size() - 1}), 0);
}

// x moved to the right along the last axis, the logarithm of 0 before it; of the same length.
Tensor moved(const Tensor& x, int64_t steps) {
    const auto rank = static_cast<size_t>(x.rank());
    std::vector<int64_t> low(rank, 0), high(rank, 0), none(rank, 0);
    low.back() = steps;
    high.back() = -steps;
    return ops::pad(x, numpy::scalar(x.dtype(), nothing), low, high, none);
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probabilities, const Tensor& given_targets,
                const Tensor& given_input_lengths, const Tensor& given_target_lengths,
                const CtcOptions& options) {
    check_reduction(name, options.reduction);
    const int rank = log_probabilities.rank();
    user_check(rank == 2 || rank == 3, name, ": log_probabilities have shape ",
               log_probabilities.shape(),
               ". (times, batch, classes) or (times, classes) is "
               "required.");
    const bool is_alone = rank == 2;
    Tensor logs = all_floating(name, {log_probabilities})[0];
    if (is_alone) logs = numpy::expand_dims(logs, 1);
    const int64_t times = logs.shape()[0], batch = logs.shape()[1], classes = logs.shape()[2];
    user_check(options.blank >= 0 && options.blank < classes, name, ": blank is ", options.blank,
               ". One of ", classes, " classes is required.");
    const Tensor input_lengths = lengths_of("input_lengths", given_input_lengths, batch);
    const Tensor target_lengths = lengths_of("target_lengths", given_target_lengths, batch);
    Tensor targets = integers("targets", given_targets);
    if (is_alone && targets.rank() == 1) targets = numpy::expand_dims(targets, 0);
    user_check(targets.rank() == 1 || (targets.rank() == 2 && targets.shape()[0] == batch), name,
               ": targets have shape ", targets.shape(), ". (", batch,
               ", length), or one axis for all sequences, is required.");
    return errors_as(name, [&] {
        if (targets.rank() == 1) targets = padded_targets(targets, target_lengths, times);
        const int64_t length = targets.shape()[1], states = 2 * length + 1;
        // blank, target, blank, target, …, blank
        const Tensor column = numpy::expand_dims(targets, -1);
        const Tensor blank = numpy::scalar(DType::int64, static_cast<double>(options.blank));
        const Tensor pairs = numpy::reshape(
            numpy::concatenate({numpy::broadcast_to(blank, column.shape()), column}, -1),
            {batch, 2 * length});
        const Tensor labels =
            numpy::concatenate({pairs, numpy::broadcast_to(blank, {batch, 1})}, -1);
        const Tensor logs_of_labels = numpy::take_along_axis(
            logs, numpy::broadcast_to(numpy::expand_dims(labels, 0), {times, batch, states}), -1);
        // A blank may be left out between labels that differ: they follow each other at once.
        const Tensor place = ops::iota({batch, states}, 1);
        const Tensor two_before =
            numpy::take_along_axis(labels, apply("maximum", {place - 2, 0}), -1);
        const Tensor may_skip = (place >= 2) & apply("not_equal", {labels, blank}) &
                                apply("not_equal", {labels, two_before});
        const Tensor start = chosen(apply("equal", {place, 0}), numpy::scalar(logs.dtype(), 0),
                                    numpy::scalar(logs.dtype(), nothing));
        const auto step = [&](const Tensors& carry, const Tensors& x) {
            const Tensor& before = carry[0];
            const Tensor &now = x[0], &time = x[1];
            const Tensor skipped = chosen(may_skip, moved(before, 2), nothing);
            // The first label comes of the start as well, which is where the first blank was.
            const Tensor ways = numpy::stack({before, moved(before, 1), skipped}, 0);
            const Tensor next = log_sum(ways, 0) + now;
            const Tensor is_over = numpy::expand_dims(time >= input_lengths, -1);
            return Scanned{{chosen(is_over, before, next)}, {}};
        };
        const Tensor last =
            scan(step, {start}, {logs_of_labels, ops::iota({times}, 0)}, times, false, "alignments")
                .carry[0];
        const Tensor end = numpy::expand_dims(target_lengths * 2, -1);
        const Tensor is_end = apply("equal", {place, end}) | apply("equal", {place, end - 1});
        const Tensor ends = chosen(is_end, last, nothing);
        Tensor losses = -log_sum(ends, -1, !options.zero_infinity);
        if (options.zero_infinity) losses = chosen(apply("isinf", {losses}), 0.0, losses);
        if (options.reduction == "mean")
            losses = losses / ops::astype(apply("maximum", {target_lengths, 1}), losses.dtype());
        if (is_alone && options.reduction == "none") return numpy::squeeze(losses, 0);
        return reduced(name, losses, options.reduction);
    });
}

}  // namespace composit::nn

// Places of rows, which lengths decide.
#include "composit/aten/sequences.h"

#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace composit::aten {
namespace {

using ir::Shape;
using numpy::Slice;
using Tensors = std::vector<Tensor>;

// (first axis, …) as (a, b, …), and back.
Tensor unflattened(const Tensor& x, int64_t a, int64_t b) {
    Shape shape = {a, b};
    shape.insert(shape.end(), x.shape().begin() + 1, x.shape().end());
    return numpy::reshape(x, shape);
}

Tensor flattened(const Tensor& x) {
    Shape shape(x.shape().begin() + 1, x.shape().end());
    shape[0] *= x.shape()[0];
    return numpy::reshape(x, shape);
}

Tensor rows_of(const Tensor& x, int64_t first, int64_t end) {
    return numpy::get_item(x, {Slice{first, end}});
}

// `count` rows of one value behind x's axes but the first.
Tensor filled(const Tensor& x, int64_t count, const numpy::Operand& value) {
    Shape shape = x.shape();
    shape[0] = count;
    return numpy::full(shape, value, x.dtype());
}

// Consecutive times that have equally many sequences.
struct Segment {
    int64_t first, times, size;
};

std::vector<Segment> segments_of(const Integers& batch_sizes) {
    std::vector<Segment> found;
    int64_t first = 0;
    for (const int64_t size : batch_sizes) {
        if (found.empty() || found.back().size != size) found.push_back({first, 0, size});
        ++found.back().times;
        first += size;
    }
    return found;
}

Tensors first_rows(const Tensors& states, int64_t size) {
    Tensors made;
    for (const Tensor& state : states) made.push_back(rows_of(state, 0, size));
    return made;
}

Tensor rows_of(const Tensor& data, const Segment& part) {
    return unflattened(rows_of(data, part.first, part.first + part.times * part.size), part.times,
                       part.size);
}

// The outputs and the states of one call.
std::pair<Tensor, Tensors> called(const RecurrentStep& step, const Tensor& x,
                                  const Tensors& states) {
    Tensors made = step(x, states);
    user_check(made.size() == states.size() + 1, "run_packed: a step gave ", made.size(),
               " results. The outputs and ", states.size(), " states are required.");
    return {made[0], Tensors(made.begin() + 1, made.end())};
}

// Sequences that have ended keep the states they ended with.
Tensors run_forwards(const Tensor& data, const std::vector<Segment>& parts, Tensors states,
                     const RecurrentStep& step) {
    Tensors outputs;
    std::vector<Tensors> ended(states.size());  // the shortest sequences first
    for (const Segment& part : parts) {
        for (size_t i = 0; i < states.size(); ++i)
            if (const int64_t running = states[i].shape()[0]; running > part.size)
                ended[i].push_back(rows_of(states[i], part.size, running));
        auto [output, next] = called(step, rows_of(data, part), first_rows(states, part.size));
        outputs.push_back(flattened(output));
        states = std::move(next);
    }
    Tensors made = {numpy::concatenate(outputs)};
    for (size_t i = 0; i < states.size(); ++i) {
        Tensors whole = {states[i]};
        whole.insert(whole.end(), ended[i].rbegin(), ended[i].rend());
        made.push_back(numpy::concatenate(whole));
    }
    return made;
}

// From the last time on; sequences enter with their first state.
Tensors run_backwards(const Tensor& data, const std::vector<Segment>& parts, const Tensors& first,
                      const RecurrentStep& step) {
    Tensors outputs, states = first_rows(first, 0);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        Tensors entered;
        for (size_t i = 0; i < states.size(); ++i)
            entered.push_back(numpy::concatenate(
                {states[i], rows_of(first[i], states[i].shape()[0], part->size)}));
        auto [output, next] = called(step, numpy::flip(rows_of(data, *part), 0), entered);
        outputs.push_back(flattened(numpy::flip(output, 0)));
        states = std::move(next);
    }
    std::reverse(outputs.begin(), outputs.end());
    states.insert(states.begin(), numpy::concatenate(outputs));
    return states;
}

}  // namespace

Integers invert_permutation(const Integers& permutation) {
    Integers made(permutation.size());
    std::iota(made.begin(), made.end(), 0);
    std::stable_sort(made.begin(), made.end(), [&](int64_t a, int64_t b) {
        return permutation[static_cast<size_t>(a)] < permutation[static_cast<size_t>(b)];
    });
    return made;
}

void check_packed(bool has_batch_sizes) {
    user_check(has_batch_sizes, "PackedSequence: batch_sizes are required.");
}

Packing packing_of(const Integers& lengths, const Integers& sizes, bool batch_first,
                   bool enforce_sorted) {
    user_check(sizes.size() == 2, "pack_padded_sequence: lengths of axes are ", sizes,
               ". Those of times and of the batch are required.");
    const int64_t batch = sizes[batch_first ? 0 : 1], times = sizes[batch_first ? 1 : 0];
    const auto count = static_cast<int64_t>(lengths.size());
    user_check<RuntimeError>(count == batch,
                             "Expected `len(lengths)` to be equal to batch_size, but got ", count,
                             " (batch_size=", batch, ")");
    user_check<RuntimeError>(
        count > 0 && *std::min_element(lengths.begin(), lengths.end()) > 0,
        "Length of all samples has to be greater than 0, but found an element in 'lengths' that is "
        "<= 0");
    const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
    user_check<RuntimeError>(longest <= times, "pack_padded_sequence: a length is ", longest,
                             ", and the input has ", times,
                             " times. At most as many are required.");
    user_check<RuntimeError>(
        !enforce_sorted || std::is_sorted(lengths.rbegin(), lengths.rend()),
        "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can "
        "pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
        "requirement if you do not need ONNX exportability.");
    Packing made;
    Integers order(lengths.size());
    std::iota(order.begin(), order.end(), 0);
    const auto length_of = [&](int64_t sequence) { return lengths[static_cast<size_t>(sequence)]; };
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return length_of(a) > length_of(b); });
    for (int64_t time = 0; time < longest; ++time) {
        int64_t running = 0;
        for (const int64_t sequence : order) {
            if (length_of(sequence) <= time) break;
            made.rows.push_back(batch_first ? sequence * times + time : time * count + sequence);
            ++running;
        }
        made.batch_sizes.push_back(running);
    }
    if (!enforce_sorted) made.order = std::move(order);
    return made;
}

Unpacking unpacking_of(const Integers& sizes, const std::optional<Integers>& unsorted,
                       bool batch_first, std::optional<int64_t> total_length) {
    user_check<ValueError>(!sizes.empty(),
                           "pad_packed_sequence: batch_sizes are empty. One at least is required.");
    const auto longest = static_cast<int64_t>(sizes.size());
    const int64_t batch = sizes[0], times = total_length.value_or(longest);
    user_check<ValueError>(times >= longest,
                           "Expected total_length to be at least the length of the longest "
                           "sequence in input, but got total_length=",
                           times, " and max sequence length being ", longest);
    Integers columns(static_cast<size_t>(batch));
    std::iota(columns.begin(), columns.end(), 0);
    if (unsorted) columns = *unsorted;
    user_check<ValueError>(static_cast<int64_t>(columns.size()) == batch,
                           "pad_packed_sequence: unsorted_indices are ", columns.size(),
                           " for a batch of ", batch, ".");
    const int64_t padding = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
    Unpacking made{Integers(static_cast<size_t>(times * batch), padding),
                   Integers(columns.size(), 0), times};
    int64_t start = 0;
    for (int64_t time = 0; time < longest; ++time) {
        const int64_t size = sizes[static_cast<size_t>(time)];
        for (int64_t i = 0; i < batch; ++i) {
            const int64_t column = columns[static_cast<size_t>(i)];
            if (column >= size) continue;
            made.rows[static_cast<size_t>(batch_first ? i * times + time : time * batch + i)] =
                start + column;
            ++made.lengths[static_cast<size_t>(i)];
        }
        start += size;
    }
    return made;
}

PackedSequence pack_padded_sequence(const Tensor& x, const Integers& lengths, bool batch_first,
                                    bool enforce_sorted) {
    user_check<ValueError>(x.rank() >= 2, "pack_padded_sequence: x has shape ", x.shape(),
                           ". Times and a batch are required.");
    const Packing packing =
        packing_of(lengths, {x.shape()[0], x.shape()[1]}, batch_first, enforce_sorted);
    PackedSequence made{numpy::take(flattened(x), numpy::array<int64_t>(packing.rows), 0),
                        packing.batch_sizes};
    made.sorted_indices = packing.order;
    if (packing.order) made.unsorted_indices = invert_permutation(*packing.order);
    return made;
}

PaddedSequences pad_packed_sequence(const PackedSequence& packed, bool batch_first,
                                    const numpy::Operand& padding_value,
                                    std::optional<int64_t> total_length) {
    const Unpacking way =
        unpacking_of(packed.batch_sizes, packed.unsorted_indices, batch_first, total_length);
    const Tensor& data = packed.data;
    const Tensor whole = numpy::concatenate({data, filled(data, 1, padding_value)});
    const Tensor found = numpy::take(whole, numpy::array<int64_t>(way.rows), 0);
    const auto batch = static_cast<int64_t>(way.lengths.size());
    return {
        batch_first ? unflattened(found, batch, way.times) : unflattened(found, way.times, batch),
        way.lengths};
}

Tensor pad_sequence(const std::vector<Tensor>& sequences, bool batch_first,
                    const numpy::Operand& padding_value, std::string_view side) {
    user_check<ValueError>(side == "right" || side == "left", "pad_sequence: padding_side is '",
                           side, "'. \"right\" or \"left\" is required.");
    user_check<ValueError>(!sequences.empty(),
                           "pad_sequence: there are no sequences. One at least is required.");
    int64_t times = 0;
    for (const Tensor& x : sequences) {
        user_check<ValueError>(x.rank() > 0,
                               "pad_sequence: a sequence has no dimensions. Times are required.");
        times = std::max(times, x.shape()[0]);
    }
    Tensors padded;
    for (const Tensor& x : sequences) {
        const int64_t missing = times - x.shape()[0];
        if (missing == 0) {
            padded.push_back(x);
            continue;
        }
        const Tensor more = filled(x, missing, padding_value);
        padded.push_back(numpy::concatenate(side == "right" ? Tensors{x, more} : Tensors{more, x}));
    }
    return numpy::stack(padded, batch_first ? 0 : 1);
}

std::vector<Tensor> unpad_sequence(const Tensor& padded, const Integers& lengths,
                                   bool batch_first) {
    const Tensor batched = batch_first ? padded : numpy::swapaxes(padded, 0, 1);
    Tensors made;
    for (size_t i = 0; i < lengths.size(); ++i)
        made.push_back(numpy::get_item(batched, {static_cast<int64_t>(i), Slice{0, lengths[i]}}));
    return made;
}

std::vector<Tensor> run_packed(const Tensor& data, const Integers& batch_sizes,
                               const std::vector<Tensor>& states, const RecurrentStep& step,
                               bool backwards) {
    const std::vector<Segment> parts = segments_of(batch_sizes);
    user_check<ValueError>(!parts.empty(),
                           "run_packed: batch_sizes are empty. One at least is required.");
    return backwards ? run_backwards(data, parts, states, step)
                     : run_forwards(data, parts, states, step);
}

}  // namespace composit::aten

// Sequences of different lengths: padded to one length, or packed one time after another, as
// torch.nn.utils.rnn has them.
//
//   const PackedSequence packed = pack_padded_sequence(x, {5, 3, 3});  // x: (times, batch, …)
//   packed.data;         // (11, …): three elements of each of three times, then one of two
//   packed.batch_sizes;  // {3, 3, 3, 1, 1}
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace composit::aten {

using ir::Tensor;
using Integers = std::vector<int64_t>;

// The permutation that undoes one.
[[nodiscard]] Integers invert_permutation(const Integers& permutation);

// How sequences of these lengths are packed: of which rows of their batch, its two first axes as
// one, the data are made, how many sequences each time has, and the sequences' order, the longest
// first, which is none where it is enforced to be that already. `sizes` are the lengths of the two
// first axes, (times, batch) or (batch, times). RuntimeError, PyTorch's words, for lengths that are
// not as many as the batch, below 1 or above `times`, or, with enforce_sorted, in ascending order
// anywhere.
struct Packing {
    Integers rows, batch_sizes;
    std::optional<Integers> order;
};
[[nodiscard]] Packing packing_of(const Integers& lengths, const Integers& sizes,
                                 bool batch_first = false, bool enforce_sorted = true);
// ValueError for packed sequences without batch sizes.
void check_packed(bool has_batch_sizes);

// The way back: of which rows of the data each place of the padded batch is, (times, batch) or
// (batch, times) one after another, the number of rows standing for padding; and the lengths of the
// sequences. `unsorted` says where each sequence of the batch is in the data's order. ValueError
// for a total_length below the longest.
struct Unpacking {
    Integers rows, lengths;
    int64_t times;
};
[[nodiscard]] Unpacking unpacking_of(const Integers& batch_sizes,
                                     const std::optional<Integers>& unsorted = {},
                                     bool batch_first = false,
                                     std::optional<int64_t> total_length = {});

// The elements of all sequences at the first time, then those at the second, …; the longest is
// first. The orders lead there and back; none where they change nothing.
struct PackedSequence {
    Tensor data;
    Integers batch_sizes;
    std::optional<Integers> sorted_indices = {}, unsorted_indices = {};
};
// x: (times, batch, …), or (batch, times, …).
[[nodiscard]] PackedSequence pack_padded_sequence(const Tensor& x, const Integers& lengths,
                                                  bool batch_first = false,
                                                  bool enforce_sorted = true);
struct PaddedSequences {
    Tensor data;
    Integers lengths;
};
[[nodiscard]] PaddedSequences pad_packed_sequence(const PackedSequence& packed,
                                                  bool batch_first = false,
                                                  const numpy::Operand& padding_value = 0,
                                                  std::optional<int64_t> total_length = {});

// Sequences (times, …) as one (times, batch, …), or (batch, times, …), padded to the longest at the
// "right" or the "left" (ValueError for another side).
[[nodiscard]] Tensor pad_sequence(const std::vector<Tensor>& sequences, bool batch_first = false,
                                  const numpy::Operand& padding_value = 0,
                                  std::string_view side = "right");
// What pad_sequence was given: views.
[[nodiscard]] std::vector<Tensor> unpad_sequence(const Tensor& padded, const Integers& lengths,
                                                 bool batch_first = false);

// One layer in one direction of a recurrent network over packed data. `step` is the layer over
// sequences of one length, x (times, batch, features) from these states (batch, …): the outputs,
// then the last states. Results are those of the packed data, from `states` in its order. Times
// that have equally many sequences are one call of `step`. Backwards each sequence begins at its
// own end.
using RecurrentStep =
    std::function<std::vector<Tensor>(const Tensor& x, const std::vector<Tensor>& states)>;
[[nodiscard]] std::vector<Tensor> run_packed(const Tensor& data, const Integers& batch_sizes,
                                             const std::vector<Tensor>& states,
                                             const RecurrentStep& step, bool backwards = false);

}  // namespace composit::aten

// Scans over sequences: a loop that reads one row of each sequence and writes one of each result.
//
//   // cumulative sums: the carry is the sum so far, which is also what each step gives
//   auto [sum, sums] = scan([](const Tensors& carry, const Tensors& x) {
//       const Tensor next = carry[0] + x[0];
//       return Scanned{{next}, {next}};
//   }, {zero}, {numbers});
#pragma once

#include "composit/functional/functional.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace composit {

// The carry, and what a step gives; of the whole scan, the last carry and the stacked results.
struct Scanned {
    Tensors carry, ys;
};
using ScanBody = std::function<Scanned(const Tensors& carry, const Tensors& x)>;

// `body` for the rows x = xs[0], xs[1], … (reverse: from the last one on), one after the other:
// carry_0 is `init`, (carry_i+1, y_i) = body(carry_i, x_i). Row i of ys belongs to row i of xs in
// either direction. `length` is required where there are no xs, and must be theirs. One loop (see
// fori_loop): the body is traced once (twice where `init` holds Python's scalars), a row of xs is
// read, a row of ys written where it lies. ValueError for lengths that differ, TypeError unless
// the carry keeps its types.
[[nodiscard]] Scanned scan(const ScanBody& body, const Tensors& init, const Tensors& xs,
                           std::optional<int64_t> length = {}, bool reverse = false,
                           const std::string& name = "scan");

}  // namespace composit

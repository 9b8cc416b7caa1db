// Working with nests (ir/operation.h): views of a nest are changes of its accesses; combining is
// composing bodies.
#pragma once

#include "composit/ir/operation.h"

#include <functional>
#include <optional>
#include <vector>

namespace composit::ops {

using ir::Nest;
using ir::kernel::Access;

// The nest that reads one access of that shape.
Nest nest_of(const ir::Shape& shape, const Access& access);
// Whether both name the same elements, read alike, at every index.
bool is_equal(const Access& a, const Access& b);
// True when the value is one element read, unchanged: the nest is a view of memory (or of
// positions).
bool is_view(const Nest& nest);
// Operations in the value, calls counted as one.
int operation_count(const Nest& nest);
// Whether every loop of more than one iteration moves the access, which is one of memory.
bool moves_with_all(const Access& access, const ir::kernel::Extents& extents);
// Whether computing the value again costs less than storing it and reading it back: a few of the
// quickest operations on at most one whole array.
bool is_quick(const Nest& nest);

// body(values of the nests), over equal extents. Equal accesses are shared.
Nest combine(const std::vector<Nest>& nests,
             const std::function<ir::scalar::Expr(const std::vector<ir::scalar::Expr>&)>& body);

// Each access's strides (and offset) changed by `change`; the new extents are `shape`.
Nest reindex(const Nest& nest, const ir::Shape& shape, const std::function<void(Access&)>& change);

// NumPy's broadcasting. A value worth computing once is brought into memory before it is repeated.
Nest broadcast(const Nest& nest, const ir::Shape& shape, ir::Lowering& lowering);

// The nest as a view of another shape with the same element order, if strides allow it.
std::optional<Nest> try_reshape(const Nest& nest, const ir::Shape& shape);

// Positions of an axis that padding keeps (negative padding crops): `count` of them from `first`.
struct KeptRange {
    int64_t first, count;
};
// For an axis of `length`, whose position i moves to low + i * step of `padded_length`.
KeptRange kept_by_padding(int64_t length, int64_t low, int64_t step, int64_t padded_length);

// x, with `interior` elements between neighbours and `low` before each axis (negative: cropped),
// copied into `target`, which has the padded shape; the rest of target is filled with the 0-d nest
// `fill`.
void emit_pad(ir::Lowering& lowering, const Nest& x, const Nest& fill,
              const std::vector<int64_t>& low, const std::vector<int64_t>& interior,
              const ir::Shape& shape, const Access& target);

// A row-major access over `shape` of a buffer, starting at `offset`.
Access row_major(int buffer, ir::DType dtype, const ir::Shape& shape, int64_t offset = 0);

}  // namespace composit::ops

// What passes do to the operands of products.
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace composit::transforms {

// Among a Contract's accesses.
inline constexpr size_t left_of_contract = 0, right_of_contract = 1;

// The same product with rows and columns exchanged: factors commute.
void exchange_sides(ir::kernel::Contract& contract);

// What the Map that makes a buffer reads, as accesses in the loops of `user`, of which that buffer
// is access number `read`: their strides belong to the loops that this access's strides belong to.
// The loops of `user` are cut where those of the Map end. Nothing where the loops of one do not fit
// into those of the other.
std::optional<std::vector<ir::kernel::Access>> inputs_as_read(const ir::kernel::Map& given,
                                                              ir::kernel::Body& user, size_t read);

}  // namespace composit::transforms

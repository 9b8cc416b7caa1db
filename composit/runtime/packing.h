// What back ends do with Pack kernels: constant operands of products in panels, made once for all
// programs that read them.
//
// A panel is some rows of a left operand, or columns of a right one, over the whole depth: at each
// depth one element of every row, side by side. Panels lie one after the other; where fewer rows
// are left than a panel has, zeros fill it up.
#pragma once

#include "composit/runtime/backend.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace composit::runtime {

// How many rows, or columns, the next panel of an operand has when `remaining` are left. Element
// types count, as vectors have a size in bytes.
using PanelWidth = std::function<int64_t(bool is_left, ir::DType dtype, int64_t remaining)>;

// Where each constant and each packed buffer of the program lies, by its number; null for other
// buffers, and for constants that nothing but Pack kernels reads. Packs one operand after the
// other, so that each can take the place of what it was made of.
std::vector<std::shared_ptr<const void>> memory_of_constants(const ir::kernel::Program& program,
                                                             const PanelWidth& panel_width,
                                                             const ParallelFor& parallel_for);

// Of the copies that memory_of_constants makes.
int64_t bytes_of_packed_constants(const ir::kernel::Program& program);

}  // namespace composit::runtime

// Contractions that are the filter of one channel at the windows of its image.
#pragma once

#include "composit/ir/kernel/kernel.h"

namespace composit::ir::kernel {

// Whether one row is multiplied by windows that overlap, of few elements, as is the filter of a
// channel that has one of its own: no other row would read a copy of the windows, so it costs more
// than to read them where they are.
bool is_row_of_windows(const Contract& c);

}  // namespace composit::ir::kernel

// The table's parts, one function per file; registry.cpp indexes them, everyone else asks row.h.
#pragma once

#include <vector>

#include "composit/ir/scalar/row.h"

namespace composit::ir::scalar {

std::vector<Row> table_rows();  // all of them, in table order

std::vector<Row> arithmetic_rows();

}  // namespace composit::ir::scalar

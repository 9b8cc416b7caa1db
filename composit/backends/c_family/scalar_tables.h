// Names of the constant tables that lookups read; scalar_printer.h prints them.
#pragma once

#include "composit/ir/scalar/expr.h"

#include <string>
#include <vector>

namespace composit::c_family {

// "table_1a2b3c4d", of its elements and dtype.
std::string table_name(const std::vector<ir::scalar::Bits>& table, ir::DType dtype);

}  // namespace composit::c_family

// Operations whose results nobody reads.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace composit::mlir {

// The lines without operations whose results nobody behind them reads, nor has `read`, which the
// names join that the others read. An operation with a body has several lines, and stays.
[[nodiscard]] std::vector<std::string> without_unread(const std::vector<std::string>& lines,
                                                      std::set<std::string>& read);

}  // namespace composit::mlir

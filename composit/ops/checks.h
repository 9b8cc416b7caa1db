// Check rules of the tensor primitives (ir/operation.h): what a stranger's graph must satisfy.
#pragma once

#include "composit/ir/node.h"

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::ops {

using CheckedOperands = std::vector<ir::Tensor>;

// A new node, whose operation's check rule comes first: for functions that C++ and Python call with
// any axes and counts.
std::vector<ir::Tensor> make_checked(const ir::Operation& operation, CheckedOperands operands,
                                     ir::Attributes attributes);
// One value of each list for each of `count` axes.
void check_lists(
    std::string_view operation, size_t count,
    std::initializer_list<std::pair<std::string_view, const std::vector<int64_t>&>> lists);

void check_astype(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_reduce(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_scan(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_argsort(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_search(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_contract(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_convolve(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_reshape(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_transpose(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_broadcast(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_slice(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_pad(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_concatenate(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_split(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_windows(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_fold(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_iota(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_gather(const CheckedOperands& operands, const ir::Attributes& attributes);
void check_scatter(const CheckedOperands& operands, const ir::Attributes& attributes);

}  // namespace composit::ops

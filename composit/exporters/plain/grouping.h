// Which kernels become one function, and what things are called.
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <set>
#include <string>
#include <vector>

namespace composit::plain {

// Kernels that run one after the other, as one function: what they hand on to each other, if it is
// little, are variables of it.
struct Group {
    std::vector<const ir::kernel::Kernel*> kernels;
    std::vector<int> locals;  // temporaries that nothing else touches
};
// The program with kernels moved up to those that hand on little to them, so that they are one
// function: past kernels that neither read nor write what they do. No bit changes.
ir::kernel::Program with_users_near(ir::kernel::Program program);
std::vector<Group> groups_of(const std::vector<const ir::kernel::Kernel*>& kernels,
                             const ir::kernel::Program& program);

// What a kernel writes into a buffer, in a word: "relu", "sum", "maximum"; "" where it adds to
// what is there.
std::string word_for(const ir::kernel::Kernel& kernel, int buffer);
// "product_add_relu", "maximum_exp_sum_quotient".
std::string function_name(const Group& group);
// "model.py:6, model.py:7: matrix product, relu"
std::string comment_for(const Group& group);

}  // namespace composit::plain

// Numbers that are made of known values: computed without a plan, when they are made or looked at.
#pragma once

#include "composit/eager/cell.h"

#include <cstdint>
#include <vector>

namespace composit::eager {

// The elements of a tensor where they are known: it is a constant, or its value is kept.
ir::ConstantArray known(const Tensor& tensor);

enum class Small {
    computed,    // the node keeps the value
    needs,       // it could be computed if the tensors that were added to `needed` were known
    impossible,  // it is no small matter, or has an error that a plan is to find and report
};
// Computes a tensor of no dimension that is made of elements of known tensors by scalar functions
// and casts. `depth`: of operations that may be computed on the way; their values are not kept.
Small compute_small(const Tensor& tensor, int depth, std::vector<Tensor>* needed = nullptr);

// Writes x[position] = value into a cell that is no view, where both are known and the value is of
// the cell's dtype or fits it without loss: in place, if nobody else can see the memory. False
// where another way has to be taken: nothing has changed then.
bool write_element(const Cell& cell, const std::vector<int64_t>& position, const Tensor& value);

}  // namespace composit::eager

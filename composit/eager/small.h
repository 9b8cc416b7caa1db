// Numbers that are made of known values: computed without a plan, when they are made or looked at.
#pragma once

#include "composit/eager/cell.h"
#include "composit/ir/scalar/function.h"

#include <optional>
#include <vector>

namespace composit::eager {

// So many operations on single numbers take less time than a plan.
inline constexpr int most_depth = 16;

// The elements of a tensor where they are known: it is a constant, or its value is kept.
ir::ConstantArray known(const Tensor& tensor);

// The same values in other memory.
Array copied(const ir::ConstantArray& values);
// The elements that a region of memory, which lies in row-major order, shows in a shape.
Array elements_at(const void* memory, const Region& region, ir::DType dtype,
                  const ir::Shape& shape);

enum class Small {
    computed,    // the node keeps the value
    needs,       // it could be computed if the tensors that were added to `needed` were known
    impossible,  // it is no small matter, or has an error that a plan is to find and report
};
// Computes a tensor of no dimension that is made of elements of known tensors by scalar functions
// and casts. `depth`: of operations that may be computed on the way; their values are not kept.
Small compute_small(const Tensor& tensor, int depth, std::vector<Tensor>* needed = nullptr);

// Views of known arrays that `tensor` is made of, as far as they are of a few elements: the nodes
// keep their values. Plans depend on where such views lie, and programs that go through an array
// row by row would need one for each row.
void compute_small_views(const Tensor& tensor);

// The number that compute_small would keep; nothing where it would keep none.
struct Number {
    ir::DType dtype;
    ir::scalar::Bits bits;
};
std::optional<Number> small_number(const Tensor& tensor);

}  // namespace composit::eager

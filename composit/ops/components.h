// Rules for tensors of dtypes that no kernel has, in components (ir/operation.h).
#pragma once

#include "composit/ir/operation.h"
#include "composit/ops/ops.h"

#include <functional>
#include <vector>

namespace composit::ops {

using ir::Components;

// Whether kernels have no such dtype: complex ones and short floats.
bool has_components(DType dtype);
// Whether the node takes, gives, or computes in such a dtype.
bool has_components(const ir::Node& node);
// That of a component: float32 for complex64 and short floats.
DType component_dtype(DType dtype);

// astype, in components.
Components converted(const Components& x, DType from, DType to);
// x with its values rounded to those of `dtype` where that is a short float: float32 then.
Tensor rounded(const Tensor& x, DType dtype);
// The bits of short floats (unsigned integers), and the way back.
Tensor bits_of_short(const Tensor& x, DType dtype);
Tensor short_of_bits(const Tensor& bits, DType dtype);
Tensor conjugated(const Tensor& x);  // x itself where it is real

// The node's operation applied to real parts, and to imaginary ones; operands without components
// take part in both.
std::vector<Components> each_component(const ir::Node& node,
                                       const std::vector<Components>& operands);

// A product of two operands, linear in both.
std::vector<Components> product_by_components(const ir::Node& node,
                                              const std::vector<Components>& operands);

bool is_map(const ir::Node& node);
// The dtypes that a map's row is computed in (map.cpp).
const ir::scalar::Signature& map_signature(const ir::Node& node);
// The dtype that a weak scalar takes beside one that is not (NEP 50).
DType strengthened(DType weak, DType strong);
// Its row for these dtypes.
const ir::scalar::Specialisation& map_specialisation(const ir::Node& node);
std::vector<Components> map_by_components(const ir::Node& node,
                                          const std::vector<Components>& operands);
std::vector<Components> astype_by_components(const ir::Node& node,
                                             const std::vector<Components>& operands);
std::vector<Components> reduce_by_components(const ir::Node& node,
                                             const std::vector<Components>& operands);
std::vector<Components> scan_by_components(const ir::Node& node,
                                           const std::vector<Components>& operands);
std::vector<Components> argsort_by_components(const ir::Node& node,
                                              const std::vector<Components>& operands);

}  // namespace composit::ops

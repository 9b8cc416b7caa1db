// Functions of tensors among which some are numbers of the language (2, 0.5), which have no dtype
// of their own, and derivatives by integers, which count as floats of the same values.
//
//   jacobian_at([](const Tensors& x) { return x[0] * x[1]; }, {2, 3.0}, 0, "f", "n")   // 3.0
#pragma once

#include "composit/ir/node.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace composit::cg {

using ir::Tensor;
using Tensors = std::vector<Tensor>;
// It refuses operands with TypeError, ValueError, IndexError or NotSupported.
using OfTensors = std::function<Tensor(const Tensors& tensors)>;

// What a function made, and of which operands.
struct Applied {
    Tensor made;
    Tensors operands;
};
// The function of tensors of which some stand for numbers: 0-d ones, which take the dtype that such
// a number has beside the other operands. Integers stay where the function needs them as such (an
// index), and where its dtype does not depend on theirs. `promoted`: only the first so many
// operands take part in that. (Weak tensors are numbers to the function itself.)
[[nodiscard]] Applied applied_to_numbers(const OfTensors& compute, const Tensors& tensors,
                                         const std::vector<bool>& are_numbers,
                                         std::optional<size_t> promoted = {});

// Where placeholders, which are never weak, take the tensors' places: weak floats in the dtype that
// they have beside the others. Integers stay, as they may be indices.
[[nodiscard]] Tensors strong_operands(const Tensors& tensors);

// The tensors with integers as float64 of the same values, where the function takes them. Integers
// that it needs as such (indices, and what it casts to integers, through which no derivative goes)
// stay, and so do those that are not free (empty: all are).
[[nodiscard]] Tensors as_numbers(const OfTensors& compute, const Tensors& tensors,
                                 const std::vector<bool>& are_free = {});

// Leaves in place of the tensors: how those were made does not matter to what is computed of these.
// Weak tensors are leaves, and stay; so do those whose values have to be known (empty: none).
[[nodiscard]] Tensors apart_from(const Tensors& tensors, const std::vector<bool>& are_known = {});

// Which of the tensors in `ends` the tensors are computed from; what those are made of does not
// count.
[[nodiscard]] std::vector<bool> are_reached(const Tensors& made, const Tensors& ends);

// The Jacobian of a function of tensors, integers taken as numbers, with respect to the one at
// `place`, where it is `given`; those that are known have to be. Errors name `function` and, as the
// input, `name`: TypeError for dtypes without derivatives.
[[nodiscard]] Tensor jacobian_at(const OfTensors& compute, const Tensors& given, size_t place,
                                 const std::string& function, const std::string& name,
                                 const std::vector<bool>& are_known = {});

// TypeError unless a result has derivatives with respect to an input x: both are of dtypes that
// have, and the result is real.
void check_differentiable(const std::string& function, const std::string& name, const Tensor& x,
                          const Tensor& result);

}  // namespace composit::cg

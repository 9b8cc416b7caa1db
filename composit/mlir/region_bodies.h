// What regions of reductions, orders and scatters do, found out from their graph of single numbers.
#pragma once

#include "composit/ir/kernel/kernel.h"
#include "composit/mlir/building.h"

#include <functional>
#include <optional>

namespace composit::mlir {

// A row of the scalar table applied to tensors.
[[nodiscard]] inline Tensor row(std::string_view name, const Tensors& x) {
    return ops::map(name, x);
}

// A region of numbers, over placeholders.
struct ScalarBody {
    Tensors parameters, results;
};
[[nodiscard]] ScalarBody scalar_body(const Site& site, size_t region);
// TypeError unless the region takes numbers of these tensors' dtypes, in their order and again.
void check_numbers(const Site& site, const ScalarBody& body, const Tensors& x);

// Whether `results` are computed in the same way as what `made` gives for the parameters: the same
// operations on the same numbers.
using GraphFormula = std::function<Tensor(const Tensors&)>;
[[nodiscard]] bool is_same(const Tensor& result, const Tensors& parameters,
                           const GraphFormula& made);

// The row of a body (a, b) -> row(a, b), or row(b, a) where that is the same; nothing for others.
[[nodiscard]] std::optional<std::string> row_of(const ScalarBody& body);
[[nodiscard]] std::optional<ir::kernel::Combiner> combiner_of_row(std::string_view row,
                                                                  DType dtype);
// Whether a number that is known changes nothing for the combiner.
[[nodiscard]] bool is_neutral(const Tensor& x, ir::kernel::Combiner combiner);

// A region applied to the elements of tensors of one shape.
[[nodiscard]] Tensors for_elements(const Site& site, size_t region, const Tensors& x);
// Tensors reduced along their last axis by a region of pairs, neighbours first, from `initial` on.
[[nodiscard]] Tensors folded(const Site& site, size_t region, Tensors x, const Tensors& initial);

}  // namespace composit::mlir

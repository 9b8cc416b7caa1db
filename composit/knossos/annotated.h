// What annotations of arguments and results say, compared and changed: extents that several share,
// extents for rows, the order in which procedures return what a structure has.
//
//   const auto rows = with_rows(structure, free_extent(leaves));  // Tensor[float, rows, n]
#pragma once

#include "composit/knossos/structure.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace composit::knossos {

// The structures of a function's arguments, of which a second record of a class has extents of its
// own, where equal names need not be equal: "n_2", in place of n.
[[nodiscard]] std::vector<StructureRef> with_own_extents(
    const std::vector<StructureRef>& structures);
// The structure for each of so many rows: numbers become arrays of one axis, arrays get one in
// front.
[[nodiscard]] StructureRef with_rows(const StructureRef& structure, const std::string& rows);
// An array whose extents bind no names: those that were names are nothing.
[[nodiscard]] StructureRef without_names(const StructureRef& leaf);

// "rows", or with as many underscores behind it that no extent of these leaves has the name.
[[nodiscard]] std::string free_extent(const std::vector<StructureRef>& leaves);
// (leaf, axis) of each named extent, where it is first met in the leaves of these places, in order.
[[nodiscard]] std::vector<std::pair<size_t, size_t>> first_extents(
    const std::vector<StructureRef>& leaves, const std::vector<size_t>& order);

// Whether numbers and arrays have the same kinds and numbers of axes.
[[nodiscard]] bool have_same_kinds(const std::vector<StructureRef>& found,
                                   const std::vector<StructureRef>& wanted);
// The same, and the same extents, but for how these are called. Extents that are wanted and
// computed may be any.
[[nodiscard]] bool are_alike(const std::vector<StructureRef>& found,
                             const std::vector<StructureRef>& wanted);
// "float", "Tensor[float, n, 3]"; "Tensor[float] of 2 axes" where an extent is computed.
[[nodiscard]] std::string annotation_text(const StructureRef& leaf);

// The place of each leaf among what a procedure returns: numbers, then arrays.
[[nodiscard]] std::vector<size_t> places_of_results(const std::vector<StructureRef>& leaves);

}  // namespace composit::knossos

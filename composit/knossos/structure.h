// Structures of variables, arguments and results: a number, an array, a tuple or record of such, a
// list that grows, a function.
#pragma once

#include "composit/knossos/array.h"
#include "composit/knossos/code.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace composit::knossos {

struct Structure;
struct GrowingList;
struct Loop;
using StructureRef = std::shared_ptr<const Structure>;
// The loops around a place, from the outermost on.
using LoopsAround = std::shared_ptr<std::vector<std::shared_ptr<Loop>>>;

// What is known of a variable that is a list to which the text appends.
struct ListOf {
    std::shared_ptr<GrowingList> known;
    StoredRef stored;
    Expr count;
    int64_t least;      // how many elements it has at the beginning
    LoopsAround loops;  // around the place where it is made
    size_t depth;
};

struct Structure {
    enum class Sort : uint8_t {
        number,
        parts,     // a tuple or record
        tensor,    // an array that an annotation describes, or a value is
        variable,  // an array of the procedure
        list,
        function,
    };
    // An extent: an integer or an expression, or a name in an annotation.
    using Extent = std::variant<Value, std::string>;

    Sort sort = Sort::number;
    Kind kind = Kind::none;                          // of a number, or of elements
    std::shared_ptr<const RecordType> made_by = {};  // null: a tuple, or a list
    bool is_list = false;
    std::vector<std::pair<std::string, StructureRef>> parts = {};  // by names, or "0", "1", …
    std::vector<Extent> extents = {};
    StoredRef stored = {};
    BlockRef block = {};  // that an array or a list was made in
    std::shared_ptr<const ListOf> list = {};
    Value function = {};

    // "a tuple of a number, an array of 2 axes"
    std::string outline() const;
    bool is_variable() const { return sort == Sort::variable; }
};

StructureRef number_structure(Kind kind);
StructureRef variable_structure(StoredRef stored, BlockRef block = {});
StructureRef structure_of_value(const Value& value);
// The structure of a variable that has a value; `of_array(name, array)` is that of an array among
// its parts.
StructureRef structure_with(
    const Value& value, const std::string& name,
    const std::function<StructureRef(const std::string&, const ArrayRef&)>& of_array);
// A value of the structure, whose numbers are leaf(name of the variable): of parts that of the
// whole and of the part, "point.x".
Value built(const StructureRef& structure, const std::function<Value(const std::string&)>& leaf,
            const std::string& name);
// The numbers and arrays of a structure, in order.
std::vector<StructureRef> all_leaves(const StructureRef& structure);
// The kinds of its numbers alone.
std::vector<Kind> kinds_of_numbers(const StructureRef& structure);

// ----- values

using Leaf = std::pair<std::string, Value>;
// The numbers of a value, and its arrays where it may have some, with what is added to the name of
// their variable. Mismatch for what is neither.
std::vector<Leaf> leaves_with_names(const Value& value, bool has_arrays = false);
std::vector<Value> leaves_of_value(const Value& value);
// Whether the value is an array, or has one among its parts.
bool has_arrays(const Value& value);
// The value, of whose parts that are neither tuples nor records another one is made. The names are
// those of `leaves_with_names`. Lists stay lists, or become tuples.
using OfLeaf = std::function<Value(const Value& leaf, const std::string& path)>;
Value with_leaves(const Value& value, const OfLeaf& made, bool keeps_lists);
// The parts of a tuple or record.
std::vector<Value> parts_of_value(const Value& value);

}  // namespace composit::knossos

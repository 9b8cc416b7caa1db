// What several statements say that a person writes in one.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <optional>
#include <string>
#include <string_view>

namespace composit::c_family {

// i = from < 0 ? from + extent : from, then assertions that i is none but 0 to extent - 1.
struct PrintedIndex {
    ir::scalar::Expr from, extent;
    bool is_checked = false;  // whether the two assertions follow
};
// At this place of the block.
std::optional<PrintedIndex> index_at(const ir::procedure::Block& block, size_t index);

// Whether an element is loaded here, and the next statement makes it zero: taken(x).
bool is_exchange_at(const ir::procedure::Block& block, size_t index);

// "target = value;", or "target += rest;" where `value`, as text, is "target + rest"; `in_order`:
// "add_in_order(target, rest);".
std::string assignment(const ir::procedure::Statement& statement, const std::string& target,
                       const std::string& value, bool in_order);

// "add_in_order(place, term);", or `subtract_in_order` where the sign is "-".
std::string added_in_order(const std::string& place, const std::string& sign,
                           const std::string& term);

// x = x
bool is_own_value(const ir::procedure::Statement& statement);

// "set_elements(&x[0], {a, b});", "add_elements(&x[0], {a, b});"
std::string_view element_functions();
// The functions that text of arrays calls: for exported files, whose assertions are `assert`, and
// for those that are loaded, which throw the line of their text. `has_vectors`: some arrays are
// vectors.
std::string array_functions(bool throws, bool has_vectors);
// Those that text calls which takes elements from the end of an array.
std::string_view room_function();
// Asks for elements of memory that a processor does not guess.
std::string_view fetching_function();
// `fetches`: elements of logs come to the first cache before they are asked for.
std::string taking_functions(bool fetches = false);
// That which text calls for an element that becomes 0.
std::string_view exchange_function();
// Those that text calls which adds in order; it needs `in_order` of the prelude.
std::string_view functions_in_order();
// Those for the greater and the lesser of two values, as Python's max and min choose.
std::string_view extreme_functions();
// Those that text calls which chooses between a value and 0.
std::string_view zero_choices();
// Those that text calls which adds to an element that is rounded before.
std::string_view rounded_addition();
// Those that text calls which multiplies slopes that may be infinite.
std::string_view slope_functions();
// double(x) of integers of 64 bits, of which compilers make vectors wherever there is AVX2.
std::string_view vector_conversion();
// That which text calls for the slope of a power in its base; it needs power's own.
std::string power_slope_function(ir::DType dtype);

}  // namespace composit::c_family

// Arrays that exchange their elements, `u, new = new, u`: three loops that copy all of one.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <cstddef>
#include <optional>
#include <set>

namespace composit::ir::procedure {

// Two local arrays of one shape, which is no number, that the statements from a place of a block on
// exchange, by way of an array that nothing else mentions.
struct Exchange {
    int one = -1, other = -1, between = -1;
    size_t statements = 0;
};
std::optional<Exchange> exchange_at(const Procedure& procedure, const Block& block, size_t place);
// The same of arrays that may be outputs: who exchanges them once more takes the exchange back.
std::optional<Exchange> reversible_exchange_at(const Procedure& procedure, const Block& block,
                                               size_t place);
// The statements of such an exchange for two other arrays, with variables and an array between them
// of their own.
Block exchange_again(Procedure& procedure, const Block& exchange, const Exchange& of, int one,
                     int other);
// The arrays by way of which any are exchanged.
std::set<size_t> arrays_between(const Procedure& procedure);

// Those that exchange their elements.
std::set<size_t> exchanged_arrays(const Procedure& procedure);

// The same procedure, in which such copies are exchanges more often: outputs that are exchanged are
// local arrays, which are copied when the procedure ends, and what is logged of an array that
// receives the elements of another is logged before.
//   for k: t[k] = y[k]; for k: log(y[k]), y[k] = z[k]; for k: z[k] = t[k]  to
//   for k: log(y[k]); for k: t[k] = y[k]; for k: y[k] = z[k]; for k: z[k] = t[k]
Procedure with_exchanges(Procedure procedure);

}  // namespace composit::ir::procedure

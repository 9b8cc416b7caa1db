// Exchanges of arrays, `u, new = new, u`, in loops whose overwritten elements are logged.
#include "composit/ir/procedure/exchanges.h"
#include "composit/ir/procedure/logged_loops.h"

namespace composit::ir::procedure {

std::optional<Exchange> LoggedLoops::exchange_of(const Block& block, size_t place) const {
    const auto found = reversible_exchange_at(p_, block, place);
    if (!found) return {};
    for (const int array : {found->one, found->other, found->between})
        if (!changing_.contains(array) || kept_.lives.contains(array)) return {};
    if (array_adjoints_.contains(found->one) != array_adjoints_.contains(found->other)) return {};
    return found;
}

void LoggedLoops::backward_exchange(const Block& block, size_t place, Block& out) {
    const Exchange exchange = *exchange_of(block, place);
    const auto begin = block.begin() + static_cast<std::ptrdiff_t>(place);
    const Block copies(begin, begin + static_cast<std::ptrdiff_t>(exchange.statements));
    const auto add = [&](int one, int other) {
        const Block again = exchange_again(out_, copies, exchange, one, other);
        out.insert(out.end(), again.begin(), again.end());
    };
    const auto adjoint = array_adjoints_.find(exchange.one);
    if (adjoint != array_adjoints_.end()) add(adjoint->second, array_adjoints_.at(exchange.other));
    add(exchange.one, exchange.other);
}

}  // namespace composit::ir::procedure

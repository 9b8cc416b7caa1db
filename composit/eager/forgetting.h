// Numbers and small arrays without the oldest part of what they were made of (history.h), as long
// as that has no nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace composit::eager {

// The deferred nodes that live: those without a node of which somebody might still ask for one, and
// all that ir::living_nodes counts.
struct LivingDeferred {
    size_t without_node = 0, counted = 0;
};
LivingDeferred living_deferred();

// Those older than the newest `stay` give way to forgotten leaves where something newer needs them,
// and are gone otherwise. How many are left; nothing where this takes nodes to find out: they were
// made of too many tensors. No other thread may use cells meanwhile.
std::optional<size_t> forget_deferred(size_t stay, int64_t bound);

}  // namespace composit::eager

#include "composit/eager/history.h"

#include "composit/base/error.h"
#include "composit/eager/compacting.h"
#include "composit/eager/forgetting.h"
#include "composit/eager/pending.h"
#include "composit/ir/living.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>

namespace composit::eager {
namespace {

std::atomic<int64_t> most{100'000};
// All graphs are gone through again when so many more nodes live than ever since the last time.
std::atomic<uint64_t> room{100'000};
std::atomic<uint64_t> fewest{0};  // that lived since then
// When all graphs were gone through: how many nodes lived, and how many were left as history.
std::atomic<uint64_t> nodes_by_last{0}, history_by_last{0};

bool is_time() {
    const uint64_t living = ir::living_nodes();
    const uint64_t least = fewest.load(std::memory_order_relaxed);
    if (living < least) fewest.store(living, std::memory_order_relaxed);
    return living >= least + room.load(std::memory_order_relaxed);
}

// All that is part of no trace. Numbers get their nodes.
Held held_now() {
    Held held{pending().living(), {}};
    for (const Ref<const Cell>& cell : held.cells) cell->close_elements();
    for (const Ref<const Deferred>& number : Deferred::living())
        if (number->stands_alone()) number->tensor();
    std::erase_if(held.cells, [](const auto& cell) { return cell->tensor().node().is_open(); });
    // Those that only others were made of are gone.
    for (Ref<const Deferred>& number : Deferred::living())
        if (number->is_made()) held.numbers.push_back(std::move(number));
    return held;
}

uint64_t nodes_but_deferred() {
    const uint64_t living = ir::living_nodes(), deferred = living_deferred().counted;
    return living - std::min(living, deferred);
}

// Where most of what lives has no nodes, the oldest of that is given up, which takes far less than
// going through graphs. How much history is left, with what nodes may have become of it since all
// were gone through; nothing where they are to be gone through.
std::optional<size_t> without_nodes(size_t bound) {
    if (2 * living_deferred().without_node < bound) return {};
    const std::optional<size_t> left = forget_deferred(bound / 4, static_cast<int64_t>(bound));
    const uint64_t nodes = nodes_but_deferred(),
                   before = nodes_by_last.load(std::memory_order_relaxed);
    const size_t history = left.value_or(bound) + nodes - std::min(nodes, before) +
                           history_by_last.load(std::memory_order_relaxed);
    return history <= bound * 3 / 4 ? std::optional(history) : std::nullopt;
}

}  // namespace

void set_most_history_nodes(int64_t nodes) {
    user_check(nodes > 0, "set_most_history_nodes: ", nodes,
               " is no bound. 1 or more is required.");
    most.store(nodes, std::memory_order_relaxed);
    room.store(0, std::memory_order_relaxed);
}

int64_t most_history_nodes() { return most.load(std::memory_order_relaxed); }

int64_t history_nodes() {
    const std::lock_guard lock(Reach::making());
    return static_cast<int64_t>(Reach(held_now().tensors()).history().size());
}

void shorten_history() {
    if (!is_time()) return;
    const auto bound = static_cast<size_t>(most_history_nodes());
    if (const std::optional<size_t> left = without_nodes(bound)) {
        room.store(bound - *left, std::memory_order_relaxed);
        fewest.store(ir::living_nodes(), std::memory_order_relaxed);
        return;
    }
    // Another thread, or what is freed below, may ask for the same.
    const std::unique_lock lock(Reach::making(), std::try_to_lock);
    if (!lock.owns_lock()) return;
    const Held held = held_now();
    size_t left = 0;
    {
        const Reach reach(held.tensors());
        std::vector<uint64_t> ages = reach.history();
        left = ages.size();
        // The newest stay, up to a part of the bound, so that it takes a while until the next time.
        // Values from which one could begin may be missing among the old: then fewer stay. Where
        // there is little room left, it is time, too: going through all takes as long as making
        // some of it.
        for (const size_t part : {4, 16, 0}) {
            if (left <= bound * 3 / 4) break;
            uint64_t oldest = std::numeric_limits<uint64_t>::max();
            if (part > 0) {
                const auto place = ages.end() - static_cast<std::ptrdiff_t>(bound / part) - 1;
                std::nth_element(ages.begin(), place, ages.end());
                oldest = *place + 1;
            }
            const Cut cut = reach.cut_before(oldest);
            if (part > 0 && cut.left > bound / 2) continue;
            Compacting compacting(reach, cut, held, static_cast<int64_t>(bound));
            for (const Ref<const Cell>& cell : held.cells) cell->follow(compacting);
            for (const Ref<const Deferred>& number : held.numbers)
                number->follow([&](const Tensor& tensor) { return compacting.moved(tensor); });
            left = std::min(cut.left, bound);
        }
    }
    room.store(bound - std::min(left, bound * 7 / 8), std::memory_order_relaxed);
    fewest.store(ir::living_nodes(), std::memory_order_relaxed);
    nodes_by_last.store(nodes_but_deferred(), std::memory_order_relaxed);
    history_by_last.store(left, std::memory_order_relaxed);
}

}  // namespace composit::eager

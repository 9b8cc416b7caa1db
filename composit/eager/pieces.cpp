#include "composit/eager/pieces.h"

#include "composit/eager/cell.h"
#include "composit/eager/pending.h"
#include "composit/ir/tracing.h"

#include <algorithm>
#include <utility>

namespace composit::eager {
namespace {

// What made a tensor: loops come back to it.
struct Maker {
    ir::Interned line = nullptr;
    const ir::Operation* operation = nullptr;
    bool operator==(const Maker&) const = default;
};

// Of each thread.
struct Progress {
    uint64_t begin = ir::nodes_made();  // of the piece
    uint64_t due = nodes_of_piece;      // nodes of it; more after one that was too large
    Maker last;                         // since the piece was due
    Maker end[2];  // of the piece before: its last tensor but one, and its last
    bool is_computing = false;
};

Progress& progress() {
    thread_local Progress progress;
    return progress;
}

bool is_small(const ir::Node& node) {
    const auto& types = node.types();
    return node.device() <= ir::on_cpu &&
           std::all_of(types.begin(), types.end(), [](const ir::TensorType& type) {
               return ir::element_count(type.shape) <= most_elements_in_piece;
           });
}

}  // namespace

bool is_piece_due(const ir::Tensor& made) {
    Progress& now = progress();
    const uint64_t count = ir::nodes_made() - now.begin;
    if (count < now.due) [[likely]]
        return false;
    if (now.is_computing) return false;
    const Maker maker{made.node().line(), &made.node().operation()};
    const Maker before = std::exchange(now.last, maker);
    if (!before.operation || !may_be_looked_at(made) || ir::TraceScope::begin() != 0 ||
        ir::DifferentiationScope::is_open())
        return false;
    const bool is_end = before == now.end[0] && maker == now.end[1];
    const bool may_come = now.end[1].operation && count < 2 * now.due;
    if (!is_end && may_come) return false;
    now.end[0] = before;
    now.end[1] = maker;
    return true;
}

void compute_piece() {
    Progress& now = progress();
    struct Computing {  // what is made meanwhile, by functions of Python's too, is no piece's end
        Progress& now;
        explicit Computing(Progress& now) : now(now) { now.is_computing = true; }
        ~Computing() { now.is_computing = false; }
    };
    const Computing computing(now);
    if (each_unknown(pending().newest(most_pending), is_small)) {
        settle();
        begin_piece();
    } else {
        now.begin = ir::nodes_made();
        now.due *= 2;
    }
}

void begin_piece() {
    Progress& now = progress();
    now.begin = ir::nodes_made();
    now.due = nodes_of_piece;
    now.last = {};
}

}  // namespace composit::eager

// Picks the cheapest of a few tiles by a model of one number: how many multiply-adds the busiest
// of a large device's processors goes through.
#include "composit/backends/simt/contract_plan.h"

#include <algorithm>
#include <cstdlib>

namespace composit::simt {
namespace {

// Of a large GPU. On smaller ones the same tiles are good, as they have more groups each.
constexpr int64_t processors = 128;

struct Choice {
    ContractTile tile;
    double speed;  // multiply-adds, as a part of what a processor can do
};

// Shared memory: at most 32 KiB for both operands, twice.
constexpr Choice of_four_bytes[] = {
    {{128, 128, 16, 8, 8}, 0.85}, {{128, 64, 16, 8, 4}, 0.7}, {{64, 128, 16, 4, 8}, 0.7},
    {{64, 64, 16, 4, 4}, 0.55},   {{32, 32, 16, 4, 4}, 0.3},  {{128, 8, 16, 4, 1}, 0.12},
    {{8, 128, 16, 1, 4}, 0.12},
};
constexpr Choice of_eight_bytes[] = {
    {{64, 64, 16, 4, 4}, 0.8},
    {{32, 32, 16, 2, 2}, 0.4},
    {{128, 8, 8, 4, 1}, 0.2},
    {{8, 128, 8, 1, 4}, 0.2},
};
// One thread an element reads two numbers for each multiply-add; slower where neighbouring threads
// read far from one another.
constexpr double plain_speed = 0.05, scattered_speed = 0.01;
constexpr double cost_of_launch = 20000;  // multiply-adds of a processor in the time of one
constexpr double cost_of_partial = 16;    // a sum that is written and read again
constexpr int64_t most_partial_bytes = int64_t{1} << 28;

// Whether neighbouring threads, which are neighbours in the last loop of the output, read one place
// of memory or neighbours.
bool reads_side_by_side(const ContractLoops& loops) {
    const ContractOperand& moving = loops.columns.empty() ? loops.left : loops.right;
    return moving.across.strides.empty() || std::abs(moving.across.strides.back()) <= 1;
}

double rounds(double groups) {
    return groups <= processors ? 1 : groups / static_cast<double>(processors);
}

}  // namespace

ContractPlan plan_contract(const ContractLoops& loops, const ContractArithmetic& arithmetic,
                           bool can_share) {
    ContractPlan best;
    const int64_t bytes = ir::size_of(arithmetic.dtype);
    const auto outputs = static_cast<double>(loops.output_count());
    const auto depth = static_cast<double>(loops.depth_count);
    const int64_t blocks = loops.blocks();
    // The sums of blocks that parts leave behind, shared out among the processors.
    const auto cost_of_parts = [&](int64_t parts) {
        if (parts == 1) return 0.0;
        return cost_of_launch + outputs * static_cast<double>(blocks) * cost_of_partial /
                                    static_cast<double>(processors);
    };
    double lowest = -1;
    const auto try_plan = [&](const ContractPlan& plan, double groups, double work_of_group) {
        if (plan.parts > 1 && loops.output_count() * blocks * bytes > most_partial_bytes) return;
        const double part = static_cast<double>(groups_of(blocks, plan.parts)) /
                            static_cast<double>(std::max<int64_t>(blocks, 1));
        const double cost =
            rounds(groups * static_cast<double>(plan.parts)) * work_of_group * part +
            cost_of_parts(plan.parts);
        if (lowest >= 0 && cost >= lowest) return;
        lowest = cost;
        best = plan;
    };
    const auto try_parts = [&](ContractPlan plan, double groups, double work_of_group) {
        for (plan.parts = 1; plan.parts == 1 || plan.parts <= blocks; plan.parts *= 2) {
            try_plan(plan, groups, work_of_group);
            if (!arithmetic.has_blocks) break;
        }
    };
    try_parts({}, outputs / static_cast<double>(group_threads),
              static_cast<double>(group_threads) * depth /
                  (reads_side_by_side(loops) ? plain_speed : scattered_speed));
    if (!can_share || bytes < 4) return best;
    const auto try_tile = [&](const Choice& choice) {
        const ContractTile& tile = choice.tile;
        const int64_t groups = loops.batch_count * groups_of(loops.row_count, tile.rows) *
                               groups_of(loops.column_count, tile.columns);
        try_parts({tile}, static_cast<double>(groups),
                  static_cast<double>(tile.rows * tile.columns) *
                      (depth + static_cast<double>(2 * tile.depth)) / choice.speed);
    };
    if (bytes == 4)
        for (const Choice& choice : of_four_bytes) try_tile(choice);
    else
        for (const Choice& choice : of_eight_bytes) try_tile(choice);
    return best;
}

}  // namespace composit::simt

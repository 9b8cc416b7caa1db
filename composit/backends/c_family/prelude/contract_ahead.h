// Memory that a contraction's tiles fetch while they work, for those that come after them.
#pragma once

#include "composit/backends/c_family/prelude/contract_described.h"

constexpr int64_t depth_of_step = 16, steps_of_tile = contract_depth / depth_of_step;

// What one step of a tile fetches: at each depth position the line behind `stride` more bytes.
struct LinesOfStep {
    const char* at;
    int64_t stride;
    COMPOSIT_INLINE void fetch() {
        __builtin_prefetch(at, 0, 2);
        at += stride;
    }
};

// Runs of `bytes` neighbouring bytes from at + starts[0], at + starts[1], …, which are fetched into
// the L2 cache before they are needed. A processor can wait for few lines at once, and a tile's own
// loads wait behind them: so they are asked for one by one, at every depth position.
template <class T>
class LinesAhead {
  public:
    LinesAhead() = default;
    // All are fetched in half of so many steps: both operands' take turns.
    LinesAhead(const T* at, const int64_t* starts, int64_t runs, int64_t bytes, int64_t steps)
        : at_(at), starts_(starts), runs_(runs), each_((bytes + 63) / 64) {
        const int64_t steps_of_run = steps / 2 / runs;
        if (steps_of_run > 0) {
            at_a_time_ = (each_ + steps_of_run - 1) / steps_of_run;
        } else {
            at_a_time_ = each_;
            runs_of_step_ = (runs + steps - 1) / steps;
        }
    }

    COMPOSIT_INLINE bool is_done() const { return run_ >= runs_; }
    COMPOSIT_INLINE LinesOfStep step() {
        if (is_done()) return {reinterpret_cast<const char*>(this), 0};
        for (int64_t more = 1; more < runs_of_step_ && run_ + 1 < runs_; ++more, ++run_)
            for (int64_t line = 0; line < each_; ++line)
                __builtin_prefetch(start() + 64 * line, 0, 2);
        const LinesOfStep lines{start() + 64 * line_, at_a_time_ * (64 / depth_of_step)};
        line_ += at_a_time_;
        if (line_ >= each_) line_ = 0, ++run_;
        return lines;
    }

  private:
    const char* start() const { return reinterpret_cast<const char*>(at_ + starts_[run_]); }

    const T* at_ = nullptr;
    const int64_t* starts_ = nullptr;
    int64_t runs_ = 0, each_ = 0, at_a_time_ = 0, runs_of_step_ = 1;
    int64_t run_ = 0, line_ = 0;
};

// What is fetched while tiles are in use, in `steps_of_tile` steps in each; columns, which are
// needed first, before rows.
template <class T>
struct Ahead {
    LinesAhead<T> left, right;
    COMPOSIT_INLINE LinesOfStep step() { return right.is_done() ? left.step() : right.step(); }
};

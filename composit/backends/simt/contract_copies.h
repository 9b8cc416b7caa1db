// How the threads of a group copy a tile of one operand from the device's memory to that which they
// share, and read it there.
#pragma once

#include "composit/backends/simt/contract_loops.h"

#include <cstdint>
#include <string>
#include <vector>

namespace composit::simt {

// A tile in shared memory is [depth][across], rows or columns. There are two, by turns. An element
// of depth k lies at across ^ turn(k), so that threads that write along the depth meet different
// banks. Packets are 16 bytes: what a thread moves at a time where the operand's memory allows it.
class ContractCopies {
  public:
    // `name` of the operand in the text, "left"; `end`: its elements behind the end of the depth.
    // A tile is `across` x `depth`.
    ContractCopies(FunctionText& f, const ContractArithmetic& arithmetic,
                   const ContractOperand& operand, std::string name, std::string end,
                   const ir::kernel::Extents& depth_extents, int64_t across, int64_t depth,
                   int64_t threads);

    // Declares the tiles, and where in memory the thread reads. `first`: of the tile's rows or
    // columns. `batch`: the indices of the batch's loops.
    void declare(const std::string& first, const std::vector<std::string>& batch,
                 const std::string& thread);
    // Statements that read the elements from depth `begin` on into registers; that write those to
    // the tile that begins at `start`.
    void load(const std::string& begin);
    void store(const std::string& start);
    // Statements that read those elements of depth `k`, a loop that is unrolled, of which thread
    // number `thread_across` of `threads_across` has `count`, into the array `to`.
    void read(const std::string& to, int64_t count, int64_t threads_across,
              const std::string& thread_across, const std::string& start, const std::string& k);
    // Which row or column of the tile is number `i` of those.
    std::string place_of(int64_t count, int64_t threads_across, const std::string& thread_across,
                         const std::string& i) const;

    bool reads_packets() const { return direction_ != Direction::single; }
    int64_t packet_length() const { return 16 / bytes_; }
    int64_t tile_elements() const { return across_ * depth_; }

  private:
    enum class Direction : uint8_t { single, across, depth };  // of packets
    struct Turn {                                              // k / divisor % modulus * factor
        int64_t divisor = 1, modulus = 1, factor = 0;
    };

    void choose();
    std::string packet_type() const;  // "float4"
    // Integers are read as their unsigned twins.
    const std::string& element_type() const {
        return arithmetic_.has_blocks ? arithmetic_.memory : arithmetic_.sum;
    }
    std::string turned(const std::string& across, const std::string& k) const;
    void open_loads();
    void close_loads();
    std::string step(const std::string& from, int64_t step) const;

    FunctionText& f_;
    const ContractArithmetic& arithmetic_;
    const ContractOperand& operand_;
    const ir::kernel::Extents& depth_extents_;
    std::string name_, end_;
    int64_t across_count_, depth_count_, across_, depth_, threads_, bytes_;

    Direction direction_ = Direction::single;
    bool runs_across_ = true;   // whether neighbouring threads read neighbours of one depth
    bool keeps_depth_ = false;  // whether all that a thread reads is of one depth
    // Of the threads that load, so many lie side by side; each loads `loads_` times: those of
    // depth k0 + l * k_step, at x0 + l * x_step.
    int64_t loading_threads_ = 0, side_ = 1, loads_ = 0, k_step_ = 0, x_step_ = 0;
    Turn turn_;
    std::string thread_, tile_, memory_, k0_, x0_, places_, next_, l_;
};

}  // namespace composit::simt

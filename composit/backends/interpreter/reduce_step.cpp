// Reduce: the value is evaluated chunk by chunk and fed to the prelude's reductions, as rows or as
// columns.
#include "composit/backends/interpreter/step.h"
#include "composit/base/error.h"
#include "composit/runtime/interrupt.h"

#include <cstdlib>

namespace composit::interpreter {

namespace {

constexpr int64_t block = 4096;         // of the order of reductions
constexpr int64_t most_rows = 1 << 16;  // of columns in place, between looks for an interruption

class ReduceStep : public Step {
  public:
    ReduceStep(const ir::kernel::Reduce& reduce, const KernelSet& set)
        : set_(set),
          counts_(counts_truths(reduce)),
          body_({counts_ ? reduce.value.operand(0) : reduce.value}, reduce.inputs.size(), set),
          kernels_(counts_ ? set.count : set.reduce(reduce.combiner, reduce.value.dtype())) {
        user_check<NotSupported>(kernels_ != nullptr,
                                 "interpreter: there is no kernel for reductions by ",
                                 ir::kernel::name(reduce.combiner), " over ", reduce.value.dtype(),
                                 ". Cast to a supported dtype first.");
        nest_.extents = reduce.kept;
        nest_.extents.insert(nest_.extents.end(), reduce.reduced.begin(), reduce.reduced.end());
        for (const auto& access : reduce.inputs) nest_.operands.emplace_back(access);
        nest_.operands.emplace_back(reduce.output);
        nest_.operands.back().strides.resize(nest_.extents.size(), 0);
        kept_ = collapse(nest_, static_cast<int>(reduce.kept.size()));
        reduced_count_ = nest_.iterations(kept_, nest_.rank());
        by_columns_ = columns_are_better();
        value_size_ = counts_ ? 1 : ir::size_of(reduce.value.dtype());
        choose_tile();
    }

    void run(const Memory& memory, const runtime::Run& run) const override {
        const int64_t kept = nest_.iterations(0, kept_);
        if (kept == 0) return;
        const double work = static_cast<double>(nest_.iterations());
        if (by_columns_) {
            const int64_t strips = (kept_extent_ + strip_ - 1) / strip_;
            split(run, nest_.iterations(0, kept_ - 1) * strips, work,
                  [&](int64_t begin, int64_t end) { run_columns(memory, begin, end, strips); });
        } else if (is_short_) {
            const int64_t tiles = (kept_extent_ + tile_rows_ - 1) / tile_rows_;
            split(run, nest_.iterations(0, std::max(0, kept_ - 1)) * tiles, work,
                  [&](int64_t begin, int64_t end) { run_short_rows(memory, begin, end, tiles); });
        } else if (kept < std::max<double>(run.threads, work / elements_between_checks) &&
                   blocks_can_be_shared()) {
            for (int64_t row = 0; row < kept; ++row) run_row_of_blocks(memory, run, row);
        } else {
            split(run, kept, work,
                  [&](int64_t begin, int64_t end) { run_rows(memory, begin, end); });
        }
    }

  private:
    // Sums of bool need no integer for each element, and no order.
    static bool counts_truths(const ir::kernel::Reduce& reduce) {
        using ir::DType;
        const ir::scalar::Expr& value = reduce.value;
        return reduce.combiner == ir::kernel::Combiner::sum &&
               (value.dtype() == DType::int64 || value.dtype() == DType::uint64) &&
               value.op() == ir::scalar::Op::cast && value.operand(0).dtype() == DType::boolean;
    }

    const Operand& output() const { return nest_.operands.back(); }
    int64_t stride(size_t operand, int loop) const {
        return loop < 0 ? 0 : nest_.operands[operand].strides[static_cast<size_t>(loop)];
    }
    int64_t extent(int loop) const {
        return loop < 0 ? 1 : nest_.extents[static_cast<size_t>(loop)];
    }
    int last_reduced() const { return nest_.rank() > kept_ ? nest_.rank() - 1 : -1; }

    // Side by side along the last kept loop while striding over the last reduced one.
    bool columns_are_better() const {
        if (kept_ == 0 || last_reduced() < 0 || extent(kept_ - 1) < 4) return false;
        int64_t for_columns = 0, for_rows = 0;
        for (size_t k = 0; k < body_.input_count(); ++k) {
            for_columns +=
                std::llabs(stride(k, kept_ - 1)) == 1 && std::llabs(stride(k, last_reduced())) != 1;
            for_rows += std::llabs(stride(k, last_reduced())) == 1;
        }
        return for_columns > for_rows;
    }

    void choose_tile() {
        kept_extent_ = extent(kept_ - 1);
        const int last = last_reduced();
        if (by_columns_) {
            strip_ = std::min(kernels_->strip, std::max<int64_t>(1, kept_extent_));
            loops_ = {last, kept_ - 1};
            tile_rows_ = std::max<int64_t>(1, chunk_elements / strip_);
            reads_in_place_ = body_.is_identity() && stride(0, kept_ - 1) == 1 &&
                              !nest_.operands[0].is_position();
            return;
        }
        is_short_ =
            nest_.rank() - kept_ <= 1 && extent(last) <= chunk_elements / 2 && extent(last) > 0;
        loops_ = {is_short_ ? kept_ - 1 : last > kept_ ? last - 1 : -1, last};
        reads_in_place_ = body_.is_identity() && (last < 0 || stride(0, last) == 1) &&
                          !nest_.operands[0].is_position();
        const int64_t rows =
            std::max<int64_t>(1, chunk_elements / std::max<int64_t>(1, extent(last)));
        tile_rows_ =
            is_short_ && reads_in_place_ ? chunk_elements : std::min(rows, extent(loops_.row));
    }

    std::vector<int64_t> start_offsets() const {
        std::vector<int64_t> offsets;
        for (const Operand& operand : nest_.operands) offsets.push_back(operand.offset);
        return offsets;
    }

    const char* in_place(const Memory& memory, const std::vector<int64_t>& offsets) const {
        return memory[static_cast<size_t>(nest_.operands[0].buffer)] + offsets[0] * value_size_;
    }

    char* output_at(const Memory& memory, const std::vector<int64_t>& offsets) const {
        return memory[static_cast<size_t>(output().buffer)] + offsets.back() * output().size();
    }

    // Calls visit(offsets, rows, columns) for the tiles of all reduced loops, in row-major order.
    template <class Visit>
    void each_reduced_tile(const std::vector<int64_t>& base, const Visit& visit) const {
        const int last = last_reduced();
        const int row_loop =
            by_columns_ ? -1 : loops_.row;  // of the reduced loops, besides the last
        const int outer_end = last < 0 ? kept_ : row_loop >= 0 ? last - 1 : last;
        const int64_t outer = nest_.iterations(kept_, outer_end);
        const bool whole = extent(last) <= chunk_elements;
        const int64_t step = by_columns_ ? (reads_in_place_ ? most_rows : tile_rows_)
                             : whole     ? extent(last)
                                         : chunk_elements;
        const int64_t row_step = whole ? tile_rows_ : 1;
        std::vector<int64_t> offsets;
        runtime::Patience patience;
        for (int64_t o = 0; o < outer; ++o) {
            for (int64_t r = 0; r < extent(row_loop); r += row_step) {
                for (int64_t e = 0; e < extent(last); e += step) {
                    offsets = base;
                    add_offsets(nest_, kept_, outer_end, o, offsets);
                    for (size_t k = 0; k < offsets.size(); ++k)
                        offsets[k] += r * stride(k, row_loop) + e * stride(k, last);
                    const int64_t rows = std::min(row_step, extent(row_loop) - r),
                                  count = std::min(step, extent(last) - e);
                    visit(offsets, rows, count);
                    patience.spend(rows * count);
                }
            }
        }
    }

    void run_rows(const Memory& memory, int64_t begin, int64_t end) const {
        ScratchScope scratch;
        ChunkEvaluator evaluator(body_, nest_.operands, loops_, memory, set_, scratch);
        char* const chunk = scratch.take(chunk_elements * value_size_);
        evaluator.set_result(0, chunk);
        char* const state = scratch.take(kernels_->row_state_bytes);
        for (int64_t kept = begin; kept < end; ++kept) {
            std::vector<int64_t> base = start_offsets();
            add_offsets(nest_, 0, kept_, kept, base);
            kernels_->row_start(state);
            if (reads_in_place_ && nest_.rank() - kept_ <= 1) {
                kernels_->row_add(state, in_place(memory, base), reduced_count_);
            } else {
                each_reduced_tile(
                    base, [&](const std::vector<int64_t>& offsets, int64_t rows, int64_t columns) {
                        evaluator.evaluate(offsets, rows, columns);
                        kernels_->row_add(state, chunk, rows * columns);
                    });
            }
            kernels_->row_finish(state, output_at(memory, base));
        }
    }

    // Threads may share out the blocks of one long row.
    bool blocks_can_be_shared() const {
        return kernels_->combine_blocks != nullptr && nest_.rank() - kept_ == 1 &&
               reduced_count_ > 16 * block;
    }

    void run_row_of_blocks(const Memory& memory, const runtime::Run& run, int64_t row) const {
        ScratchScope scratch;
        const int64_t blocks = (reduced_count_ + block - 1) / block;
        char* const results = scratch.take(blocks * output().size());
        std::vector<int64_t> base = start_offsets();
        add_offsets(nest_, 0, kept_, row, base);
        split(run, blocks, static_cast<double>(reduced_count_),
              [&](int64_t begin, int64_t end) { run_blocks(memory, base, begin, end, results); });
        kernels_->combine_blocks(results, blocks, output_at(memory, base));
    }

    // Blocks begin <= b < end of the row at `base`, each to its own place in `results`.
    void run_blocks(const Memory& memory, const std::vector<int64_t>& base, int64_t begin,
                    int64_t end, char* results) const {
        ScratchScope scratch;
        ChunkEvaluator evaluator(body_, nest_.operands, loops_, memory, set_, scratch);
        char* const chunk = scratch.take(chunk_elements * value_size_);
        evaluator.set_result(0, chunk);
        char* const state = scratch.take(kernels_->row_state_bytes);
        std::vector<int64_t> offsets;
        for (int64_t b = begin; b < end; ++b) {
            kernels_->row_start(state);
            const int64_t stop = std::min(reduced_count_, (b + 1) * block);
            const int64_t step = reads_in_place_ ? block : chunk_elements;
            for (int64_t e = b * block; e < stop; e += step) {
                const int64_t count = std::min(step, stop - e);
                offsets = base;
                for (size_t k = 0; k < offsets.size(); ++k)
                    offsets[k] += e * stride(k, last_reduced());
                if (reads_in_place_) {
                    kernels_->row_add(state, in_place(memory, offsets), count);
                } else {
                    evaluator.evaluate(offsets, 1, count);
                    kernels_->row_add(state, chunk, count);
                }
            }
            kernels_->row_finish(state, results + b * output().size());
        }
    }

    // Several rows of few elements per chunk.
    void run_short_rows(const Memory& memory, int64_t begin, int64_t end, int64_t tiles) const {
        ScratchScope scratch;
        ChunkEvaluator evaluator(body_, nest_.operands, loops_, memory, set_, scratch);
        char* const chunk = scratch.take(chunk_elements * value_size_);
        evaluator.set_result(0, chunk);
        char* const results = scratch.take(tile_rows_ * output().size());
        const int row_loop = kept_ - 1;
        for (int64_t tile = begin; tile < end; ++tile) {
            std::vector<int64_t> offsets = start_offsets();
            const int64_t row = tile % tiles * tile_rows_,
                          rows = std::min(tile_rows_, kept_extent_ - row);
            add_offsets(nest_, 0, std::max(0, row_loop), tile / tiles, offsets);
            for (size_t k = 0; k < offsets.size(); ++k) offsets[k] += row * stride(k, row_loop);
            if (reads_in_place_) {
                kernels_->rows(in_place(memory, offsets), rows, stride(0, row_loop), reduced_count_,
                               results);
            } else {
                evaluator.evaluate(offsets, rows, reduced_count_);
                kernels_->rows(chunk, rows, reduced_count_, reduced_count_, results);
            }
            set_.copy[size_class(output().dtype)](results, {0, 1}, output_at(memory, offsets),
                                                  {0, stride(offsets.size() - 1, row_loop)}, 1,
                                                  rows);
        }
    }

    void run_columns(const Memory& memory, int64_t begin, int64_t end, int64_t strips) const {
        ScratchScope scratch;
        ChunkEvaluator evaluator(body_, nest_.operands, loops_, memory, set_, scratch);
        char* const chunk = scratch.take(chunk_elements * value_size_);
        evaluator.set_result(0, chunk);
        char* const state = scratch.take(kernels_->column_state_bytes);
        char* const results = scratch.take(strip_ * output().size());
        for (int64_t task = begin; task < end; ++task) {
            std::vector<int64_t> base = start_offsets();
            const int64_t column = task % strips * strip_,
                          width = std::min(strip_, kept_extent_ - column);
            add_offsets(nest_, 0, kept_ - 1, task / strips, base);
            for (size_t k = 0; k < base.size(); ++k) base[k] += column * stride(k, kept_ - 1);
            kernels_->columns_start(state, width);
            each_reduced_tile(base,
                              [&](const std::vector<int64_t>& offsets, int64_t, int64_t rows) {
                                  if (reads_in_place_) {
                                      kernels_->columns_add(state, in_place(memory, offsets), rows,
                                                            stride(0, last_reduced()));
                                  } else {
                                      evaluator.evaluate(offsets, rows, width);
                                      kernels_->columns_add(state, chunk, rows, width);
                                  }
                              });
            kernels_->columns_finish(state, results);
            set_.copy[size_class(output().dtype)](results, {0, 1}, output_at(memory, base),
                                                  {0, stride(base.size() - 1, kept_ - 1)}, 1,
                                                  width);
        }
    }

    const KernelSet& set_;
    const bool counts_;  // the value is what a bool is as an integer
    Body body_;
    const ReduceKernels* kernels_;
    Nest nest_;     // kept loops, then reduced ones; inputs, then the output
    int kept_ = 0;  // number of kept loops
    int64_t reduced_count_ = 1, kept_extent_ = 1, value_size_ = 1;
    bool by_columns_ = false;      // many neighbouring reductions side by side
    bool is_short_ = false;        // several whole rows fit one chunk
    bool reads_in_place_ = false;  // the value is the first input, side by side in memory
    TileLoops loops_;
    int64_t tile_rows_ = 1, strip_ = 1;
};

StepRef step_of(const Program&, const KernelSet& set, const ir::kernel::Reduce& reduce) {
    return std::make_unique<ReduceStep>(reduce, set);
}

const bool runs_reduce = steps().add<ir::kernel::Reduce, step_of>();

}  // namespace

}  // namespace composit::interpreter

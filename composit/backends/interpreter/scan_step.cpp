// Scan: running combinations, along rows or down columns.
#include "composit/backends/interpreter/step.h"
#include "composit/base/error.h"
#include "composit/runtime/interrupt.h"

namespace composit::interpreter {

namespace {

class ScanStep : public Step {
  public:
    ScanStep(const ir::kernel::Scan& scan, const KernelSet& set)
        : set_(set),
          body_({scan.value}, scan.inputs.size(), set),
          kernels_(set.scan(scan.combiner, scan.value.dtype())) {
        user_check<NotSupported>(kernels_ != nullptr,
                                 "interpreter: there is no kernel for scans by ",
                                 ir::kernel::name(scan.combiner), " over ", scan.value.dtype(),
                                 ". Cast to a supported dtype first.");
        nest_.extents = scan.extents;
        for (const auto& access : scan.inputs) nest_.operands.emplace_back(access);
        nest_.operands.emplace_back(scan.output);
        length_ = scan.extents.back();
        outer_ = collapse(nest_, static_cast<int>(scan.extents.size()) - 1);
        has_loop_ = nest_.rank() > outer_;  // a scan of length 1 has none
        const int last = has_loop_ ? outer_ : -1;
        by_columns_ = outer_ > 0 && has_loop_ && stride(output_number(), outer_ - 1) == 1 &&
                      stride(output_number(), last) != 1;
        loops_ = by_columns_ ? TileLoops{last, outer_ - 1} : TileLoops{-1, last};
        reads_in_place_ = body_.is_identity() && !nest_.operands[0].is_position() &&
                          (!has_loop_ || stride(0, last) == 1);
    }

    void run(const Memory& memory, const runtime::Run& run) const override {
        const int64_t outer = nest_.iterations(0, outer_);
        if (outer == 0 || length_ == 0) return;
        const double work = static_cast<double>(nest_.iterations());
        if (!by_columns_) {
            split(run, outer, work,
                  [&](int64_t begin, int64_t end) { run_rows(memory, begin, end); });
            return;
        }
        const int64_t strips = (nest_.extents[static_cast<size_t>(outer_ - 1)] + strip - 1) / strip;
        split(run, nest_.iterations(0, outer_ - 1) * strips, work,
              [&](int64_t begin, int64_t end) { run_columns(memory, begin, end, strips); });
    }

  private:
    static constexpr int64_t strip = 256;
    static constexpr int64_t in_place_elements = 1 << 16;  // between looks for an interruption

    size_t output_number() const { return nest_.operands.size() - 1; }
    int64_t stride(size_t operand, int loop) const {
        return loop < 0 ? 0 : nest_.operands[operand].strides[static_cast<size_t>(loop)];
    }
    int64_t size() const { return nest_.operands.back().size(); }
    char* output_at(const Memory& memory, int64_t offset) const {
        return memory[static_cast<size_t>(nest_.operands.back().buffer)] + offset * size();
    }

    void find_offsets(int last, int64_t flat, std::vector<int64_t>& offsets) const {
        for (size_t k = 0; k < offsets.size(); ++k) offsets[k] = nest_.operands[k].offset;
        add_offsets(nest_, 0, last, flat, offsets);
    }

    void advance(std::vector<int64_t>& offsets, int loop, int64_t by) const {
        for (size_t k = 0; k < offsets.size(); ++k) offsets[k] += by * stride(k, loop);
    }

    void run_rows(const Memory& memory, int64_t begin, int64_t end) const {
        ScratchScope scratch;
        ChunkEvaluator evaluator(body_, nest_.operands, loops_, memory, set_, scratch);
        char* const chunk = scratch.take(chunk_elements * size());
        char* const carry = scratch.take(size());
        evaluator.set_result(0, chunk);
        runtime::Patience patience;
        const int64_t step = reads_in_place_ ? in_place_elements : chunk_elements;
        const char* const input =
            reads_in_place_ ? memory[static_cast<size_t>(nest_.operands[0].buffer)] : nullptr;
        std::vector<int64_t> offsets(nest_.operands.size());
        for (int64_t row = begin; row < end; ++row) {
            find_offsets(outer_, row, offsets);
            for (int64_t i = 0; i < length_; i += step) {
                const int64_t n = std::min(step, length_ - i);
                if (!reads_in_place_) evaluator.evaluate(offsets, 1, n);
                kernels_->row(reads_in_place_ ? input + offsets[0] * size() : chunk, n, carry,
                              i == 0, output_at(memory, offsets.back()),
                              stride(output_number(), loops_.column));
                advance(offsets, loops_.column, n);
                patience.spend(n);
            }
        }
    }

    void run_columns(const Memory& memory, int64_t begin, int64_t end, int64_t strips) const {
        ScratchScope scratch;
        ChunkEvaluator evaluator(body_, nest_.operands, loops_, memory, set_, scratch);
        char* const chunk = scratch.take(chunk_elements * size());
        char* const carry = scratch.take(strip * size());
        evaluator.set_result(0, chunk);
        const int64_t step = chunk_elements / strip;
        runtime::Patience patience;
        std::vector<int64_t> offsets(nest_.operands.size());
        for (int64_t task = begin; task < end; ++task) {
            find_offsets(outer_ - 1, task / strips, offsets);
            const int64_t column = task % strips * strip;
            const int64_t width =
                std::min(strip, nest_.extents[static_cast<size_t>(outer_ - 1)] - column);
            advance(offsets, outer_ - 1, column);
            for (int64_t i = 0; i < length_; i += step) {
                const int64_t rows = std::min(step, length_ - i);
                evaluator.evaluate(offsets, rows, width);
                for (int64_t r = 0; r < rows; ++r)
                    kernels_->columns(chunk + r * width * size(), width, carry, i + r == 0,
                                      output_at(memory, offsets.back() + r * stride(output_number(),
                                                                                    loops_.row)));
                advance(offsets, loops_.row, rows);
                patience.spend(rows * width);
            }
        }
    }

    const KernelSet& set_;
    Body body_;
    const ScanKernels* kernels_;
    Nest nest_;
    int outer_ = 0;
    int64_t length_ = 1;
    bool has_loop_ = true, by_columns_ = false;
    bool reads_in_place_ = false;  // the value is the first input, side by side in memory
    TileLoops loops_;
};

StepRef step_of(const Program&, const KernelSet& set, const ir::kernel::Scan& scan) {
    internal_check(!scan.extents.empty(), "a scan has no loop");
    return std::make_unique<ScanStep>(scan, set);
}

const bool runs_scan = steps().add<ir::kernel::Scan, step_of>();

}  // namespace

}  // namespace composit::interpreter

// Fold: overlapping windows added back into place.
#include "composit/backends/interpreter/step.h"
#include "composit/base/error.h"

namespace composit::interpreter {

namespace {

class FoldStep : public Step {
  public:
    FoldStep(const ir::kernel::Fold& fold, const KernelSet& set)
        : fold_(fold), kernel_(set.fold(fold.output.dtype)) {
        user_check<NotSupported>(kernel_ != nullptr, "interpreter: there is no kernel for folding ",
                                 fold.output.dtype, ". Cast to a supported dtype first.");
        // Channels that are kept last lie side by side: the kernel adds them as one run.
        const size_t outer = fold.outer.size();
        outer_count_ = outer;
        if (outer > 0 && fold.input.strides[outer - 1] == 1 &&
            fold.output.strides[outer - 1] == 1) {
            run_ = fold.outer.back();
            outer_count_ = outer - 1;
        }
    }

    void run(const Memory& memory, const runtime::Run& run) const override {
        const size_t outer = fold_.outer.size(), axes = fold_.positions.size();
        const int64_t* const input = fold_.input.strides.data();
        const int64_t* const output = fold_.output.strides.data();
        FoldArguments a;
        a.input = start_of(memory, fold_.input);
        a.output = start_of(memory, fold_.output);
        a.outer = {static_cast<int>(outer_count_), fold_.outer.data()};
        a.positions = {static_cast<int>(axes), fold_.positions.data()};
        a.counts = {static_cast<int>(axes), fold_.counts.data()};
        a.window = {static_cast<int>(axes), fold_.window.data()};
        a.steps = fold_.steps.data();
        a.dilations = fold_.dilations.data();
        a.input_outer = input;
        a.input_counts = input + outer;
        a.input_window = input + outer + axes;
        a.output_outer = output;
        a.output_positions = output + outer;
        a.run = run_;
        const int64_t count = product(fold_.outer, outer_count_);
        const double work = static_cast<double>(count) * static_cast<double>(run_) *
                            static_cast<double>(product(fold_.counts, axes)) *
                            static_cast<double>(product(fold_.window, axes));
        split(run, count, work, [&](int64_t begin, int64_t end) { kernel_(a, begin, end); });
    }

  private:
    static int64_t product(const ir::kernel::Extents& extents, size_t first) {
        int64_t result = 1;
        for (size_t d = 0; d < first; ++d) result *= extents[d];
        return result;
    }

    ir::kernel::Fold fold_;
    FoldKernel kernel_;
    size_t outer_count_ = 0;
    int64_t run_ = 1;
};

StepRef step_of(const Program&, const KernelSet& set, const ir::kernel::Fold& fold) {
    return std::make_unique<FoldStep>(fold, set);
}

const bool runs_fold = steps().add<ir::kernel::Fold, step_of>();

}  // namespace

}  // namespace composit::interpreter

// Sort: positions in the order of values, or the values, row by row.
#include "composit/backends/interpreter/step.h"
#include "composit/base/error.h"
#include "composit/runtime/interrupt.h"

#include <cmath>

namespace composit::interpreter {

namespace {

class SortStep : public Step {
  public:
    SortStep(const ir::kernel::Sort& sort, const KernelSet& set)
        : sort_(sort), kernel_(set.sort(sort.input.dtype, sort.gives_values)) {
        user_check<NotSupported>(kernel_ != nullptr, "interpreter: there is no kernel for sorting ",
                                 sort.input.dtype, ". Cast to a supported dtype first.");
    }

    void run(const Memory& memory, const runtime::Run& run) const override {
        const size_t outer = sort_.extents.size() - 1;
        int64_t rows = 1;
        for (size_t d = 0; d < outer; ++d) rows *= sort_.extents[d];
        const int64_t length = sort_.extents.back();
        if (rows == 0 || length == 0) return;
        SortArguments a;
        a.input = start_of(memory, sort_.input);
        a.output = start_of(memory, sort_.output);
        a.spare = start_of(memory, sort_.spare);
        a.outer = {static_cast<int>(outer), sort_.extents.data()};
        a.input_outer = sort_.input.strides.data();
        a.output_outer = sort_.output.strides.data();
        a.spare_outer = sort_.spare.strides.data();
        a.length = length;
        a.stride = sort_.input.strides.back();
        a.goes_on = [] {
            runtime::check_interrupt();
            return true;
        };
        const double comparisons = std::log2(static_cast<double>(length) + 1);
        const double work = static_cast<double>(rows) * static_cast<double>(length) * comparisons;
        split(run, rows, work, [&](int64_t begin, int64_t end) { kernel_(a, begin, end); });
    }

  private:
    ir::kernel::Sort sort_;
    SortKernel kernel_;
};

StepRef step_of(const Program&, const KernelSet& set, const ir::kernel::Sort& sort) {
    internal_check(!sort.extents.empty(), "a sort has no loop");
    return std::make_unique<SortStep>(sort, set);
}

const bool runs_sort = steps().add<ir::kernel::Sort, step_of>();

}  // namespace

}  // namespace composit::interpreter

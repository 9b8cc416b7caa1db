// Search: how many elements of a row in order come before each value.
#include "composit/backends/interpreter/step.h"
#include "composit/base/error.h"

#include <cmath>

namespace composit::interpreter {

namespace {

class SearchStep : public Step {
  public:
    SearchStep(const ir::kernel::Search& search, const KernelSet& set)
        : search_(search), kernel_(set.search(search.values.dtype)) {
        user_check<NotSupported>(kernel_ != nullptr,
                                 "interpreter: there is no kernel for searching ",
                                 search.values.dtype, ". Cast to a supported dtype first.");
    }

    void run(const Memory& memory, const runtime::Run& run) const override {
        int64_t count = 1;
        for (const int64_t extent : search_.extents) count *= extent;
        if (count == 0) return;
        SearchArguments a;
        a.length = search_.row[0];
        a.sorted = start_of(memory, search_.sorted);
        a.values = start_of(memory, search_.values);
        a.output = reinterpret_cast<int64_t*>(start_of(memory, search_.output));
        a.outer = {static_cast<int>(search_.extents.size()), search_.extents.data()};
        a.sorted_outer = search_.sorted.strides.data();
        a.values_outer = search_.values.strides.data();
        a.output_outer = search_.output.strides.data();
        a.stride = search_.sorted.strides.back();
        a.is_right = search_.is_right;
        const double halvings = std::log2(static_cast<double>(a.length) + 1) + 1;
        split(run, count, static_cast<double>(count) * halvings,
              [&](int64_t begin, int64_t end) { kernel_(a, begin, end); });
    }

  private:
    ir::kernel::Search search_;
    SearchKernel kernel_;
};

StepRef step_of(const Program&, const KernelSet& set, const ir::kernel::Search& search) {
    return std::make_unique<SearchStep>(search, set);
}

const bool runs_search = steps().add<ir::kernel::Search, step_of>();

}  // namespace

}  // namespace composit::interpreter

// Gather and Scatter: integer indexing, with bounds checked at run time.
#include "composit/backends/interpreter/step.h"
#include "composit/base/error.h"

#include <mutex>

namespace composit::interpreter {

namespace {

// What gathers and scatters have in common: the index operands and the axes they select along.
template <class Kernel>
class IndexedStep : public Step {
  protected:
    explicit IndexedStep(const Kernel& kernel) : kernel_(kernel) {
        for (const auto& access : kernel_.indices) strides_.push_back(access.strides.data());
        internal_check(kernel.indices.size() == kernel.axis_lengths.size(),
                       "an index without an axis");
        for (const auto& access : kernel.indices)
            internal_check(access.dtype == ir::DType::int64 && access.buffer >= 0,
                           "indices must be an int64 buffer, not ", access.dtype);
    }

    static LoopNest loops(const ir::kernel::Extents& extents) {
        return {static_cast<int>(extents.size()), extents.data()};
    }
    static int64_t count(const ir::kernel::Extents& extents) {
        int64_t product = 1;
        for (const int64_t extent : extents) product *= extent;
        return product;
    }

    // `other` is what is not `data`; its strides run over outer and inner loops.
    MoveArguments arguments(const Memory& memory, const ir::kernel::Access& other,
                            std::vector<const int64_t*>& indices) const {
        for (const auto& access : kernel_.indices)
            indices.push_back(reinterpret_cast<const int64_t*>(start_of(memory, access)));
        MoveArguments a;
        a.outer = loops(kernel_.outer);
        a.inner = loops(kernel_.inner);
        a.axes = {static_cast<int>(indices.size()), indices.data(), strides_.data(),
                  kernel_.axis_strides.data(), kernel_.axis_lengths.data()};
        a.data_inner = kernel_.data.strides.data();
        a.other_outer = other.strides.data();
        a.other_inner = other.strides.data() + kernel_.outer.size();
        return a;
    }

    void check(const BadIndex& bad) const {
        if (bad.outer < 0) return;
        const auto axis = static_cast<size_t>(bad.axis);
        fail<IndexError>("index ", bad.index, " is out of bounds for axis ",
                         kernel_.axis_numbers[axis], " with size ", kernel_.axis_lengths[axis]);
    }

    Kernel kernel_;

  private:
    std::vector<const int64_t*> strides_;
};

class GatherStep : public IndexedStep<ir::kernel::Gather> {
  public:
    GatherStep(const ir::kernel::Gather& gather, const KernelSet& set)
        : IndexedStep(gather), move_(set.gather[size_class(gather.data.dtype)]) {}

    void run(const Memory& memory, const runtime::Run& run) const override {
        std::vector<const int64_t*> indices;
        MoveArguments a = arguments(memory, kernel_.output, indices);
        a.from = start_of(memory, kernel_.data);
        a.to = start_of(memory, kernel_.output);
        const int64_t outer = count(kernel_.outer);
        std::mutex mutex;
        BadIndex first = {-1, 0, 0};  // of all threads' the one that comes first
        split(run, outer, static_cast<double>(outer) * static_cast<double>(count(kernel_.inner)),
              [&](int64_t begin, int64_t end) {
                  const BadIndex bad = move_(a, begin, end);
                  if (bad.outer < 0) return;
                  const std::lock_guard<std::mutex> lock(mutex);
                  if (first.outer < 0 || bad.outer < first.outer) first = bad;
              });
        check(first);
    }

  private:
    MoveKernel move_;
};

class ScatterStep : public IndexedStep<ir::kernel::Scatter> {
  public:
    ScatterStep(const ir::kernel::Scatter& scatter, const KernelSet& set)
        : IndexedStep(scatter), move_(set.scatter(scatter.add, scatter.data.dtype)) {
        user_check<NotSupported>(move_ != nullptr,
                                 "interpreter: there is no kernel for scattering ",
                                 scatter.data.dtype, ". Cast to a supported dtype first.");
    }

    void run(const Memory& memory, const runtime::Run& run) const override {
        std::vector<const int64_t*> indices;
        MoveArguments a = arguments(memory, kernel_.update, indices);
        a.from = start_of(memory, kernel_.update);
        a.to = start_of(memory, kernel_.data);
        // Updates of one element keep their order: threads share out the inner elements only.
        const int64_t inner = count(kernel_.inner);
        std::mutex mutex;
        BadIndex first = {-1, 0, 0};
        split(run, inner, static_cast<double>(count(kernel_.outer)) * static_cast<double>(inner),
              [&](int64_t begin, int64_t end) {
                  const BadIndex bad = move_(a, begin, end);
                  const std::lock_guard<std::mutex> lock(mutex);
                  if (bad.outer >= 0) first = bad;  // every thread meets the same one
              });
        check(first);
    }

  private:
    MoveKernel move_;
};

StepRef step_of(const Program&, const KernelSet& set, const ir::kernel::Gather& gather) {
    return std::make_unique<GatherStep>(gather, set);
}

StepRef step_of(const Program&, const KernelSet& set, const ir::kernel::Scatter& scatter) {
    return std::make_unique<ScatterStep>(scatter, set);
}

const bool runs_gather = steps().add<ir::kernel::Gather, step_of>();
const bool runs_scatter = steps().add<ir::kernel::Scatter, step_of>();

}  // namespace

}  // namespace composit::interpreter

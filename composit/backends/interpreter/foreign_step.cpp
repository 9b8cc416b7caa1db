// Foreign: a call of a registered function.
#include "composit/backends/interpreter/step.h"
#include "composit/runtime/foreign.h"

namespace composit::interpreter {

namespace {

class ForeignStep : public Step {
  public:
    explicit ForeignStep(const ir::kernel::Foreign& foreign) : kernel_(foreign) {
        for (const auto* operands : {&foreign.inputs, &foreign.outputs})
            for (const auto& operand : *operands)
                buffers_.push_back(static_cast<size_t>(operand.access.buffer));
    }

    void run(const Memory& memory, const runtime::Run&) const override {
        std::vector<void*> at;
        for (size_t buffer : buffers_) at.push_back(memory[buffer]);
        kernel_.run(at.data());
    }

  private:
    runtime::ForeignKernel kernel_;
    std::vector<size_t> buffers_;
};

}  // namespace

StepRef make_step(const ir::kernel::Foreign& foreign, const Program&, const KernelSet&) {
    return std::make_unique<ForeignStep>(foreign);
}

}  // namespace composit::interpreter

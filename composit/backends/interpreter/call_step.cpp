// Foreign: a call of a registered function. Call: runs of a procedure.
#include "composit/backends/interpreter/step.h"
#include "composit/runtime/foreign.h"
#include "composit/runtime/procedure_call.h"

namespace composit::interpreter {

namespace {

// Where the operands' buffers are, inputs first.
class Places {
  public:
    template <class Kind>
    explicit Places(const Kind& kernel) {
        for (const auto* operands : {&kernel.inputs, &kernel.outputs})
            for (const auto& operand : *operands)
                buffers_.push_back(static_cast<size_t>(operand.access.buffer));
    }

    std::vector<void*> in(const Memory& memory) const {
        std::vector<void*> at;
        for (const size_t buffer : buffers_) at.push_back(memory[buffer]);
        return at;
    }

  private:
    std::vector<size_t> buffers_;
};

class ForeignStep : public Step {
  public:
    explicit ForeignStep(const ir::kernel::Foreign& foreign) : places_(foreign), kernel_(foreign) {}

    void run(const Memory& memory, const runtime::Run&) const override {
        kernel_.run(places_.in(memory).data());
    }

  private:
    Places places_;
    runtime::ForeignKernel kernel_;
};

class CallStep : public Step {
  public:
    explicit CallStep(const ir::kernel::Call& call) : places_(call), call_(call) {}

    void run(const Memory& memory, const runtime::Run& run) const override {
        call_.run(places_.in(memory).data(), run);
    }

  private:
    Places places_;
    runtime::ProcedureCall call_;
};

StepRef step_of(const Program&, const KernelSet&, const ir::kernel::Foreign& foreign) {
    return std::make_unique<ForeignStep>(foreign);
}

StepRef step_of(const Program&, const KernelSet&, const ir::kernel::Call& call) {
    return std::make_unique<CallStep>(call);
}

const bool runs_foreign = steps().add<ir::kernel::Foreign, step_of>();
const bool runs_call = steps().add<ir::kernel::Call, step_of>();

}  // namespace

}  // namespace composit::interpreter

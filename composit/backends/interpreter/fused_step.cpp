// Fused: its members one after the other on each part, what passes between them in scratch memory.
#include "composit/backends/interpreter/step.h"

#include <algorithm>

namespace composit::interpreter {

namespace {

using ir::kernel::Access;
using ir::kernel::Buffer;
using ir::kernel::Fused;

// One kernel of the group. Every access has a slot of its own in the memory that its step sees.
struct MemberStep {
    struct Slot {
        int buffer, local;  // the program's buffer, or a number among the locals (else -1)
        int64_t bytes;      // of one element
        std::vector<int64_t> steps;
    };
    std::vector<Slot> slots;
    ir::kernel::Body body;  // what the step refers to
    StepRef step;
};

class FusedStep : public Step {
  public:
    FusedStep(const Fused& fused, const Program& program, const KernelSet& set)
        : pieces_(fused.pieces), work_(ir::kernel::flops({"", "", {}, fused})) {
        for (int local : fused.locals)
            local_bytes_.push_back(program.buffers[static_cast<size_t>(local)].bytes);
        for (const auto& member : fused.members)
            members_.push_back(member_step(member, fused.locals, set));
    }

    void run(const Memory& memory, const runtime::Run& run) const override {
        const runtime::ParallelFor sequential = [](int64_t count,
                                                   const std::function<void(int64_t)>& task) {
            for (int64_t i = 0; i < count; ++i) task(i);
        };
        const runtime::Run alone{{}, {}, 1, sequential};
        split(run, ir::element_count(pieces_), work_, [&](int64_t begin, int64_t end) {
            ScratchScope scratch;
            std::vector<char*> locals;
            for (int64_t bytes : local_bytes_) locals.push_back(scratch.take(bytes));
            Memory places;
            for (int64_t piece = begin; piece < end; ++piece)
                for (const MemberStep& member : members_) {
                    places.clear();
                    for (const MemberStep::Slot& slot : member.slots)
                        places.push_back(place(slot, piece, memory, locals));
                    member.step->run(places, alone);
                }
        });
    }

  private:
    static MemberStep member_step(const ir::kernel::Member& member, const std::vector<int>& locals,
                                  const KernelSet& set) {
        MemberStep made;
        made.body = member.kernel.body;
        Program slots;
        const auto moved = ir::kernel::accesses(made.body);
        for (size_t a = 0; a < moved.size(); ++a) {
            Access& access = *moved[a];
            if (access.buffer == Access::position) continue;
            const auto local = std::find(locals.begin(), locals.end(), access.buffer);
            const int number =
                local == locals.end() ? -1 : static_cast<int>(local - locals.begin());
            made.slots.push_back(
                {access.buffer, number, ir::size_of(access.dtype), member.steps[a]});
            access.buffer = static_cast<int>(slots.buffers.size());
            slots.buffers.emplace_back();
        }
        made.step = make_step(made.body, slots, set);
        return made;
    }

    char* place(const MemberStep::Slot& slot, int64_t piece, const Memory& memory,
                const std::vector<char*>& locals) const {
        if (slot.local >= 0) return locals[static_cast<size_t>(slot.local)];
        int64_t offset = 0;
        for (size_t d = pieces_.size(); d-- > 0; piece /= pieces_[d])
            offset += piece % pieces_[d] * slot.steps[d];
        return memory[static_cast<size_t>(slot.buffer)] + offset * slot.bytes;
    }

    ir::kernel::Extents pieces_;
    double work_;
    std::vector<int64_t> local_bytes_;
    std::vector<MemberStep> members_;
};

StepRef step_of(const Program& program, const KernelSet& set, const Fused& fused) {
    return std::make_unique<FusedStep>(fused, program, set);
}

const bool runs_fused = steps().add<Fused, step_of>();

}  // namespace

}  // namespace composit::interpreter

// Results in the memory of arguments that the caller gives up.
#include "composit/base/error.h"
#include "composit/transforms/in_place.h"
#include "composit/transforms/transforms.h"

namespace composit::transforms {

using ir::kernel::Access;
using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Kernel;
using ir::kernel::Program;

namespace {

// Whether the first kernel that writes the result reads the argument: its update.
bool is_update(const Program& program, int input, int output) {
    for (const Kernel& kernel : program.kernels)
        if (touches(ir::kernel::buffers_written(kernel), output))
            return touches(ir::kernel::buffers_read(kernel), input);
    return false;
}

class Donating {
  public:
    Donating(Program program, const std::vector<Donation>& donations)
        : program_(std::move(program)), donations_(donations), is_taken_(donations.size()) {}

    // Updates of an argument lie there rather than another result of its size.
    Program place() {
        for (const bool updates_only : {true, false})
            for (size_t k = 0; k < program_.outputs.size(); ++k) place_output(k, updates_only);
        return std::move(program_);
    }

  private:
    void place_output(size_t k, bool updates_only) {
        const int output = program_.outputs[k];
        if (buffer(output).kind != BufferKind::output || buffer(output).starts_as >= 0) return;
        for (size_t d = 0; d < donations_.size(); ++d) {
            const int input = program_.inputs[donations_[d].input];
            if (is_taken_[d] || !fits(donations_[d], k) ||
                (updates_only && !is_update(program_, input, output)) ||
                !may_write_in_place(program_.kernels, whole(input), whole(output)))
                continue;
            replace_buffer(program_.kernels, input, output);
            buffer(output).starts_as = input;
            is_taken_[d] = true;
            return;
        }
    }

    static bool fits(const Donation& donation, size_t output) {
        for (size_t possible : donation.outputs)
            if (possible == output) return true;
        return false;
    }

    Buffer& buffer(int number) { return program_.buffers[static_cast<size_t>(number)]; }

    // Only the buffer is asked for.
    static Access whole(int number) { return {.buffer = number}; }

    Program program_;
    const std::vector<Donation>& donations_;
    std::vector<bool> is_taken_;
};

}  // namespace

Program donate(Program program, const std::vector<Donation>& donations) {
    return Donating(std::move(program), donations).place();
}

}  // namespace composit::transforms

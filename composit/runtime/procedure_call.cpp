#include "composit/runtime/procedure_call.h"

#include "composit/base/error.h"
#include "composit/ir/kernel/loops.h"
#include "composit/ir/procedure/callable.h"
#include "composit/runtime/chunks.h"
#include "composit/runtime/interrupt.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace composit::runtime {
namespace {

using ir::kernel::Call;
using ir::procedure::Callable;
using ir::scalar::Bits;

const Callable& callable_of(const Call& kernel) {
    const Callable* const callable = ir::procedure::find_callable(kernel.procedure);
    internal_check(callable != nullptr, "no procedure has the number ", kernel.procedure);
    return *callable;
}

}  // namespace

ProcedureCall::ProcedureCall(const Call& kernel)
    : callable_(callable_of(kernel)), batch_(kernel.batch), runs_(ir::element_count(batch_)) {
    const auto rank = static_cast<std::ptrdiff_t>(batch_.size());
    bool has_elements = false;
    for (const auto& [from, to] :
         {std::pair(&kernel.inputs, &inputs_), {&kernel.outputs, &outputs_}})
        for (const auto& [access, extents] : *from) {
            const int64_t size = ir::size_of(access.dtype), count = ir::element_count(extents);
            has_elements |= count > 0;
            std::vector<int64_t> steps(access.strides.begin(), access.strides.begin() + rank),
                strides(access.strides.begin() + rank, access.strides.end());
            for (int64_t& step : steps) step *= size;
            if (ir::kernel::is_row_major(extents, strides)) strides.clear();
            to->push_back({access.offset * size, std::move(steps), extents, std::move(strides),
                           static_cast<size_t>(size), count});
        }
    if (!has_elements) runs_ = std::min<int64_t>(runs_, 1);  // all do the same
    for (size_t i = 0; i < inputs_.size(); ++i)
        if (callable_.operands()[i] < 0) shapes_.push_back(inputs_[i].extents);
    input_arrays_ = shapes_.size();
    for (size_t k = callable_.procedure().results.size(); k < outputs_.size(); ++k)
        shapes_.push_back(outputs_[k].extents);
}

// What one thread needs for its runs.
class ProcedureCall::Runner {
  public:
    Runner(const ProcedureCall& call, void* const* at)
        : call_(call),
          at_(at),
          copies_(call.inputs_.size()),
          parameters_(call.callable_.with_extents(
              std::vector<Bits>(call.callable_.procedure().parameters),
              {call.shapes_.begin(),
               call.shapes_.begin() + static_cast<std::ptrdiff_t>(call.input_arrays_)})) {}

    void run(int64_t number) {
        check_interrupt();
        index_ = number;
        arrays_.clear();
        const Callable& callable = call_.callable_;
        for (size_t i = 0; i < call_.inputs_.size(); ++i) {
            const int place = callable.operands()[i];
            char* const element = place_of(call_.inputs_[i], at_[i]);
            if (place < 0) {
                arrays_.push_back(row_major(i, element));
                continue;
            }
            Bits& bits = parameters_[static_cast<size_t>(place)] = {};
            std::memcpy(bits.data(), element, call_.inputs_[i].size);
        }
        if (callable.has_numbers_in_extents())  // of which nobody knew before
            callable.check_shapes(parameters_, call_.shapes_,
                                  std::vector<bool>(callable.procedure().parameters, true));
        const size_t numbers = callable.procedure().results.size();
        const auto output = [&](size_t k) {
            return place_of(call_.outputs_[k], at_[call_.inputs_.size() + k]);
        };
        for (size_t k = numbers; k < call_.outputs_.size(); ++k) arrays_.push_back(output(k));
        const std::vector<Bits> results = callable.run(parameters_, arrays_.data());
        for (size_t k = 0; k < numbers; ++k)
            std::memcpy(output(k), results[k].data(), call_.outputs_[k].size);
    }

  private:
    // Where the run's part of an operand starts.
    char* place_of(const Operand& operand, void* start) const {
        char* place = static_cast<char*>(start) + operand.offset;
        int64_t rest = index_;
        for (size_t d = call_.batch_.size(); d-- > 0; rest /= call_.batch_[d])
            place += rest % call_.batch_[d] * operand.steps[d];
        return place;
    }

    char* row_major(size_t input, char* element) {
        const Operand& operand = call_.inputs_[input];
        if (operand.strides.empty()) return element;
        std::vector<char>& copy = copies_[input];
        copy.resize(static_cast<size_t>(operand.count) * operand.size);
        char* to = copy.data();
        copy_axis(operand, 0, element, to);
        return copy.data();
    }

    static void copy_axis(const Operand& operand, size_t axis, const char* from, char*& to) {
        if (axis == operand.extents.size()) {
            std::memcpy(to, from, operand.size);
            to += operand.size;
            return;
        }
        const int64_t step = operand.strides[axis] * static_cast<int64_t>(operand.size);
        for (int64_t i = 0; i < operand.extents[axis]; ++i)
            copy_axis(operand, axis + 1, from + i * step, to);
    }

    const ProcedureCall& call_;
    void* const* at_;
    int64_t index_ = 0;
    std::vector<std::vector<char>> copies_;
    std::vector<Bits> parameters_;
    std::vector<void*> arrays_;
};

// Nobody knows how long a procedure takes; the first run tells what the others are worth.
void ProcedureCall::run(void* const* at, const Run& run) const {
    using Clock = std::chrono::steady_clock;
    if (runs_ == 0) return;
    Runner first(*this, at);
    const auto start = Clock::now();
    first.run(0);
    const std::chrono::duration<double, std::nano> took = Clock::now() - start;
    const int64_t left = runs_ - 1;
    const double worth = took.count() * static_cast<double>(left) / timed_nanoseconds_per_chunk;
    const int64_t chunks = std::min(
        {left, run.threads * chunks_per_thread, static_cast<int64_t>(std::min(worth, 1e9))});
    if (run.threads < 2 || chunks < 2) {
        for (int64_t number = 1; number < runs_; ++number) first.run(number);
        return;
    }
    run.parallel_for(chunks, [&](int64_t chunk) {
        Runner runner(*this, at);
        for (int64_t i = left * chunk / chunks; i < left * (chunk + 1) / chunks; ++i)
            runner.run(1 + i);
    });
}

}  // namespace composit::runtime

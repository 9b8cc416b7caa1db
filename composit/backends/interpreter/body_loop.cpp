// Runs steps over the elements whose condition holds; finished ones are taken out of the state.
#include "composit/backends/interpreter/body_loop.h"

#include "composit/runtime/interrupt.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace composit::interpreter {

using ir::scalar::Loop;

namespace {

struct Chunk {
    explicit Chunk(int64_t bytes) : bytes(static_cast<size_t>(bytes)) {}
    char* data() { return bytes.data(); }
    std::vector<char> bytes;
};

// A body with its slots and registers.
class Runner {
  public:
    explicit Runner(const Body& body)
        : body_(body), slots_(body.slot_count()), scratch_(body.scratch_bytes()) {
        body.bind(slots_.data(), scratch_.data());
    }
    void set_input(size_t input, char* chunk) { slots_[input] = chunk; }
    void set_result(size_t result, char* chunk) { slots_[body_.result_slot(result)] = chunk; }
    void run(int64_t n) { body_.run(slots_.data(), n); }

  private:
    const Body& body_;
    std::vector<char*> slots_;
    Chunk scratch_;
};

}  // namespace

// The unfinished elements, side by side.
struct BodyLoop::Memory {
    Memory(const BodyLoop& loop, int64_t n)
        : condition(loop.condition_), steps(loop.steps_), holds(n), places(static_cast<size_t>(n)) {
        for (const int64_t size : loop.sizes_) {
            state.emplace_back(n * size);
            next.emplace_back(n * size);
        }
        condition.set_result(0, holds.data());
        std::iota(places.begin(), places.end(), 0);
    }

    Runner condition, steps;
    Chunk holds;
    std::vector<int64_t> places;  // in the chunk, of each element of the state
    std::vector<Chunk> state, next;
};

BodyLoop::BodyLoop(const Loop& loop, std::vector<int> initial,
                   std::vector<std::pair<int, int>> results, const KernelSet& set)
    : condition_({loop.condition}, loop.state.size(), set),
      steps_(loop.steps, loop.state.size(), set),
      initial_(std::move(initial)),
      results_(std::move(results)),
      limit_(loop.limit) {
    for (const auto& value : loop.state) sizes_.push_back(ir::size_of(value.dtype()));
}

void BodyLoop::run(char** slots, int64_t n) const {
    Memory memory(*this, n);
    const size_t values = sizes_.size();
    for (size_t k = 0; k < values; ++k)
        std::memcpy(memory.state[k].data(), slots[initial_[k]], static_cast<size_t>(n * sizes_[k]));
    const auto finish = [&](int64_t element) {
        for (const auto& [value, slot] : results_) {
            const auto k = static_cast<size_t>(value);
            std::memcpy(slots[slot] + memory.places[static_cast<size_t>(element)] * sizes_[k],
                        memory.state[k].data() + element * sizes_[k],
                        static_cast<size_t>(sizes_[k]));
        }
    };
    const auto move = [&](int64_t from, int64_t to) {
        memory.places[static_cast<size_t>(to)] = memory.places[static_cast<size_t>(from)];
        for (size_t k = 0; k < values; ++k)
            std::memcpy(memory.state[k].data() + to * sizes_[k],
                        memory.state[k].data() + from * sizes_[k], static_cast<size_t>(sizes_[k]));
    };
    int64_t active = n;
    for (int64_t step = 0; step < limit_ && active > 0; ++step) {
        if (step % 1024 == 1023) runtime::check_interrupt();
        for (size_t k = 0; k < values; ++k) memory.condition.set_input(k, memory.state[k].data());
        memory.condition.run(active);
        int64_t kept = 0;
        for (int64_t element = 0; element < active; ++element) {
            if (!memory.holds.data()[element])
                finish(element);
            else if (const int64_t to = kept++; to != element)
                move(element, to);
        }
        active = kept;
        for (size_t k = 0; k < values; ++k) {
            memory.steps.set_input(k, memory.state[k].data());
            memory.steps.set_result(k, memory.next[k].data());
        }
        memory.steps.run(active);
        std::swap(memory.state, memory.next);
    }
    for (int64_t element = 0; element < active; ++element) finish(element);
}

}  // namespace composit::interpreter

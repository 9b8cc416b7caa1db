// Version counters: how often a memory was written, for whoever saved what was there.
//
//     const Ref<VersionCounter> x = VersionCounter::make();
//     const Ref<VersionCounter> data = VersionCounter::make_uncounted(x);  // of x.data
//     x->count();     // x->version() is 1
//     data->count();  // x->version() is 1 still, x->writes() is 2
#pragma once

#include "composit/base/ref.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace composit::eager {

// All names of a memory (views, detached tensors) share one. It outlives the memory. One thread at
// a time may use the counters of a memory.
class VersionCounter : public Counted<VersionCounter> {
  public:
    static Ref<VersionCounter> make() { return Ref<VersionCounter>(new VersionCounter({})); }
    // Of a name whose writes the counter of the memory does not count, though they reach the
    // memory. It starts at 0.
    static Ref<VersionCounter> make_uncounted(const Ref<VersionCounter>& of) {
        return Ref<VersionCounter>(new VersionCounter(of->memory_ ? of->memory_ : of));
    }
    // Its name was given the memory of `of`: versions go on, writes are those of that memory.
    void move_into(const Ref<VersionCounter>& of) const {
        const Ref<VersionCounter>& memory = of->memory_ ? of->memory_ : of;
        if (memory.get() == this) return;
        memory->writes_ = std::max(memory->writes_, writes()) + 1;
        memory_ = memory;
    }
    static void release(const VersionCounter* counter) { delete counter; }

    // A write through a name that has this counter.
    void count() const {
        ++version_;
        ++memory().writes_;
    }
    // The writes that were counted.
    int64_t version() const { return version_; }
    // All writes into the memory, by whatever name.
    int64_t writes() const { return memory().writes_; }

  private:
    explicit VersionCounter(Ref<VersionCounter> memory) : memory_(std::move(memory)) {}
    const VersionCounter& memory() const { return memory_ ? *memory_ : *this; }

    mutable int64_t version_ = 0, writes_ = 0;
    mutable Ref<VersionCounter> memory_;  // the counter of the memory, where that is another one
};

}  // namespace composit::eager

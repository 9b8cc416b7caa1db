// The calls that are being translated, of functions that become part of the kernel.
#pragma once

#include "composit/knossos/paths.h"

#include <map>
#include <memory>
#include <vector>

namespace composit::knossos {

// A call that is being translated.
struct Frame {
    const void* function;
    Place place;
    int number;
    std::map<size_t, int64_t> known;  // arguments that are literal integers
    int nesting;
    int first_variable;
    int first_array;
    bool is_for_effect;  // a statement, whose value is not asked for
    NameSet names_around;
    bool has_raises;
    BlockRef block;
    Value value = {};
    bool has_value = false;
    std::shared_ptr<Joined> joined = {};  // of what branches return
    std::vector<State> states = {};       // what names are parts of, where it returns
};
using FrameRef = std::shared_ptr<Frame>;

// The frames, from the outermost on, and which elements of arrays they change.
struct CallStack {
    Found& found;
    Sharing& sharing;
    std::vector<FrameRef> frames = {};
    int count_of_calls = 0;
    int count_of_changes = 0;  // of elements of arrays
    const Syntax* called_for_effect = nullptr;

    // 0 for the kernel itself
    int number() const { return frames.empty() ? 0 : frames.back()->number; }
    // Elements of an array were assigned.
    void has_changed(const Stored& stored);
};

}  // namespace composit::knossos

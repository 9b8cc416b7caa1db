// Calls that change elements of arrays around them.
#include "composit/knossos/call_stack.h"

namespace composit::knossos {

void CallStack::has_changed(const Stored& stored) {
    sharing.has_changed(stored);
    ++count_of_changes;
    for (const FrameRef& frame : frames) {
        if (stored.number >= frame->first_array || found.changing_calls.contains(frame->place))
            continue;
        found.changing_calls[frame->place] = frame->names_around;
        throw Restart();  // loops around the call have to know it
    }
}

}  // namespace composit::knossos

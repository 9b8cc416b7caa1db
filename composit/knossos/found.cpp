// What translations find out.
#include "composit/knossos/found.h"

namespace composit::knossos {

State joined(const std::vector<State>& states) {
    State made;
    for (const State& state : states)
        for (const auto& [number, wholes] : state) {
            auto& own = made[number];
            for (const auto& [whole, is_changed] : wholes) own[whole] = own[whole] || is_changed;
        }
    return made;
}

void Found::begin_again() {
    carried.clear();
    throw Restart();
}

}  // namespace composit::knossos

// What parts of texts mention, each asked for once: loops within loops ask for the same statements
// again and again.
#pragma once

#include "composit/knossos/syntax.h"

#include <unordered_map>
#include <vector>

namespace composit::knossos {

using Body = std::vector<SyntaxRef>;

// What the body of a loop changes: names that it assigns, and arrays of which it assigns elements.
struct Changes {
    NameSet names = {}, elements = {};
    bool is_nothing = true;  // no loop is around
};

class Mentions {
  public:
    const Mentioned& of(const SyntaxRef& part);
    NameSet assigned_in(const Body& body);
    // The names that stand in `v.append(…)`.
    NameSet appended_in(const Body& body);
    // `calls` are those that are known to change elements, by their places, with the names that
    // the functions read of what stands around them.
    Changes changes_in(const Body& body, const std::map<Place, NameSet>& calls);

  private:
    struct Known {
        SyntaxRef part;  // which lives as long as its place is a key
        Mentioned mentioned;
    };
    std::unordered_map<const Syntax*, Known> known_;
};

// Whether statements may be passed over, except by branches.
bool any_passes_over(const Body& body);
// Whether statements hold a jump of their own loop.
bool any_jumps(const Body& body, bool by_break_alone = false);
// Whether the statements hold a return, or a break of their own loop.
bool any_leaves(const Body& body);
NameSet common(const NameSet& a, const NameSet& b);

}  // namespace composit::knossos

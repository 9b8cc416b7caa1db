// What bodies mention.
#include "composit/knossos/mentions.h"

#include <algorithm>

namespace composit::knossos {

const Mentioned& Mentions::of(const SyntaxRef& part) {
    const auto known = known_.find(part.get());
    if (known != known_.end()) return known->second.mentioned;
    return known_.emplace(part.get(), Known{part, mentioned(*part)}).first->second.mentioned;
}

NameSet Mentions::assigned_in(const Body& body) {
    NameSet names;
    for (const SyntaxRef& each : body) {
        const NameSet& own = of(each).assigned;
        names.insert(own.begin(), own.end());
    }
    return names;
}

NameSet Mentions::appended_in(const Body& body) {
    NameSet names;
    for (const SyntaxRef& each : body) {
        const NameSet& own = of(each).appended;
        names.insert(own.begin(), own.end());
    }
    return names;
}

Changes Mentions::changes_in(const Body& body, const std::map<Place, NameSet>& calls) {
    Changes made{.names = assigned_in(body), .is_nothing = false};
    for (const SyntaxRef& each : body) {
        const NameSet& own = of(each).elements;
        made.elements.insert(own.begin(), own.end());
        made.elements.merge(elements_changed_by(*each, calls));
    }
    return made;
}

bool any_passes_over(const Body& body) {
    return std::any_of(body.begin(), body.end(),
                       [](const SyntaxRef& each) { return passes_over(*each); });
}

bool any_jumps(const Body& body, bool by_break_alone) {
    return std::any_of(body.begin(), body.end(),
                       [&](const SyntaxRef& each) { return jumps(*each, by_break_alone); });
}

bool any_leaves(const Body& body) {
    return std::any_of(body.begin(), body.end(),
                       [](const SyntaxRef& each) { return leaves(*each); });
}

NameSet common(const NameSet& a, const NameSet& b) {
    NameSet both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                          std::inserter(both, both.begin()));
    return both;
}

}  // namespace composit::knossos

// Names and jumps in a text.
#include "composit/knossos/syntax.h"

#include <algorithm>

namespace composit::knossos {
namespace {

using Names = std::set<std::string>;

void join(Names& names, const Names& others) { names.insert(others.begin(), others.end()); }

// Calls it with the part and all within.
template <class Function>
void walk(const Syntax& part, const Function& function) {
    function(part);
    for (const SyntaxRef& child : part.children) walk(*child, function);
}

Names names_in(const Syntax& part) { return mentioned(part).names; }

void collect(const Syntax& part, Mentioned& found) {
    if (part.form == Form::function) {  // whose names are its own
        Mentioned inside;
        for (const SyntaxRef& child : part.children) collect(*child, inside);
        join(found.names, inside.names);
        join(found.elements, inside.elements);
        join(found.appended, inside.appended);
        if (!part.name.empty()) found.assigned.insert(part.name);
        return;
    }
    if (part.form == Form::name) {
        found.names.insert(part.name);
        if (part.is_stored) found.assigned.insert(part.name);
    } else if (part.form == Form::subscript && part.is_stored) {
        join(found.elements, names_in(*part.children.front()));
    } else if (part.form == Form::attribute && part.name == "append") {
        const Names grown = names_in(*part.children.front());
        join(found.elements, grown);
        join(found.appended, grown);
    }
    for (const SyntaxRef& child : part.children) collect(*child, found);
}

// Where a name stands in a function, outside loops of that name.
void find_uses(const Syntax& part, const std::string& name, const Syntax& function,
               const Syntax& loop, bool is_in_loop, bool& is_used) {
    if (part.form == Form::loop && &part != &function) {
        is_in_loop = is_in_loop || part.origin == loop.origin;
        if (names_in(*part.target).contains(name)) return;
    } else if (part.form == Form::name && part.name == name && !is_in_loop) {
        is_used = true;
    }
    for (const SyntaxRef& child : part.children)
        if (!is_used) find_uses(*child, name, function, loop, is_in_loop, is_used);
}

bool is_any(const std::vector<SyntaxRef>& parts, const auto& condition) {
    return std::any_of(parts.begin(), parts.end(), [&](const SyntaxRef& each) {
        return each->is_statement && condition(*each);
    });
}

}  // namespace

Mentioned mentioned(const Syntax& part) {
    Mentioned found;
    collect(part, found);
    return found;
}

Names elements_changed_by(const Syntax& part, const std::map<Place, Names>& calls) {
    Names changed;
    if (calls.empty()) return changed;
    walk(part, [&](const Syntax& each) {
        if (each.form != Form::call) return;
        const auto known = calls.find(each.place);
        if (known == calls.end()) return;
        join(changed, names_in(each));
        join(changed, known->second);
    });
    return changed;
}

bool is_used_outside(const Syntax& function, const Syntax& loop, const std::string& name) {
    bool is_used = false;
    find_uses(function, name, function, loop, false, is_used);
    return is_used;
}

bool passes_over(const Syntax& statement) {
    bool passes = false;
    walk(statement, [&](const Syntax& each) {
        passes = passes || each.form == Form::stop || each.form == Form::go_on ||
                 each.form == Form::leave;
    });
    return passes;
}

bool jumps(const Syntax& statement, bool by_break_alone) {
    if (statement.form == Form::stop) return true;
    if (statement.form == Form::go_on) return !by_break_alone;
    const bool is_loop = statement.form == Form::loop || statement.form == Form::repeat;
    return is_any(is_loop ? statement.otherwise : statement.children,
                  [&](const Syntax& each) { return jumps(each, by_break_alone); });
}

bool leaves(const Syntax& statement) {
    if (statement.form == Form::leave || statement.form == Form::stop) return true;
    if (statement.form != Form::loop && statement.form != Form::repeat)
        return is_any(statement.children, leaves);
    bool returns = false;
    walk(statement, [&](const Syntax& each) { returns = returns || each.form == Form::leave; });
    return returns || is_any(statement.otherwise, leaves);
}

std::map<std::string, int> counts_of_names(const Syntax& part, bool stored) {
    std::map<std::string, int> counts;
    walk(part, [&](const Syntax& each) {
        if (each.form == Form::name && each.is_stored == stored) ++counts[each.name];
    });
    return counts;
}

Names rebound_in(const Syntax& function) {
    std::set<const Syntax*> in_place;
    Names names;
    walk(function, [&](const Syntax& each) {
        if (each.form == Form::augmented) in_place.insert(each.target.get());
        if (each.form == Form::name && each.is_stored && !in_place.contains(&each))
            names.insert(each.name);
    });
    return names;
}

}  // namespace composit::knossos

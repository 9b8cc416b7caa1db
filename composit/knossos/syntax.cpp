// Names and jumps in a text, and texts that are made of others.
#include "composit/knossos/syntax.h"

#include <algorithm>

namespace composit::knossos {
namespace {

void join(NameSet& names, const NameSet& others) { names.insert(others.begin(), others.end()); }

// Calls it with the part and all within.
template <class Function>
void walk(const Syntax& part, const Function& function) {
    function(part);
    for (const Child& child : part.children) walk(*child.syntax, function);
}

NameSet names_of_part(const Syntax& part) { return mentioned(part).names; }

void collect(const Syntax& part, Mentioned& found) {
    if (part.form == Form::function || part.form == Form::lambda) {  // whose names are its own
        Mentioned inside;
        for (const Child& child : part.children) collect(*child.syntax, inside);
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
        join(found.elements, names_of_part(*part.children.front().syntax));
    } else if (part.form == Form::attribute && part.name == "append") {
        const NameSet grown = names_of_part(*part.children.front().syntax);
        join(found.elements, grown);
        join(found.appended, grown);
    }
    for (const Child& child : part.children) collect(*child.syntax, found);
}

// Where a name stands in a function, outside loops and comprehensions of that name.
void find_uses(const Syntax& part, const std::string& name, const Syntax& function,
               const Syntax& loop, bool is_in_loop, bool& is_used) {
    if (part.form == Form::loop && &part != &function) {
        is_in_loop = is_in_loop || &part == &loop;
        if (names_of_part(*part.at(Field::target)).contains(name)) return;
    } else if (part.form == Form::list_of_each || part.form == Form::generator_of_each) {
        // Its names are its own, but for what it goes through first.
        const auto generators = part.all(Field::generator);
        const bool is_own =
            std::any_of(generators.begin(), generators.end(), [&](const SyntaxRef& each) {
                return names_of_part(*each->at(Field::target)).contains(name);
            });
        if (is_own) {
            const SyntaxRef& iterated = generators[0]->at(Field::iterated);
            return find_uses(*iterated, name, function, loop, is_in_loop, is_used);
        }
    } else if (part.form == Form::name && part.name == name && !is_in_loop) {
        is_used = true;
    }
    for (const Child& child : part.children)
        if (!is_used) find_uses(*child.syntax, name, function, loop, is_in_loop, is_used);
}

// Whether a condition holds for a statement among the parts, or among what runs behind a loop.
bool is_any_statement(const Syntax& part, bool is_behind, const auto& condition) {
    return std::any_of(part.children.begin(), part.children.end(), [&](const Child& each) {
        return each.syntax->is_statement && (!is_behind || each.field == Field::otherwise) &&
               condition(*each.syntax);
    });
}

bool is_any_loop(const Syntax& statement) {
    return statement.form == Form::loop || statement.form == Form::repeat;
}

using Renames = std::map<std::string, std::string>;

SyntaxRef renamed_part(const SyntaxRef& part, const Renames& names);

void rename_children(Syntax& made, const Renames& names) {
    for (Child& child : made.children) child.syntax = renamed_part(child.syntax, names);
}

void rename(std::string& name, const Renames& names) {
    const auto found = names.find(name);
    if (found != names.end()) name = found->second;
}

SyntaxRef renamed_part(const SyntaxRef& part, const Renames& names) {
    auto made = std::make_shared<Syntax>(*part);
    if (part->form == Form::name || part->form == Form::parameter) {
        rename(made->name, names);
        return made;
    }
    if (part->form != Form::function && part->form != Form::lambda) {
        rename_children(*made, names);
        return made;
    }
    NameSet own;
    for (const SyntaxRef& each : part->all(Field::parameter)) own.insert(each->name);
    if (part->form == Form::function) {
        for (const SyntaxRef& each : part->all(Field::body)) join(own, mentioned(*each).assigned);
        rename(made->name, names);
    }
    Renames rest = names;
    for (const std::string& each : own) rest.erase(each);
    // Defaults are computed outside.
    for (Child& child : made->children)
        child.syntax = renamed_part(child.syntax, child.field == Field::initial ? names : rest);
    return made;
}

}  // namespace

const SyntaxRef& Syntax::at(Field field) const {
    static const SyntaxRef none;
    for (const Child& child : children)
        if (child.field == field) return child.syntax;
    return none;
}

std::vector<SyntaxRef> Syntax::all(Field field) const {
    std::vector<SyntaxRef> found;
    for (const Child& child : children)
        if (child.field == field) found.push_back(child.syntax);
    return found;
}

SyntaxRef name_at(const std::string& name, Place place) {
    auto made = std::make_shared<Syntax>();
    made->form = Form::name;
    made->name = name;
    made->place = place;
    return made;
}

SyntaxRef as_definition(const Syntax& lambda) {
    auto made = std::make_shared<Syntax>(lambda);
    made->form = Form::function;
    made->name = "lambda";
    made->is_statement = true;
    for (Child& child : made->children) {
        if (child.field != Field::body) continue;
        auto leaving = std::make_shared<Syntax>();
        leaving->form = Form::leave;
        leaving->is_statement = true;
        leaving->place = child.syntax->place;
        leaving->children = {{child.syntax, Field::value}};
        child.syntax = leaving;
    }
    return made;
}

SyntaxRef placed(const Syntax& part, Place place) {
    auto made = std::make_shared<Syntax>(part);
    made->place = place;
    for (Child& child : made->children) child.syntax = placed(*child.syntax, place);
    return made;
}

SyntaxRef renamed(const Syntax& function, const Renames& names) {
    auto made = std::make_shared<Syntax>(function);
    rename_children(*made, names);
    return made;
}

std::vector<const Syntax*> parts_by_level(const Syntax& part) {
    std::vector<const Syntax*> found{&part};
    for (size_t i = 0; i < found.size(); ++i)
        for (const Child& child : found[i]->children) found.push_back(child.syntax.get());
    return found;
}

bool holds(const Syntax& part, std::initializer_list<Form> forms) {
    bool found = false;
    walk(part, [&](const Syntax& each) {
        found = found || std::find(forms.begin(), forms.end(), each.form) != forms.end();
    });
    return found;
}

Mentioned mentioned(const Syntax& part) {
    Mentioned found;
    collect(part, found);
    return found;
}

NameSet elements_changed_by(const Syntax& part, const std::map<Place, NameSet>& calls) {
    NameSet changed;
    if (calls.empty()) return changed;
    walk(part, [&](const Syntax& each) {
        if (each.form != Form::call) return;
        const auto known = calls.find(each.place);
        if (known == calls.end()) return;
        join(changed, names_of_part(each));
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
    return holds(statement, {Form::stop, Form::go_on, Form::leave});
}

bool jumps(const Syntax& statement, bool by_break_alone) {
    if (statement.form == Form::stop) return true;
    if (statement.form == Form::go_on) return !by_break_alone;
    return is_any_statement(statement, is_any_loop(statement),
                            [&](const Syntax& each) { return jumps(each, by_break_alone); });
}

bool leaves(const Syntax& statement) {
    if (statement.form == Form::leave || statement.form == Form::stop) return true;
    if (!is_any_loop(statement)) return is_any_statement(statement, false, leaves);
    return holds(statement, {Form::leave}) || is_any_statement(statement, true, leaves);
}

std::map<std::string, int> counts_of_names(const Syntax& part, bool stored) {
    std::map<std::string, int> counts;
    walk(part, [&](const Syntax& each) {
        if (each.form == Form::name && each.is_stored == stored) ++counts[each.name];
    });
    return counts;
}

NameSet rebound_in(const Syntax& function) {
    std::set<const Syntax*> in_place;
    NameSet names;
    walk(function, [&](const Syntax& each) {
        if (each.form == Form::augmented) in_place.insert(each.at(Field::target).get());
        if (each.form == Form::name && each.is_stored && !in_place.contains(&each))
            names.insert(each.name);
    });
    return names;
}

}  // namespace composit::knossos

// Arrays that share their elements in NumPy.
#include "composit/knossos/sharing.h"

#include <algorithm>

namespace composit::knossos {
namespace {

// The key of the array that stood where another one, of this number, does now.
int past(int number) { return -1 - number; }

// Names of parts of records, "point.x", are none of Python's.
bool is_identifier(const std::string& name) { return name.find('.') == name.npos; }

}  // namespace

void Sharing::copy_of_parts(const Stored& stored, const Array& value) {
    std::map<int, bool> wholes;
    for (const int whole : value.parts_of) {
        const auto known = parts.find(whole);
        if (known != parts.end()) wholes.insert(known->second.begin(), known->second.end());
    }
    for (const int whole : value.parts_of)
        if (!fresh.contains(whole) && whole != stored.number) wholes[whole] = false;
    parts[stored.number] = std::move(wholes);
}

void Sharing::check_current(int number) const {
    const auto known = parts.find(number);
    if (known == parts.end()) return;
    for (const auto& [whole, is_changed] : known->second) {
        if (!is_changed) continue;
        const std::string of = name_of(whole >= 0 ? whole : past(whole));
        const bool is_fresh = fresh.contains(number);
        const std::string name =
            is_fresh ? "what is read" : code_.arrays[static_cast<size_t>(number)].name;
        throw Mismatch(name + " is a part of " + of +
                           ", whose elements may have changed since: NumPy's would change with "
                           "them",
                       "Write .copy() " +
                           (is_fresh ? "behind the part" : "where " + name + " is assigned") + ".");
    }
}

void Sharing::check_own(const Stored& stored) const {
    const auto known = parts.find(stored.number);
    if (known == parts.end()) return;
    for (const auto& [whole, is_changed] : known->second) {
        if (whole >= 0) refuse_shared(stored, name_of(whole));
        const std::vector<int> others = others_of(whole, stored.number);
        if (!others.empty()) refuse_shared(stored, name_of(others.front()));
    }
}

// An array may be one of the iteration before, which has no name yet in this one.
std::string Sharing::name_of(int number) const {
    const size_t place = static_cast<size_t>(number);
    return place < code_.arrays.size() ? code_.arrays[place].name : "another array";
}

void Sharing::refuse_shared(const Stored& stored, const std::string& whole) const {
    if (fresh.contains(stored.number))  // what a function is given
        throw Mismatch("an element of a part of " + whole +
                           " is assigned, so that NumPy would change " + whole + ", too",
                       "Write .copy() behind the part that the function is given.");
    std::string instead = "Write .copy() where " + stored.name + " is assigned.";
    const bool is_argument =
        std::any_of(code_.arrays.begin(), code_.arrays.end(), [&](const auto& array) {
            return array.name == whole && array.role == ir::procedure::ArrayVariable::Role::input;
        });
    if (is_argument && is_identifier(whole))
        instead = "Write " + whole + " = " + whole + ".copy() at the beginning, or .copy() where " +
                  stored.name + " is assigned.";
    throw Mismatch("an element of " + stored.name + " is assigned, which may be " + whole +
                       " or a part of it, so that NumPy would change " + whole + ", too",
                   instead);
}

// The arrays besides one that may share elements with a past array, and that do not have them
// through that one.
std::vector<int> Sharing::others_of(int whole, int number) const {
    std::vector<int> found;
    for (const auto& [each, wholes] : parts)
        if (wholes.contains(whole) && each != number && !wholes.contains(number))
            found.push_back(each);
    return found;
}

void Sharing::overwritten(int number) {
    parts.erase(number);
    let_go(number);
}

void Sharing::let_go(int number) {
    std::vector<std::map<int, bool>*> sharing;
    for (auto& [each, wholes] : parts)
        if (wholes.contains(number)) sharing.push_back(&wholes);
    for (std::map<int, bool>* wholes : sharing) {
        const bool is_changed = wholes->at(number);
        wholes->erase(number);
        if (!is_changed && sharing.size() == 1) continue;
        const auto before = wholes->find(past(number));
        const bool was_changed = before != wholes->end() && before->second;
        (*wholes)[past(number)] = is_changed || was_changed;
    }
}

void Sharing::has_changed(const Stored& stored) {
    for (auto& [each, wholes] : parts)
        if (const auto found = wholes.find(stored.number); found != wholes.end())
            found->second = true;
}

std::pair<int, State> Sharing::begin_of_loop() {
    const int number = count_of_loops_++;
    const auto carried = found_.carried.find(number);
    parts = joined({parts, carried == found_.carried.end() ? State() : carried->second});
    return {number, parts};
}

void Sharing::end_of_loop(int number, const State& begin, const std::vector<State>& again,
                          const std::vector<State>& ends) {
    State handed_on;
    for (const auto& [array, wholes] : joined(again))
        if (begin.contains(array)) handed_on[array] = wholes;
    if (joined({begin, handed_on}) != begin) {
        found_.carried[number] = joined({found_.carried[number], handed_on});
        throw Restart();
    }
    std::vector<State> all{begin};
    all.insert(all.end(), again.begin(), again.end());
    all.insert(all.end(), ends.begin(), ends.end());
    parts = joined(all);
}

}  // namespace composit::knossos

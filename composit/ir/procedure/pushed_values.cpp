// What parts of logged loops log of variables, and what they compute again in place of that.
#include "composit/ir/procedure/logged_loops.h"

#include <algorithm>

namespace composit::ir::procedure {

using Kind = Statement::Kind;

Pushed LoggedLoops::pushed_by(const Block& block, const Block& part, const Had& had) const {
    Pushed pushed;
    std::map<int, int> inside = mentions_in(p_, part), around = mentions_in(p_, as_swept(block));
    const std::set<int> exposed = exposed_in(p_, part), carried = exposed_in(p_, block);
    const std::map<int, int> assigned = assignments_in(part);
    const auto is_own = [&](int variable) {
        return is_always_assigned(part, variable) &&
               around[variable] == logs_->mentions.at(variable) &&
               assigned.at(variable) == logs_->assignments.at(variable) &&
               !carried.contains(variable);
    };
    std::set<int> own_once;
    for (const auto& [variable, times] : assigned)
        if (times == 1 && is_own(variable)) own_once.insert(variable);
    for (const auto& [variable, times] : assigned) {
        const auto all = mentions_.find(variable);
        if (all == mentions_.end()) continue;
        const int elsewhere = all->second - inside[variable];
        const bool is_exposed = exposed.contains(variable);
        if (elsewhere == 0 && !is_exposed) continue;
        if (is_made_again(variable, block, part, own_once, had, pushed)) continue;
        if (elsewhere == 1 && !is_exposed && asks_of(block, variable) == 1) continue;
        (is_own(variable) ? pushed.behind : pushed.before).push_back(variable);
    }
    return pushed;
}

int LoggedLoops::asks_of(const Block& block, int variable) const {
    int times = 0;
    for (const Part& part : parts_of(block, changing_)) {
        const Statement& branch = block[part.begin];
        if (part.is_logged && branch.kind == Kind::branch)
            times += static_cast<int>(variables_in(branch.values).contains(variable));
    }
    return times;
}

bool LoggedLoops::is_made_again(int variable, const Block& block, const Block& part,
                                const std::set<int>& own_once, const Had& had, Pushed& pushed,
                                bool is_for_cheap) const {
    const auto makes = [variable](const Statement& each) {
        return is_assignment(each) && each.variable == variable;
    };
    if (std::any_of(pushed.again.begin(), pushed.again.end(), makes)) return true;
    if (!own_once.contains(variable)) return false;
    const Statement& made = *std::find_if(part.begin(), part.end(), makes);
    const auto all = scalar::topological_order(made.values);
    const bool is_cheap = is_for_cheap && std::none_of(all.begin(), all.end(), is_named_call);
    const bool is_load =
        made.kind == Kind::load &&
        (p_.arrays[static_cast<size_t>(made.array)].role == ArrayVariable::Role::input ||
         (is_cheap && has_same_elements(block, made.array)));
    if (made.kind != Kind::assign && !is_load) return false;
    const bool is_floating_made = is_floating(out_.variables[static_cast<size_t>(variable)].dtype);
    Pushed with = pushed;
    for (const int read : variables_in(is_load ? made.index : made.values)) {
        if (is_known_again({this->read(read)}, {})) continue;
        if ((!is_floating_made || is_cheap) && had.there.contains(read)) continue;
        if (const auto late = had.put_back.find(read);
            !is_floating_made && late != had.put_back.end()) {
            with.again_after = std::max(with.again_after.value_or(0), late->second);
            continue;
        }
        if (!is_made_again(read, block, part, own_once, had, with, is_cheap)) return false;
    }
    pushed = std::move(with);
    pushed.again.push_back(made);
    return true;
}

bool LoggedLoops::has_same_elements(const Block& block, int array) const {
    const auto all = all_statements(block);
    return std::none_of(all.begin(), all.end(), [array](const Statement* each) {
        return each->array == array && each->kind != Kind::load;
    });
}

std::map<int, size_t> LoggedLoops::put_back_in(const Block& block,
                                               const std::vector<Part>& parts) const {
    std::map<int, size_t> found;
    for (size_t k = 0; k < parts.size(); ++k) {
        if (parts[k].is_logged) continue;
        const Block part = parts[k].of(block);
        for (const int variable : pushed_by(block, part, {}).before) {
            const bool is_plain = !is_floating(p_.variables[static_cast<size_t>(variable)].dtype);
            if (is_plain && logs_->assignments.at(variable) == 1 &&
                is_always_assigned(part, variable))
                found[variable] = k;
        }
    }
    return found;
}

std::vector<Pushed> LoggedLoops::pushed_in(const Block& block,
                                           const std::vector<Part>& parts) const {
    const std::map<int, size_t> put_back = put_back_in(block, parts);
    std::vector<Pushed> all(parts.size());
    for (size_t k = 0; k < parts.size(); ++k) {
        if (parts[k].is_logged) continue;
        const Block part = parts[k].of(block);
        Had had{had_, {}};
        for (const auto& [variable, number] : put_back)
            if (number > k) had.put_back[variable] = number;
        all[k] = pushed_by(block, part, had);
        // Nothing that runs backward before may ask for them.
        const std::map<int, int> made = assignments_in(all[k].again);
        for (size_t i = all[k].again_after.value_or(parts.size()); i < parts.size(); ++i)
            for (const auto& [variable, times] : mentions_in(p_, parts[i].of(block)))
                if (made.contains(variable)) {
                    all[k] = pushed_by(block, part, {had_, {}});
                    i = parts.size() - 1;
                    break;
                }
    }
    return all;
}

std::set<int> LoggedLoops::had_within(const Block& block, const std::vector<Part>& parts,
                                      const std::vector<Pushed>& pushed, size_t number) const {
    std::set<int> had = had_;
    for (size_t k = 0; k < number; ++k) {
        had.insert(pushed[k].behind.begin(), pushed[k].behind.end());
        if (!pushed[k].again_after || number < *pushed[k].again_after)
            for (const Statement& each : pushed[k].again) had.insert(each.variable);
    }
    for (const auto& [variable, place] : put_back_in(block, parts))
        if (place > number) had.insert(variable);
    return had;
}

}  // namespace composit::ir::procedure

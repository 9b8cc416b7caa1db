#include "composit/ir/procedure/can_be_logged.h"

#include "composit/ir/procedure/undo.h"

#include <algorithm>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;

bool is_jump(const Statement& statement) {
    return statement.kind == Kind::stop || statement.kind == Kind::go_on ||
           statement.kind == Kind::leave;
}

bool writes_any(const Block& block, const std::set<int>& arrays) {
    const auto all = all_statements(block);
    return std::any_of(all.begin(), all.end(), [&](const Statement* each) {
        return is_write(*each) && arrays.contains(each->array);
    });
}

bool jumps(const Block& block) {
    return std::any_of(block.begin(), block.end(), [](const Statement& statement) {
        return is_jump(statement) || (statement.kind == Kind::branch &&
                                      (jumps(statement.body) || jumps(statement.otherwise)));
    });
}

bool is_apart(const Statement& statement, const std::set<int>& arrays) {
    if (is_jump(statement)) return true;
    const bool has_parts = statement.kind == Kind::loop || statement.kind == Kind::branch;
    return has_parts && (jumps({statement}) || writes_any({statement}, arrays));
}

// How often each array is mentioned.
std::map<int, int> uses_of_arrays(const Block& block) {
    std::map<int, int> uses;
    for (const Statement* each : all_statements(block)) ++uses[each->array];
    return uses;
}

std::set<int> assigned_by_head(const Statement& loop) {
    std::set<int> variables;
    for (const Block* head : {&loop.first, &loop.otherwise})
        for (const auto& [variable, _] : assignments_in(*head)) variables.insert(variable);
    return variables;
}

class Test {
  public:
    Test(const Procedure& procedure, const Block& whole, const std::set<int>& arrays)
        : procedure_(procedure),
          arrays_(arrays),
          mentions_(mentions_in(procedure, whole)),
          uses_(uses_of_arrays(whole)) {}

    bool holds_for_loop(const Statement& loop) {
        const Block one{loop};
        const auto count = count_of(loop);
        const std::map<int, int> assigned = assignments_in(loop.body);
        std::map<int, int> within = mentions_in(procedure_, one);
        if (count) {
            for (const int variable : variables_in({count->begin}))
                if (assigned.contains(variable)) return false;
            if (within[count->counter] != mentions_[count->counter]) return false;
        }
        for (const int variable : head_of(loop))
            if (assigned.contains(variable) || within[variable] != mentions_[variable])
                return false;
        return holds_for(loop.body);
    }

  private:
    bool holds_for(const Block& block) {
        for (const Part& part : parts_of(block, arrays_)) {
            const Statement& statement = block[part.begin];
            if (!part.is_logged) {
                if (!holds_for_part(part.of(block))) return false;
            } else if (statement.kind == Kind::loop) {
                if (!holds_for_loop(statement)) return false;
            } else if (statement.kind == Kind::branch) {
                if (!holds_for(statement.body) || !holds_for(statement.otherwise)) return false;
            }
        }
        return true;
    }

    // Arrays that it makes are its own.
    bool holds_for_part(const Block& part) {
        std::map<int, int> own = uses_of_arrays(part);
        for (const Statement* each : all_statements(part))
            if (each->kind == Kind::append || each->kind == Kind::take ||
                (each->kind == Kind::allocate && own[each->array] != uses_[each->array]))
                return false;
        return true;
    }

    const Procedure& procedure_;
    const std::set<int>& arrays_;
    std::map<int, int> mentions_, uses_;
};

}  // namespace

std::vector<Part> parts_of(const Block& block, const std::set<int>& arrays) {
    std::vector<Part> parts;
    for (size_t i = 0; i < block.size(); ++i) {
        const bool is_logged = is_apart(block[i], arrays);
        if (is_logged || parts.empty() || parts.back().is_logged)
            parts.push_back({i, i, is_logged});
        parts.back().end = i + 1;
    }
    return parts;
}

std::set<int> head_of(const Statement& loop) {
    return count_of(loop) ? std::set<int>() : assigned_by_head(loop);
}

std::set<int> heads_in(const Statement& loop, const std::set<int>& arrays) {
    const Block whole{loop};
    std::set<int> variables;
    for (const Statement* each : all_statements(whole)) {
        if (each->kind == Kind::loop && is_apart(*each, arrays))
            variables.merge(assigned_by_head(*each));
    }
    return variables;
}

bool is_always_assigned(const Block& block, int variable) {
    return std::any_of(block.begin(), block.end(), [variable](const Statement& statement) {
        return is_assignment(statement) && statement.variable == variable;
    });
}

namespace {

// The allocations in a loop of arrays that live nowhere else and whose extents it does not change.
std::set<int> made_in(const Procedure& procedure, const Statement& loop) {
    const Block one{loop};
    std::map<int, int> inside = uses_of_arrays(one), everywhere = uses_of_arrays(procedure.body);
    const std::map<int, int> assigned = assignments_in(one);
    std::set<int> made;
    for (const Statement* each : all_statements(one)) {
        if (each->kind != Kind::allocate || inside[each->array] != everywhere[each->array])
            continue;
        const ArrayVariable& known = procedure.arrays[static_cast<size_t>(each->array)];
        const std::set<int> read = variables_in(known.shape);
        if (!known.grows && std::none_of(read.begin(), read.end(),
                                         [&](int variable) { return assigned.contains(variable); }))
            made.insert(each->array);
    }
    return made;
}

bool is_logged_at_all(const Procedure& procedure, const Statement& loop,
                      const std::set<int>& arrays) {
    return !writes_any({loop}, arrays) || can_be_logged(procedure, procedure.body, loop, arrays);
}

// Whether a block that mentions the array makes it before anything else does with it.
bool is_made_first(const Block& block, int array) {
    std::vector<const Statement*> mentions;
    for (const Statement& statement : block) {
        const Block one{statement};
        if (uses_of_arrays(one).contains(array)) mentions.push_back(&statement);
    }
    if (mentions.empty()) return false;
    const Statement& first = *mentions[0];
    if (first.kind == Kind::branch)
        return is_made_first(first.body, array) && is_made_first(first.otherwise, array);
    if (first.kind == Kind::loop) return mentions.size() == 1 && is_made_first(first.body, array);
    return first.kind == Kind::allocate;
}

// Whether no iteration of a loop reads what an earlier one left in the arrays that change: it makes
// its own.
bool has_own_arrays(const Procedure& procedure, const Statement& loop,
                    const std::set<int>& arrays) {
    const std::set<int> made = made_in(procedure, loop);
    const Block one{loop};
    const auto all = all_statements(one);
    return std::all_of(all.begin(), all.end(), [&](const Statement* each) {
        return !is_write(*each) || !arrays.contains(each->array) ||
               (made.contains(each->array) && is_made_first(loop.body, each->array));
    });
}

class BeforeLoops {
  public:
    BeforeLoops(Procedure& procedure, std::set<int>& arrays)
        : procedure_(procedure), arrays_(arrays) {}

    // Whether all loops of a block within the procedure are logged then.
    bool make_in(Block& block) {
        bool all = true;
        for (size_t i = 0; i < block.size(); ++i) {
            if (block[i].kind == Kind::branch) {
                all &= make_in(block[i].body);
                all &= make_in(block[i].otherwise);
            } else if (block[i].kind == Kind::loop &&
                       !is_logged_at_all(procedure_, block[i], arrays_)) {
                all &= has_own_arrays(procedure_, block[i], arrays_) ? make_in(block[i].body)
                                                                     : make(block, i);
            }
        }
        return all;
    }

    // Of the loop at a place of the block, which moves behind the arrays.
    bool make(Block& block, size_t& place) {
        const Block was = block;
        const Statement loop = block[place];
        const std::set<int> made = made_in(procedure_, loop);
        Block before;
        for (const int array : made) before.push_back(Statement::allocate(array, false, loop.line));
        block[place] = without_remaking(procedure_, {loop}, made, made)[0];
        block.insert(block.begin() + static_cast<std::ptrdiff_t>(place), before.begin(),
                     before.end());
        std::set<int> changing = arrays_;
        changing.insert(made.begin(), made.end());
        if (!can_be_logged(procedure_, procedure_.body, block[place + before.size()], changing)) {
            block = was;
            return false;
        }
        arrays_ = std::move(changing);
        place += before.size();
        return true;
    }

  private:
    Procedure& procedure_;
    std::set<int>& arrays_;
};

}  // namespace

void make_before_loops(Procedure& procedure, std::set<int>& arrays, bool goes_within) {
    for (size_t i = 0; i < procedure.body.size(); ++i) {
        const Statement& loop = procedure.body[i];
        if (loop.kind != Kind::loop || is_logged_at_all(procedure, loop, arrays)) continue;
        if (has_own_arrays(procedure, loop, arrays)) {
            Procedure trial = procedure;
            std::set<int> changing = arrays;
            if (BeforeLoops(trial, changing).make_in(trial.body[i].body)) {
                if (!goes_within) continue;
                procedure = std::move(trial);
                arrays = std::move(changing);
                continue;
            }
        }
        BeforeLoops(procedure, arrays).make(procedure.body, i);
    }
}

bool can_be_logged(const Procedure& procedure, const Block& whole, const Statement& loop,
                   const std::set<int>& arrays) {
    return writes_any({loop}, arrays) && Test(procedure, whole, arrays).holds_for_loop(loop);
}

}  // namespace composit::ir::procedure

#include "composit/ir/procedure/parts_once.h"

#include "composit/ir/procedure/reverse_parts.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

bool is_comparison(Op op) {
    return op == Op::equal || op == Op::not_equal || op == Op::less || op == Op::less_equal ||
           op == Op::greater || op == Op::greater_equal;
}

// What x == 0 ? x : x * y asks, which has a word of its own.
bool is_guard(const Expr& value) {
    return value.op() == Op::equal && value.operand(1).op() == Op::constant;
}

// Whether the value is the same, and harmless, wherever its variables have their values: integers
// are not divided, as a choice may stand before that.
bool may_be_computed_before(const Expr& value) {
    const auto all = scalar::topological_order({value});
    return std::none_of(all.begin(), all.end(), [](const Expr& each) {
        const bool divides = each.op() == Op::divide || each.op() == Op::remainder;
        const bool shifts = each.op() == Op::shift_left || each.op() == Op::shift_right;
        return shifts || each.op() == Op::loop || each.op() == Op::lookup ||
               (!is_floating(each.dtype()) && (divides || each.op() == Op::call));
    });
}

// How much of the text a value takes: its operations; a call of a function takes more.
size_t size_of(const Expr& value) {
    size_t size = 0;
    for (const Expr& each : scalar::topological_order({value}))
        if (each.op() != Op::argument && each.op() != Op::constant)
            size += is_named_call(each) ? 4 : 1;
    return size;
}

constexpr size_t least_size = 4, most_nodes = 400;

class PartSharer {
  public:
    PartSharer(Procedure procedure, bool but_for_chosen)
        : p_(std::move(procedure)), but_for_chosen_(but_for_chosen) {}

    Procedure run() {
        share(p_.body);
        return std::move(p_);
    }

  private:
    // A part of values, and the statements of a block that have it in their own values, or within.
    struct Part {
        Expr value;
        size_t size = 0;
        std::vector<size_t> own, within;
    };

    void share(Block& block) {
        while (share_one(block)) continue;
        for (Statement& statement : block) {
            share(statement.body);
            if (statement.kind == Kind::branch) share(statement.otherwise);
        }
    }

    uint64_t hash_of(const Expr& value) {
        const auto [place, is_new] = hashes_.try_emplace(value.id());
        if (is_new) place->second = {value, scalar::structural_hash({value})};
        return place->second.second;
    }

    // The values of a statement that this looks at. Assertions and indices have words of their own.
    static const std::vector<Expr>& values_of(const Statement& statement) {
        static const std::vector<Expr> none;
        return statement.kind == Kind::expect ? none : statement.values;
    }

    // Sums and products are computed again behind a derivative: a tree's gradient took 1.07 times
    // as long with variables for them.
    bool is_worth(const Expr& value) const {
        if (but_for_chosen_ || value.dtype() == DType::boolean) return true;
        const auto all = scalar::topological_order({value});
        return std::any_of(all.begin(), all.end(), is_named_call);
    }

    void find_in(const std::vector<Expr>& values, size_t place, bool is_own,
                 std::unordered_map<uint64_t, Part>& found) {
        const auto all = scalar::topological_order(values);
        if (all.size() > most_nodes) return;
        std::set<const scalar::ExprNode*> chosen;
        if (but_for_chosen_)
            for (const Expr& value : values) chosen.merge(chosen_from(value));
        for (const Expr& each : all) {
            const bool is_value =
                is_floating(each.dtype()) || (is_comparison(each.op()) && !is_guard(each));
            if (each.operands().empty() || !is_value) continue;
            Part& part = found[hash_of(each)];
            if (!part.value) {
                const bool fits = may_be_computed_before(each) && !variables_in({each}).empty();
                part.value = each;
                part.size = fits && is_worth(each) ? size_of(each) : 0;
                // A condition that several choices ask.
                if (fits && each.dtype() == DType::boolean && part.size >= 2)
                    part.size = std::max(part.size, least_size);
            }
            if (chosen.contains(each.id())) part.size = 0;
            if (part.size < least_size || !scalar::structurally_equal({part.value}, {each}))
                continue;
            std::vector<size_t>& places = is_own ? part.own : part.within;
            if (places.empty() || places.back() != place) places.push_back(place);
        }
    }

    void find_within(const Block& block, size_t place, std::unordered_map<uint64_t, Part>& found) {
        for (const Statement& statement : block) {
            find_in(values_of(statement), place, false, found);
            for (const Block* inner : {&statement.body, &statement.otherwise})
                find_within(*inner, place, found);
        }
    }

    bool share_one(Block& block) {
        std::unordered_map<uint64_t, Part> found;
        std::vector<std::set<int>> assigned;
        for (size_t i = 0; i < block.size(); ++i) {
            const Statement& statement = block[i];
            if (statement.kind != Kind::loop) find_in(values_of(statement), i, true, found);
            for (const Block* inner : {&statement.body, &statement.otherwise})
                find_within(*inner, i, found);
            assigned.emplace_back();
            for (const auto& [variable, times] : assignments_in({statement}))
                assigned.back().insert(variable);
        }
        const Part* best = nullptr;
        std::vector<size_t> places;
        for (const auto& [hash, part] : found) {
            if (part.size < least_size) continue;
            const bool is_less = best && (part.size < best->size ||
                                          (part.size == best->size && !is_before(part, *best)));
            if (is_less) continue;
            std::vector<size_t> own = places_of(part, assigned, block);
            if (own.size() < 2) continue;
            best = &part;
            places = std::move(own);
        }
        if (!best) return false;
        const Expr value = best->value;  // of a map that the block's change leaves behind
        compute_once(block, value, places);
        return true;
    }

    // An order that does not depend on hashes.
    static bool is_before(const Part& one, const Part& other) {
        const auto first = [](const Part& part) { return part.own.empty() ? 0 : part.own[0]; };
        return first(one) < first(other);
    }

    // The statements, from one that computes the part itself, up to where a variable changes that
    // it reads.
    static std::vector<size_t> places_of(const Part& part,
                                         const std::vector<std::set<int>>& assigned,
                                         const Block& block) {
        const std::set<int> read = variables_in({part.value});
        const auto changes = [&](size_t place) {
            return std::any_of(read.begin(), read.end(),
                               [&](int variable) { return assigned[place].contains(variable); });
        };
        std::set<size_t> all(part.own.begin(), part.own.end());
        all.insert(part.within.begin(), part.within.end());
        for (const size_t start : part.own) {
            std::vector<size_t> places = {start};
            const bool is_nested = !block[start].body.empty() || !block[start].otherwise.empty();
            if (is_nested && changes(start)) continue;
            size_t k = start;
            for (auto next = all.upper_bound(start); next != all.end(); ++next) {
                bool is_changed = false;
                for (; k < *next; ++k) is_changed |= changes(k);
                const bool has_parts =
                    !block[*next].body.empty() || !block[*next].otherwise.empty();
                if (is_changed || (has_parts && changes(*next))) break;
                places.push_back(*next);
            }
            if (places.size() > 1) return places;
        }
        return {};
    }

    void compute_once(Block& block, const Expr& value, const std::vector<size_t>& places) {
        const size_t start = places[0];
        const Statement& first = block[start];
        // A variable that has this value stands for it, where it keeps it.
        int variable = -1;
        if (first.kind == Kind::assign && scalar::structurally_equal(first.values, {value})) {
            variable = first.variable;
            for (size_t k = start + 1; k <= places.back(); ++k)
                if (assignments_in({block[k]}).contains(variable)) variable = -1;
        }
        const bool is_there = variable >= 0;
        if (!is_there) variable = p_.add_variable(name_of(value), value.dtype());
        const Expr name = p_.variable(static_cast<size_t>(variable));
        const SourceLine line = first.line;
        for (size_t k = is_there ? 1 : 0; k < places.size(); ++k)
            replace_in(block[places[k]], value, name);
        if (!is_there)
            block.insert(block.begin() + static_cast<std::ptrdiff_t>(start),
                         Statement::assign(variable, value, line));
    }

    static std::string name_of(const Expr& value) {
        if (value.dtype() == DType::boolean) return "holds";
        if (value.op() == Op::call) {
            const std::string& name = value.row()->name;
            return name.substr(0, name.find('.'));
        }
        switch (value.op()) {
            case Op::add: return "sum";
            case Op::subtract: return "difference";
            case Op::multiply: return "product";
            case Op::divide: return "quotient";
            case Op::select: return "chosen";
            case Op::square_root: return "square_root";
            default: return "part";
        }
    }

    void replace_in(Statement& statement, const Expr& value, const Expr& by) {
        if (statement.kind != Kind::expect && !statement.values.empty())
            statement.values = replaced(statement.values, value, by);
        for (Block* inner : {&statement.body, &statement.otherwise})
            for (Statement& each : *inner) replace_in(each, value, by);
    }

    std::vector<Expr> replaced(const std::vector<Expr>& values, const Expr& value, const Expr& by) {
        const uint64_t hash = hash_of(value);
        std::map<const scalar::ExprNode*, Expr> made;
        for (const Expr& each : scalar::topological_order(values)) {
            const bool is_it = each.dtype() == value.dtype() && !each.operands().empty() &&
                               hash_of(each) == hash && scalar::structurally_equal({each}, {value});
            if (is_it) {
                made[each.id()] = by;
                continue;
            }
            std::vector<Expr> operands;
            bool is_changed = false;
            for (const Expr& operand : each.operands()) {
                operands.push_back(made.at(operand.id()));
                is_changed |= !(operands.back() == operand);
            }
            made[each.id()] = is_changed ? each.with_operands(std::move(operands)) : each;
        }
        std::vector<Expr> out;
        for (const Expr& each : values) out.push_back(made.at(each.id()));
        return out;
    }

    Procedure p_;
    const bool but_for_chosen_;
    // The expressions, which keep their addresses theirs, and their hashes.
    std::unordered_map<const scalar::ExprNode*, std::pair<Expr, uint64_t>> hashes_;
};

}  // namespace

Procedure with_parts_once(Procedure procedure, bool but_for_chosen) {
    return PartSharer(std::move(procedure), but_for_chosen).run();
}

}  // namespace composit::ir::procedure

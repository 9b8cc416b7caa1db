// with_carried_elements: loops that read what their last iterations stored, or what stays.
#include "composit/ir/procedure/carried_values.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;

constexpr int64_t most_iterations_ago = 2;  // each takes a register and a move

// What a loop stores in each iteration, alone, to an element of its own.
struct OwnStore {
    size_t place = 0;  // in the body
    size_t axis = 0;   // along which the counter moves
    int64_t offset = 0;
};

class CarriedElements {
  public:
    explicit CarriedElements(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        mentions_ = mentions_in(p_, p_.body);
        walk(p_.body);
        return std::move(p_);
    }

  private:
    void walk(Block& block) {
        for (Statement& each : block) {
            walk(each.body);
            if (each.kind == Kind::loop)
                carry_in(each);
            else
                walk(each.otherwise);
        }
    }

    static bool is_plain(const Statement& each) {
        return is_value(each) || is_write(each) || each.kind == Kind::expect;
    }

    void carry_in(Statement& loop) {
        const auto count = count_by_one(loop);
        if (!count || !std::all_of(loop.body.begin(), loop.body.end(), is_plain)) return;
        const std::map<int, int> inside = mentions_in(p_, Block{loop});
        if (inside.at(count->counter) != mentions_.at(count->counter)) return;
        count_ = *count;
        Block before;
        const std::map<int, int> assigned = assignments_in(Block{loop});
        for (size_t array = 0; array < p_.arrays.size(); ++array)
            if (const auto store = own_store(loop.body, static_cast<int>(array), assigned))
                carry(loop.body, *store, before);
        move_ahead(loop.body, inside, assigned, before);
        if (before.empty()) return;
        std::vector<Expr> by = all_variables(p_);
        by[static_cast<size_t>(count_.counter)] = count_.begin;
        const Expr runs = scalar::simplify(scalar::substitute(loop.values, by))[0];
        const SourceLine line = loop.line;
        before.push_back(std::move(loop));
        loop = Statement::branch(runs, std::move(before), {}, line);
    }

    std::optional<OwnStore> own_store(const Block& body, int array,
                                      const std::map<int, int>& assigned) const {
        std::optional<OwnStore> found;
        for (size_t i = 0; i < body.size(); ++i) {
            if (body[i].array != array || body[i].kind == Kind::load) continue;
            if (found || body[i].kind != Kind::store) return {};
            found = OwnStore{.place = i};
        }
        if (!found) return {};
        size_t moving = 0;
        const std::vector<Expr>& index = body[found->place].index;
        for (size_t axis = 0; axis < index.size(); ++axis) {
            if (!reads_any({index[axis]}, assigned)) continue;
            const auto offset = offset_from(count_.counter, index[axis]);
            if (!offset) return {};
            ++moving;
            found->axis = axis;
            found->offset = *offset;
        }
        return moving == 1 ? found : std::nullopt;
    }

    // How many iterations ago what a load reads was stored; of this iteration: 0. None for others.
    std::optional<int64_t> iterations_ago(const Statement& load, const Statement& store,
                                          const OwnStore& own) const {
        if (load.kind != Kind::load || load.array != store.array ||
            load.index.size() != store.index.size())
            return {};
        for (size_t axis = 0; axis < load.index.size(); ++axis)
            if (axis != own.axis &&
                !scalar::structurally_equal({load.index[axis]}, {store.index[axis]}))
                return {};
        const auto offset = offset_from(count_.counter, load.index[own.axis]);
        if (!offset) return {};
        return (own.offset - *offset) * count_.step;
    }

    void carry(Block& body, const OwnStore& own, Block& before) {
        const Statement store = body[own.place];
        std::map<int64_t, std::vector<size_t>> loads;
        bool asserts = false;
        for (size_t i = 0; i < body.size(); ++i) {
            asserts |= body[i].kind == Kind::expect;
            const auto ago = iterations_ago(body[i], store, own);
            if (!ago || *ago < 0 || *ago > most_iterations_ago || (*ago == 0 && i < own.place))
                continue;
            if (asserts && *ago > 0) return;  // there may be no such element
            loads[*ago].push_back(i);
        }
        // What is read two iterations later is read before the loop if the first one reads both.
        const int64_t most = loads.empty() ? 0 : loads.rbegin()->first;
        for (int64_t ago = 1; ago <= most; ++ago)
            if (!loads.contains(ago)) return;
        if (most == 0) return;
        const auto& array = p_.arrays[static_cast<size_t>(store.array)];
        std::vector<int> variables;  // what was stored so many iterations ago
        for (int64_t ago = 0; ago <= most; ++ago)
            variables.push_back(p_.add_variable(array.name + "_value", array.dtype));
        for (int64_t ago = 1; ago <= most; ++ago) {
            std::vector<Expr> index = store.index;
            const int64_t distance = own.offset - ago * count_.step;
            index[own.axis] = scalar::simplify({count_.begin + integer(distance)})[0];
            before.push_back(Statement::load(variables[static_cast<size_t>(ago)], store.array,
                                             std::move(index), store.line));
        }
        const auto value = [&](int64_t ago) {
            return p_.variable(static_cast<size_t>(variables[static_cast<size_t>(ago)]));
        };
        for (const auto& [ago, places] : loads)
            for (const size_t place : places)
                body[place] = Statement::assign(body[place].variable, value(ago), body[place].line);
        body[own.place].values[0] = value(0);
        for (int64_t ago = most; ago > 0; --ago)
            body.push_back(
                Statement::assign(variables[static_cast<size_t>(ago)], value(ago - 1), store.line));
        body.insert(body.begin() + static_cast<std::ptrdiff_t>(own.place),
                    Statement::assign(variables[0], store.values[0], store.line));
    }

    // Loads of elements that stay, which what the loop stores is not: compilers read them again
    // behind each store.
    void move_ahead(Block& body, const std::map<int, int>& inside,
                    const std::map<int, int>& assigned, Block& before) const {
        Block kept;
        bool asserts = false;
        for (Statement& each : body) {
            asserts |= each.kind == Kind::expect;
            const auto is_own = [&](int variable) {
                return assigned.at(variable) == 1 && mentions_.contains(variable) &&
                       inside.at(variable) == mentions_.at(variable);
            };
            const bool stays = !asserts && each.kind == Kind::load &&
                               !reads_any(each.index, assigned) && is_own(each.variable);
            (stays && is_stored_beside(each, body) ? before : kept).push_back(each);
        }
        body = std::move(kept);
    }

    // Whether the loop writes to the array that is read, but to other elements.
    bool is_stored_beside(const Statement& load, const Block& body) const {
        bool is_stored = false;
        for (const Statement& each : body) {
            if (each.array != load.array || each.kind == Kind::load) continue;
            if (!is_write(each) || !lies_beyond(each.index, load.index)) return false;
            is_stored = true;
        }
        return is_stored;
    }

    // Whether some index of the counter begins behind, or counts down from before, one that stays:
    // that of j, which begins at k + 1, and k.
    bool lies_beyond(const std::vector<Expr>& moving, const std::vector<Expr>& fixed) const {
        if (moving.size() != fixed.size()) return false;
        for (size_t axis = 0; axis < moving.size(); ++axis) {
            const auto offset = offset_from(count_.counter, moving[axis]);
            const std::set<int> read = variables_in({fixed[axis]});
            if (!offset || read.size() != 1) continue;
            const auto from = offset_from(*read.begin(), fixed[axis]);
            const auto begin = offset_from(*read.begin(), count_.begin);
            if (from && begin && (*begin + *offset - *from) * count_.step > 0) return true;
        }
        return false;
    }

    Procedure p_;
    std::map<int, int> mentions_;
    Count count_;
};

}  // namespace

Procedure with_carried_elements(Procedure procedure) {
    return CarriedElements(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure

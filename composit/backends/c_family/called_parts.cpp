// Finding which statements a called function left, and making a procedure of them.
#include "composit/backends/c_family/called_parts.h"

#include "composit/backends/c_family/part_mentions.h"
#include "composit/backends/c_family/procedure_idioms.h"
#include "composit/backends/c_family/procedure_logs.h"
#include "composit/backends/c_family/procedure_runs.h"
#include "composit/backends/c_family/procedure_variables.h"
#include "composit/ir/procedure/exchanges.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace composit::c_family {
namespace {

using ir::procedure::ArrayVariable;
using ir::procedure::Block;
using ir::procedure::InlinedCall;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::procedure::Sweep;
using ir::scalar::Expr;
using Kind = Statement::Kind;
using Role = ArrayVariable::Role;

// Whether a statement and all within it are of the call, which is within another one.
bool is_all_of(const Statement& statement, const InlinedCall* call, const InlinedCall* within) {
    if (!statement.line.call) return false;
    const Block one{statement};
    for (const Statement* each : ir::procedure::all_statements(one)) {
        if (each->line.number == 0 && !each->line.call) continue;
        bool is_it = false;
        for (const InlinedCall* own = each->line.call.get(); own && own != within;
             own = own->around.get())
            is_it |= own == call;
        if (!is_it) return false;
    }
    return true;
}

// The places of a block whose statements are said with those before them.
std::set<size_t> said_with_others(const Procedure& procedure, const Block& block) {
    std::set<size_t> found;
    for (size_t i = 0; i < block.size(); ++i) {
        size_t count = 1;
        if (const auto index = index_at(block, i))
            count = index->is_checked ? 3 : 1;
        else if (is_exchange_at(block, i) || copied_at(procedure, block, i) ||
                 dot_at(procedure, block, i))
            count = 2;
        else if (const auto exchange = ir::procedure::exchange_at(procedure, block, i))
            count = exchange->statements;
        else if (const auto extreme = extreme_at(procedure, block, i))
            count = extreme->statements;
        for (size_t k = 1; k < count; ++k) found.insert(i + k);
        i += count - 1;
    }
    return found;
}

// A name without the number that told it from another one.
std::string without_number(const std::string& name) {
    const size_t at = name.find_last_not_of("0123456789");
    const bool has_number =
        at != std::string::npos && at > 0 && at + 1 < name.size() && name[at] == '_';
    return has_number ? name.substr(0, at) : name;
}

class PartFinder {
  public:
    PartFinder(const Procedure& procedure, const InlinedCall* within, const KnownOf& known,
               const Look& look)
        : p_(procedure), within_(within), known_(known), look_(look) {}

    std::vector<std::unique_ptr<CalledPart>> find() {
        const auto all = ir::procedure::all_statements(p_.body);
        const bool has_any = std::any_of(all.begin(), all.end(), [&](const Statement* each) {
            return ir::procedure::call_of(each->line, within_) != nullptr;
        });
        if (!has_any) return {};
        whole_ = mentions_of(p_, p_.body);
        for (;;) {
            parts_.clear();
            walk(p_.body, within_);
            if (!leaves_out_any()) return std::move(parts_);
        }
    }

  private:
    // Calls of others that are there once are none: what stands in them is looked at next.
    bool leaves_out_any() {
        const auto is_of_user = [](const auto& part) { return !part->call->is_of_library; };
        std::map<std::string, int> times;
        for (const auto& part : parts_)
            if (is_of_user(part)) ++times[part->function.name];
        std::map<std::string, std::vector<const CalledPart*>> same;
        std::map<const CalledPart*, size_t> lines;
        for (const auto& part : parts_) {
            if (!is_of_user(part)) continue;
            const bool is_alone = times.at(part->function.name) == 1;
            const PartText text = is_alone ? PartText() : look_(*part);
            lines[part.get()] = text.lines;
            same[part->function.name + "\n" + text.key].push_back(part.get());
        }
        const size_t before = left_out_.size(), head_and_end = 3;
        for (const auto& [key, all] : same) {
            const size_t own = lines.at(all[0]);
            if (all.size() * own <= own + head_and_end + all.size())
                for (const CalledPart* each : all)
                    left_out_.insert({each->block, each->begin, each->call});
        }
        return left_out_.size() > before;
    }

    // From the outermost call to the innermost, those within the one that is being looked at.
    std::vector<const InlinedCall*> calls_of(const Statement& statement,
                                             const InlinedCall* around) const {
        std::vector<const InlinedCall*> calls;
        const InlinedCall* each = statement.line.call.get();
        for (; each && each != around; each = each->around.get()) calls.insert(calls.begin(), each);
        return each == around ? calls : std::vector<const InlinedCall*>();
    }

    // What stands within a statement, which its own calls are no parts of.
    void walk_within(const Statement& statement, const InlinedCall* around) {
        const auto calls = calls_of(statement, around);
        const InlinedCall* own = calls.empty() ? around : calls.back();
        // What follows a branch, or the next iteration, may read what stands in it.
        const bool was_nested = is_nested_;
        is_nested_ = true;
        walk(statement.body, own);
        if (statement.kind == Kind::branch) walk(statement.otherwise, own);
        is_nested_ = was_nested;
    }

    void walk(const Block& block, const InlinedCall* around) {
        for (size_t i = 0; i < block.size();) {
            const size_t end = add_part(block, i, around);
            if (end == i)
                walk_within(block[i++], around);
            else
                i = end;
        }
    }

    // Where the part ends that begins at the place or, where it leaves some statements out, behind
    // it; the place itself: there is none.
    size_t add_part(const Block& block, size_t begin, const InlinedCall* around) {
        for (const InlinedCall* call : calls_of(block[begin], around)) {
            if (left_out_.contains({&block, begin, call})) continue;
            size_t end = begin;
            while (end < block.size() && is_all_of(block[end], call, around) &&
                   block[end].line.sweep == block[begin].line.sweep)
                ++end;
            if (end == begin) continue;
            auto part = with_slope_of(block, begin, end, call, around);
            if (!part) part = best_of(block, begin, end, call);
            if (!part || left_out_.contains({&block, part->begin, call})) continue;
            for (size_t i = begin; i < part->begin; ++i) walk_within(block[i], around);
            const size_t last = part->end;
            parts_.push_back(std::move(part));
            return last;
        }
        return begin;
    }

    // A part of a value and of its gradient's way back, where that follows at once and nothing
    // else reads what it needs: one call says both.
    std::unique_ptr<CalledPart> with_slope_of(const Block& block, size_t begin, size_t end,
                                              const InlinedCall* call, const InlinedCall* around) {
        const auto is_of_slope = [&](size_t i) {
            return i < block.size() && block[i].line.sweep == Sweep::gradient &&
                   is_all_of(block[i], call, around);
        };
        if (!call->is_of_library || block[begin].line.sweep != Sweep::value || !is_of_slope(end))
            return {};
        size_t last = end;
        while (is_of_slope(last)) ++last;
        auto part = best_of(block, begin, last, call);
        const bool is_of_both = part && part->begin < end && part->end == last;
        return is_of_both && part->result < 0 && part->changed.empty() ? std::move(part) : nullptr;
    }

    // The part of the statements that holds the most.
    std::unique_ptr<CalledPart> best_of(const Block& block, size_t begin, size_t end,
                                        const InlinedCall* call) {
        const std::set<size_t> said = said_with_others(p_, block);
        std::vector<Mentions> each;
        for (size_t i = begin; i < end; ++i) each.push_back(mentions_of(p_, {block[i]}));
        int most = 4;  // fewer statements are no function
        std::pair<size_t, size_t> best{0, 0};
        for (size_t first = begin; first < end; ++first) {
            Mentions sum;
            if (said.contains(first) || block[first].kind == Kind::allocate) continue;
            for (size_t i = first; i < end; ++i) {
                sum.add(each[i - begin]);
                if (sum.weight > most && block[i].kind != Kind::allocate && !said.contains(i + 1) &&
                    fits(block, first, i + 1, sum)) {
                    most = sum.weight;
                    best = {first, i + 1};
                }
            }
        }
        if (best.second == 0) return {};
        Mentions sum;
        for (size_t i = best.first; i < best.second; ++i) sum.add(each[i - begin]);
        return part_of(block, best.first, best.second, sum, call);
    }

    bool is_own_variable(const Mentions& part, int variable) const {
        return static_cast<size_t>(variable) >= p_.parameters &&
               part.variables.at(variable) == whole_.variables.at(variable);
    }
    const ArrayVariable& array(int number) const { return p_.arrays[static_cast<size_t>(number)]; }
    // Whether no extent of the array may be negative, which is told where the kernel makes it.
    bool is_natural(int number) const {
        return std::all_of(array(number).shape.begin(), array(number).shape.end(),
                           [&](const Expr& each) { return known_.naturals.contains(each); });
    }
    // Whether others mention the array only where it is allocated, if at all.
    bool is_own_array(const Block& block, size_t begin, const Mentions& part, int number) const {
        return array(number).role == Role::local &&
               (part.arrays.at(number) == whole_.arrays.at(number) ||
                allocation_of(block, begin, part, number) < block.size());
    }

    // Which statement of the block is the last to mention a variable.
    const std::map<int, size_t>& last_mentions(const Block& block) const {
        const auto [found, is_new] = last_.try_emplace(&block);
        for (size_t i = 0; is_new && i < block.size(); ++i)
            for (const auto& [variable, times] : ir::procedure::mentions_in(p_, {block[i]}))
                found->second[variable] = i;
        return found->second;
    }

    // What others may read of what the part assigns: what a part within a call assigns of the
    // call's parameters is read behind the call.
    std::set<int> results_of(const Block& block, size_t end, const Mentions& part) const {
        std::set<int> results;
        for (const int variable : part.assigned) {
            if (is_own_variable(part, variable)) continue;
            const bool is_of_call = within_ && static_cast<size_t>(variable) < p_.parameters;
            const bool is_read_behind =
                is_nested_ || is_of_call || last_mentions(block).at(variable) >= end;
            if (is_read_behind) results.insert(variable);
        }
        return results;
    }

    // The place before a part of the block where an array is allocated that the part alone
    // mentions; the block's size: there is none.
    size_t allocation_of(const Block& block, size_t begin, const Mentions& part, int number) const {
        const bool is_fit = array(number).role == Role::local && is_natural(number) &&
                            part.arrays.at(number) + 1 == whole_.arrays.at(number);
        if (!is_fit) return block.size();
        for (size_t i = begin; i-- > 0;) {
            const std::set<int> extents = read_by(array(number).shape);
            if (block[i].kind == Kind::allocate && block[i].array == number) return i;
            const Block one{block[i]};
            for (const auto& [variable, times] : ir::procedure::assignments_in(one))
                if (extents.contains(variable)) return block.size();
        }
        return block.size();
    }

    bool fits(const Block& block, size_t begin, size_t end, const Mentions& part) const {
        if (part.has_exit) return false;
        constexpr size_t most_results = 8;
        const std::set<int> results = results_of(block, end, part);
        if (results.size() > most_results) return false;
        for (const int result : results)
            if (known_.without_names.contains(result)) return false;
        for (const auto& [number, times] : part.arrays) {
            const ArrayVariable& known = array(number);
            if (is_own_array(block, begin, part, number) && !is_natural(number)) return false;
            if (is_own_array(block, begin, part, number)) continue;
            if (known.dtype == ir::DType::boolean && known.role == Role::local) return false;
            for (const int variable : read_by(known.shape))
                if (part.assigned.contains(variable)) return false;
            if (part.written.contains(number) && !may_allocate_before(block, begin, end, number))
                return false;
        }
        return true;
    }

    // Whether the part allocates the array, if at all, before it mentions it elsewhere.
    static bool may_allocate_before(const Block& block, size_t begin, size_t end, int number) {
        bool is_mentioned = false;
        for (size_t i = begin; i < end; ++i) {
            const bool is_allocation = block[i].kind == Kind::allocate && block[i].array == number;
            if (is_allocation && is_mentioned) return false;
            const Block one{block[i]};
            for (const Statement* each : ir::procedure::all_statements(one)) {
                is_mentioned |= each->array == number;
                const bool is_within = each->kind == Kind::allocate && each->array == number;
                if (is_within && !is_allocation) return false;
            }
        }
        return true;
    }

    std::unique_ptr<CalledPart> part_of(const Block& block, size_t begin, size_t end,
                                        const Mentions& mentions, const InlinedCall* call) const {
        auto part = std::make_unique<CalledPart>();
        part->block = &block;
        part->begin = begin;
        part->end = end;
        part->call = call;
        Block body;
        std::vector<const Statement*> originals;
        for (const auto& [number, times] : mentions.arrays) {
            if (array(number).role == Role::local && times == whole_.arrays.at(number)) continue;
            const size_t place = allocation_of(block, begin, mentions, number);
            if (place == block.size()) continue;
            body.push_back(block[place]);
            originals.push_back(&block[place]);
            part->moved.insert(&block[place]);
        }
        for (size_t i = begin; i < end; ++i) {
            const Statement& each = block[i];
            if (each.kind == Kind::allocate && !is_own_array(block, begin, mentions, each.array)) {
                part->allocations.insert(i);
                continue;
            }
            body.push_back(each);
            gather_originals(each, originals);
        }
        Procedure& made = part->function;
        const Sweep sweep = block[end - 1].line.sweep;
        if (!call->is_of_library) made.file = p_.file;
        made.name = call->name + (sweep == Sweep::gradient  ? "_vjp"
                                  : sweep == Sweep::tangent ? "_jvp"
                                                            : "");
        const std::set<int> results = results_of(block, end, mentions);
        if (results.size() == 1) part->result = *results.begin();
        if (results.size() > 1) part->changed = results;
        part->takes_result =
            part->result >= 0 && (!always_assigns(body, part->result) ||
                                  ir::procedure::exposed_in(p_, body).contains(part->result));
        number_all(*part, body, mentions, originals);
        return part;
    }

    static void gather_originals(const Statement& statement,
                                 std::vector<const Statement*>& originals) {
        originals.push_back(&statement);
        for (const Block* inner : {&statement.first, &statement.body, &statement.otherwise})
            for (const Statement& each : *inner) gather_originals(each, originals);
    }

    // Gives variables and arrays numbers of the function's own, in the order of the text, and makes
    // parameters of those that others mention.
    void number_all(CalledPart& part, Block body, const Mentions& mentions,
                    const std::vector<const Statement*>& originals) const {
        Procedure& made = part.function;
        std::vector<int> given, own;     // variables
        std::vector<int> reads, writes;  // arrays that others mention
        std::vector<int> inner;          // others
        std::set<int> seen_variables, seen_arrays;
        part.rows = rows_in(body, mentions.assigned);
        leave_out_rows(body, part.rows);
        const std::set<int> exposed = ir::procedure::exposed_in(p_, body);
        const auto see = [&](int variable) {
            if (variable < 0 || !seen_variables.insert(variable).second) return;
            const bool has_value = variable == part.result
                                       ? part.takes_result
                                       : part.changed.contains(variable) ||
                                             !mentions.assigned.contains(variable) ||
                                             exposed.contains(variable);
            const bool is_given = !is_own_variable(mentions, variable) && has_value;
            (is_given ? given : own).push_back(variable);
            if (is_given) part.arguments.push_back(variable);
        };
        for (const Statement* each : ir::procedure::all_statements(body)) {
            const int number = each->array;
            if (number >= 0 && seen_arrays.insert(number).second) {
                const bool is_own = is_own_array(*part.block, part.begin, mentions, number);
                const bool is_written = mentions.written.contains(number) || array(number).grows;
                (is_own ? inner : is_written ? writes : reads).push_back(number);
                if (!is_own && !is_written) part.arguments.push_back(-1 - number);
            }
            for (const int variable : read_by(ir::procedure::expressions_of(p_, *each)))
                see(variable);
            see(each->variable);
        }
        std::map<int, int> variables, arrays;
        for (const std::vector<int>* some : {&given, &own})
            for (const int variable : *some) {
                variables[variable] = static_cast<int>(made.variables.size());
                made.variables.push_back(p_.variables[static_cast<size_t>(variable)]);
                std::string& name = made.variables.back().name;
                name = without_number(name);
                if (is_own_variable(mentions, variable)) part.own_variables.insert(variable);
            }
        made.parameters = given.size();
        std::vector<Expr> by = ir::procedure::all_variables(p_);
        for (const auto& [variable, number] : variables)
            by[static_cast<size_t>(variable)] = made.variable(static_cast<size_t>(number));
        const auto add_arrays = [&](const std::vector<int>& some, Role role) {
            for (const int number : some) {
                arrays[number] = static_cast<int>(made.arrays.size());
                ArrayVariable copy = array(number);
                copy.role = role;
                copy.name = without_number(copy.name);
                if (part.rows.contains(number)) copy.shape.erase(copy.shape.begin());
                if (!copy.shape.empty()) copy.shape = ir::scalar::substitute(copy.shape, by);
                made.arrays.push_back(std::move(copy));
            }
        };
        add_arrays(reads, Role::input);
        add_arrays(writes, Role::output);
        add_arrays(inner, Role::local);
        for (const int number : inner) part.own_arrays.insert(static_cast<size_t>(number));
        for (const int each : part.arguments)
            made.head.push_back(each < 0 ? -1 - arrays.at(-1 - each) : variables.at(each));
        for (const int number : writes) part.arguments.push_back(-1 - number);
        ir::procedure::replace_variables(body, by, true);
        renumber_arrays(body, arrays);
        std::vector<Expr> result;
        if (part.result >= 0) {
            const Expr value = by[static_cast<size_t>(part.result)];
            made.results = {{"value", value.dtype()}};
            result = {value};
        }
        body.push_back(Statement::leave(std::move(result)));
        made.body = std::move(body);
        for (size_t i = 0; i < originals.size(); ++i)
            if (known_.sums_in_order.contains(originals[i])) part.known.sums_in_order.insert(i);
        know(part, variables, arrays);
    }

    static void renumber_arrays(Block& block, const std::map<int, int>& arrays) {
        for (Statement& statement : block) {
            if (statement.array >= 0) statement.array = arrays.at(statement.array);
            for (Block* inner : {&statement.first, &statement.body, &statement.otherwise})
                renumber_arrays(*inner, arrays);
        }
    }

    void know(CalledPart& part, const std::map<int, int>& variables,
              const std::map<int, int>& arrays) const {
        const auto moved = [](const std::set<int>& some, const std::map<int, int>& to) {
            std::set<int> made;
            for (const int each : some)
                if (const auto found = to.find(each); found != to.end()) made.insert(found->second);
            return made;
        };
        const auto of = [&](const Roundings& known, const std::map<int, int>& to) {
            Roundings made{moved(known.products, to),
                           moved(known.negated, to),
                           moved(known.constants, to),
                           {},
                           moved(known.computed, to)};
            for (const auto& [variable, interval] : known.integers)
                if (const auto found = to.find(variable); found != to.end())
                    made.integers.emplace(found->second, interval);
            return made;
        };
        part.known.roundings = {of(known_.roundings.variables, variables),
                                of(known_.roundings.arrays, arrays)};
        for (const auto& [variable, number] : variables)
            if (static_cast<size_t>(number) < part.function.parameters &&
                part.function.variables[static_cast<size_t>(number)].dtype == ir::DType::int64 &&
                known_.naturals.contains(p_.variable(static_cast<size_t>(variable))))
                part.known.naturals.insert(number);
    }

    const Procedure& p_;
    const InlinedCall* within_;
    const KnownOf& known_;
    const Look& look_;
    Mentions whole_;
    bool is_nested_ = false;  // in a loop or branch
    mutable std::map<const Block*, std::map<int, size_t>> last_;
    std::set<std::tuple<const Block*, size_t, const InlinedCall*>> left_out_;
    std::vector<std::unique_ptr<CalledPart>> parts_;
};

}  // namespace

std::vector<std::unique_ptr<CalledPart>> called_parts(const Procedure& procedure,
                                                      const InlinedCall* within,
                                                      const KnownOf& known, const Look& look) {
    return PartFinder(procedure, within, known, look).find();
}

}  // namespace composit::c_family

// with_pairs_met_once: what an iteration (i, j) and (j, i) compute, of which much is the same.
#include "composit/ir/procedure/pairs_once.h"

#include "composit/ir/procedure/mirrored.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

constexpr size_t most_in_pairs = 200;  // statements of an iteration, of which each looks at all

bool is_expensive(const Expr& value) {
    return (value.op() == Op::divide && is_floating(value.dtype())) ||
           value.op() == Op::square_root || value.op() == Op::call || value.op() == Op::loop;
}

// How many different quotients, roots and functions there are.
size_t cost_of(const Block& block) {
    std::unordered_set<uint64_t> found;
    for (const Statement& each : block)
        for (const Expr& value : scalar::topological_order(each.values))
            if (is_expensive(value)) found.insert(scalar::structural_hash({value}));
    return found.size();
}

// With operations for calls of rows that are one.
std::vector<Expr> in_operations(const std::vector<Expr>& values) {
    std::map<const scalar::ExprNode*, Expr> made;
    for (const Expr& expr : scalar::topological_order(values)) {
        std::vector<Expr> operands;
        for (const Expr& operand : expr.operands()) operands.push_back(made.at(operand.id()));
        const bool is_same = std::equal(operands.begin(), operands.end(), expr.operands().begin());
        made[expr.id()] = plain_operation(is_same ? expr : expr.with_operands(std::move(operands)));
    }
    std::vector<Expr> out;
    for (const Expr& value : values) out.push_back(made.at(value.id()));
    return out;
}

// What an iteration adds to an element or a variable.
struct PairTerm {
    int array = -1, variable = -1;
    std::vector<Expr> index;
    std::vector<SignedValue> values;
    SourceLine line;

    bool has_place_of(const PairTerm& other) const {
        return array == other.array && variable == other.variable &&
               index.size() == other.index.size() && scalar::structurally_equal(index, other.index);
    }
};

class PairsOnce {
  public:
    explicit PairsOnce(Procedure procedure)
        : p_(std::move(procedure)), mentions_(mentions_in(p_, p_.body)) {}

    std::optional<Procedure> run() {
        walk(p_.body);
        if (!is_changed_) return {};
        return without_dead_code(std::move(p_));
    }

  private:
    void walk(Block& block) {
        for (Statement& each : block) {
            if (each.kind == Kind::loop && meet_once(each)) continue;
            walk(each.body);
            walk(each.otherwise);
        }
    }

    // The body of a nest over all pairs of different counters; none.
    std::optional<Block> body_of_pairs(const Statement& outer) {
        const auto count = count_of(outer);
        if (!count || count->step != 1 || outer.body.empty()) return {};
        const Statement& loop = outer.body.back();
        const auto within = loop.kind == Kind::loop ? count_of(loop) : std::nullopt;
        if (!within || within->step != 1 || loop.body.size() != 1 ||
            !scalar::structurally_equal({count->begin, count->end}, {within->begin, within->end}) ||
            reads_any({count->begin, count->end}, assignments_in({outer})))
            return {};
        const Statement& branch = loop.body[0];
        if (branch.kind != Kind::branch || !branch.otherwise.empty() ||
            branch.values[0].op() != Op::not_equal)
            return {};
        const Expr &a = branch.values[0].operand(0), &b = branch.values[0].operand(1);
        const auto are = [&](const Expr& x, const Expr& y) {
            return is_variable(x, count->counter) && is_variable(y, within->counter);
        };
        if (!are(a, b) && !are(b, a)) return {};
        outer_ = *count;
        inner_ = *within;
        Block body;
        std::set<int> made;
        for (size_t i = 0; i + 1 < outer.body.size(); ++i) {
            if (outer.body[i].kind == Kind::allocate) {
                made.insert(outer.body[i].array);
                continue;
            }
            if (outer.body[i].kind != Kind::loop) {
                body.push_back(outer.body[i]);
                continue;
            }
            const auto kept = kept_for_pairs(outer.body[i], branch.values[0]);
            if (!kept) return {};
            body.insert(body.end(), kept->begin(), kept->end());
        }
        body.insert(body.end(), branch.body.begin(), branch.body.end());
        body = with_kept_values(std::move(body));
        const bool is_left = std::any_of(body.begin(), body.end(), [&](const Statement& each) {
            return made.contains(each.array);
        });
        return is_left ? std::nullopt : std::optional(std::move(body));
    }

    // What a loop before the other one keeps of each pair for it; none where it does more.
    std::optional<Block> kept_for_pairs(const Statement& loop, const Expr& condition) {
        const auto count = count_of(loop);
        if (!count || count->step != 1 || loop.body.size() != 1 ||
            !scalar::structurally_equal({count->begin, count->end}, {inner_.begin, inner_.end}))
            return {};
        const Statement& branch = loop.body[0];
        std::vector<Expr> by = all_variables(p_);
        by[static_cast<size_t>(count->counter)] = p_.variable(static_cast<size_t>(inner_.counter));
        if (branch.kind != Kind::branch || !branch.otherwise.empty() ||
            !scalar::structurally_equal(scalar::substitute({branch.values[0]}, by), {condition}))
            return {};
        Block body = branch.body;
        replace_variables(body, by, false);
        by = all_variables(p_);
        for (const auto& [variable, times] : assignments_in(body)) {
            if (times != 1 || variable == count->counter) return {};
            const Variable known = p_.variables[static_cast<size_t>(variable)];
            const int made = p_.add_variable(known.name, known.dtype);
            by.push_back(p_.variable(static_cast<size_t>(made)));
            by[static_cast<size_t>(variable)] = by.back();
        }
        replace_variables(body, by, true);
        return body;
    }

    // Elements that pairs store for themselves alone become variables.
    Block with_kept_values(Block body) {
        std::map<int, int> kept;
        for (Statement& each : body) {
            const bool is_own =
                each.kind == Kind::store && each.index.size() == 1 &&
                offset_from(inner_.counter, each.index[0]) &&
                p_.arrays[static_cast<size_t>(each.array)].role == ArrayVariable::Role::local;
            if (!is_own || kept.contains(each.array) || !is_kept(body, each.array)) continue;
            const ArrayVariable& array = p_.arrays[static_cast<size_t>(each.array)];
            const int made = p_.add_variable(array.name, array.dtype);
            kept.emplace(each.array, made);
            each = Statement::assign(made, each.values[0], each.line);
        }
        for (Statement& each : body)
            if (each.kind == Kind::load && kept.contains(each.array))
                each = Statement::assign(each.variable,
                                         p_.variable(static_cast<size_t>(kept.at(each.array))),
                                         each.line);
        return body;
    }

    // Whether the array is only stored to once in the body, and read behind it at the same place,
    // and mentioned nowhere else but where it is made.
    bool is_kept(const Block& body, int array) const {
        size_t mentions = 0, all = 0;
        const Statement* stored = nullptr;
        for (const Statement& each : body) {
            if (each.array != array) continue;
            ++mentions;
            const bool is_read = each.kind == Kind::load && stored &&
                                 each.index.size() == stored->index.size() &&
                                 scalar::structurally_equal(each.index, stored->index);
            if (!is_read && (stored || each.kind != Kind::store)) return false;
            if (!stored) stored = &each;
        }
        for (const Statement* each : all_statements(p_.body))
            if (each->array == array && each->kind != Kind::allocate) ++all;
        return mentions == all;
    }

    // v = v + x and v = v - x, where x does not read v.
    static bool is_sum(const Statement& statement) {
        if (statement.kind != Kind::assign) return false;
        const Expr& value = statement.values[0];
        return (value.op() == Op::add || value.op() == Op::subtract) &&
               is_floating(value.dtype()) && is_variable(value.operand(0), statement.variable) &&
               !variables_in({value.operand(1)}).contains(statement.variable);
    }

    // Whether iterations only read what none of them changes, and add to something else, in a
    // derivative.
    bool only_adds(const Statement& outer, const Block& body) const {
        if (body.size() > most_in_pairs) return false;
        const std::map<int, int> inside = mentions_in(p_, {outer});
        std::map<int, int> assigned = assignments_in(body), sums;
        std::set<int> read, written;
        for (const Statement& each : body) {
            if (each.kind == Kind::load) read.insert(each.array);
            if (is_value(each)) {
                if (is_sum(each)) ++sums[each.variable];
                const bool is_kept = is_sum(each) && each.line.sweep == Sweep::gradient;
                if (is_sum(each) ? !is_kept : !is_own(each.variable, inside, assigned))
                    return false;
                continue;
            }
            if (each.kind != Kind::add || !is_floating(each.values[0].dtype()) ||
                each.line.sweep != Sweep::gradient)
                return false;
            written.insert(each.array);
        }
        const std::map<int, int> mentioned = mentions_in(p_, body);
        for (const auto& [variable, times] : sums)
            if (assigned.at(variable) != times || mentioned.at(variable) != 2 * times) return false;
        return std::none_of(read.begin(), read.end(),
                            [&](int array) { return written.contains(array); }) &&
               inside.at(outer_.counter) == mentions_.at(outer_.counter) &&
               inside.at(inner_.counter) == mentions_.at(inner_.counter) &&
               !assigned.contains(outer_.counter) && !assigned.contains(inner_.counter);
    }

    bool is_own(int variable, const std::map<int, int>& inside,
                const std::map<int, int>& assigned) const {
        if (static_cast<size_t>(variable) < p_.parameters || assigned.at(variable) != 1)
            return false;
        const auto all = mentions_.find(variable);
        return all == mentions_.end() || inside.at(variable) == all->second;
    }

    bool meet_once(Statement& outer) {
        const size_t variables = p_.variables.size();
        auto body = body_of_pairs(outer);
        if (!body || !only_adds(outer, *body)) {
            p_.variables.resize(variables);
            return false;
        }
        for (Statement& each : *body) each.values = in_operations(each.values);
        compute_once(*body);
        Mirrored mirrored(p_, outer_.counter, inner_.counter);
        std::vector<PairTerm> terms;
        Block pair;
        for (const Statement& each : *body) {
            if (is_sum(each) || each.kind == Kind::add) {
                add_term(terms, each, each.index, signed_value(added_by(each)));
                mirrored.know(each.values);
                continue;
            }
            pair.push_back(each);
            mirrored.know(each);
        }
        for (const Statement& each : *body) {
            if (is_sum(each) || each.kind == Kind::add) {
                const std::vector<Expr> index = mirrored.exact(each.index, pair);
                add_term(terms, each, index, mirrored.value(added_by(each), pair));
            } else {
                mirrored.compute(each, pair);
            }
        }
        add_together(terms, pair);
        if (cost_of(pair) >= 2 * cost_of(*body)) {
            p_.variables.resize(variables);
            return false;
        }
        share_quotients(p_, pair);
        write(outer, std::move(pair));
        return is_changed_ = true;
    }

    // What the body reads or computes twice has one variable.
    void compute_once(Block& body) const {
        std::vector<Expr> by = all_variables(p_);
        Block out;
        for (Statement& each : body) {
            Block one{each};
            replace_variables(one, by, false);
            each = std::move(one[0]);
            if (!is_value(each) || is_sum(each)) {
                out.push_back(std::move(each));
                continue;
            }
            Expr& own = by[static_cast<size_t>(each.variable)];
            const auto same = std::find_if(out.begin(), out.end(), [&](const Statement& other) {
                return other.kind == each.kind && !is_sum(other) && other.array == each.array &&
                       other.index.size() == each.index.size() &&
                       scalar::structurally_equal(other.index, each.index) &&
                       scalar::structurally_equal(other.values, each.values);
            });
            if (each.kind == Kind::assign && each.values[0].operands().empty())
                own = each.values[0];
            else if (same != out.end())
                own = p_.variable(static_cast<size_t>(same->variable));
            else
                out.push_back(std::move(each));
        }
        body = std::move(out);
    }

    static Expr added_by(const Statement& each) {
        if (each.kind == Kind::add) return each.values[0];
        const Expr x = each.values[0].operand(1);
        return each.values[0].op() == Op::add ? x : -x;
    }

    static void add_term(std::vector<PairTerm>& terms, const Statement& from,
                         const std::vector<Expr>& index, const SignedValue& value) {
        PairTerm made{
            from.array, from.kind == Kind::add ? -1 : from.variable, index, {value}, from.line};
        const auto same = std::find_if(terms.begin(), terms.end(), [&](const PairTerm& each) {
            return each.has_place_of(made);
        });
        if (same == terms.end())
            terms.push_back(std::move(made));
        else
            same->values.push_back(value);
    }

    // What each place receives, in one addition; a sum that two of them receive has a name.
    void add_together(const std::vector<PairTerm>& terms, Block& pair) {
        std::vector<SignedValue> sums;
        for (const PairTerm& term : terms) sums.push_back(sum_of(term.values));
        for (size_t i = 0; i < sums.size(); ++i) {
            const bool is_plain = sums[i].value.operands().empty();
            std::vector<size_t> same;
            for (size_t k = i + 1; !is_plain && k < sums.size(); ++k)
                if (scalar::structurally_equal({sums[k].value}, {sums[i].value})) same.push_back(k);
            if (same.empty()) continue;
            const Expr value = sums[i].value;
            const std::set<int> read = variables_in({value});
            const std::string name =
                read.empty() ? "t" : p_.variables[static_cast<size_t>(*read.begin())].name;
            const int made = p_.add_variable(name, value.dtype());
            pair.push_back(Statement::assign(made, value, terms[i].line));
            same.push_back(i);
            for (const size_t k : same) sums[k].value = p_.variable(static_cast<size_t>(made));
        }
        for (size_t i = 0; i < terms.size(); ++i) {
            const PairTerm& term = terms[i];
            const Expr value = sums[i].is_negative ? -sums[i].value : sums[i].value;
            if (term.array >= 0) {
                pair.push_back(
                    Statement::write(Kind::add, term.array, term.index, value, term.line));
                continue;
            }
            const Expr sum = p_.variable(static_cast<size_t>(term.variable));
            const Expr total = sums[i].is_negative ? sum - sums[i].value : sum + sums[i].value;
            pair.push_back(Statement::assign(term.variable, total, term.line));
        }
    }

    // The sum of values, whose first has no sign: of -a and b it is less (a - b).
    static SignedValue sum_of(const std::vector<SignedValue>& values) {
        const bool is_negative = values[0].is_negative;
        Expr sum = values[0].value;
        for (size_t i = 1; i < values.size(); ++i)
            sum = values[i].is_negative == is_negative ? sum + values[i].value
                                                       : sum - values[i].value;
        return {sum, is_negative};
    }

    // The nest over pairs. What each iteration adds to one place is summed in lanes.
    void write(Statement& outer, Block pair) {
        Statement loop = outer.body.back();
        const SourceLine line = loop.line;
        const Expr here = p_.variable(static_cast<size_t>(inner_.counter));
        const Expr lane =
            Expr::make(Op::remainder, {minus(here, inner_.begin), integer(lanes_of_sums)});
        const int number = p_.add_variable("lane", DType::int64);
        const Expr own = p_.variable(static_cast<size_t>(number));
        const std::map<int, int> assigned = assignments_in(pair);
        Block before, after;
        for (Statement& each : pair) {
            const bool is_fixed =
                each.kind == Kind::add ? !moves(each.index, assigned) : is_sum(each);
            if (!is_fixed) continue;
            const std::string& name = each.kind == Kind::add
                                          ? p_.arrays[static_cast<size_t>(each.array)].name
                                          : p_.variables[static_cast<size_t>(each.variable)].name;
            const DType dtype = each.values[0].dtype();
            const int lanes = p_.add_array(
                name + "_sum", {.name = "", .dtype = dtype, .shape = {integer(lanes_of_sums)}});
            before.push_back(Statement::allocate(lanes, true, each.line));
            const int value = p_.add_variable(name + "_part", dtype);
            const Expr part = p_.variable(static_cast<size_t>(value));
            after.push_back(Statement::load(value, lanes, {own}, each.line));
            Statement sum = each;
            if (each.kind == Kind::add)
                sum.values[0] = part;
            else
                sum.values[0] = p_.variable(static_cast<size_t>(each.variable)) + part;
            after.push_back(std::move(sum));
            each = Statement::write(Kind::add, lanes, {lane}, added_by(each), each.line);
        }
        loop.body = std::move(pair);
        loop.values[0] = here < p_.variable(static_cast<size_t>(outer_.counter));
        outer.body = std::move(before);
        outer.body.push_back(std::move(loop));
        if (after.empty()) return;
        outer.body.push_back(
            counting_up(own, integer(0), integer(lanes_of_sums), std::move(after), line));
    }

    bool moves(const std::vector<Expr>& index, const std::map<int, int>& assigned) const {
        return reads_any(index, assigned) || variables_in(index).contains(inner_.counter);
    }

    Procedure p_;
    const std::map<int, int> mentions_;
    Count outer_, inner_;
    bool is_changed_ = false;
};

}  // namespace

Procedure with_pairs_met_once(Procedure procedure) {
    auto made = PairsOnce(procedure).run();
    if (!made) return procedure;
    made->for_derivatives = std::make_shared<const Procedure>(std::move(procedure));
    return *std::move(made);
}

}  // namespace composit::ir::procedure

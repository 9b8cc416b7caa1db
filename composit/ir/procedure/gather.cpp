// with_sums_gathered: what one adjoint receives in several statements, received in one.
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/scalar/row.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace composit::ir::procedure {

using scalar::Op;

Expr plain_operation(const Expr& x) {
    if (x.op() != Op::call || scalar::is_user_row(*x.row()) ||
        x.row()->name.find('.') != std::string::npos)
        return x;
    std::vector<DType> dtypes;
    for (const Expr& operand : x.operands()) dtypes.push_back(operand.dtype());
    const scalar::Specialisation& known = scalar::specialise(x.row(), dtypes);
    const bool is_plain = known.is_one_operation && known.body.op() != Op::argument;
    return is_plain ? scalar::substitute({known.body}, x.operands())[0] : x;
}

namespace {

using Kind = Statement::Kind;

bool jumps(const Block& block) {
    const auto all = all_statements(block);
    return std::any_of(all.begin(), all.end(), [](const Statement* statement) {
        return statement->kind == Kind::stop || statement->kind == Kind::go_on;
    });
}

// The value of which x is the negative, to the bit: y of -y, y * z of -y * z; none.
Expr negative_of(const Expr& x) {
    if (x.op() == Op::negate) return x.operand(0);
    if (x.op() != Op::multiply && x.op() != Op::divide) return {};
    for (const size_t side : {0, 1}) {
        std::vector<Expr> operands = x.operands();
        if (operands[side].op() != Op::negate) continue;
        operands[side] = Expr(operands[side].operand(0));
        return x.with_operands(std::move(operands));
    }
    return {};
}

// The same sum to the bit, as it is written by hand: a * b + b * a is 2 * (a * b), a + -b is a - b.
Expr plain_sum(const Expr& given) {
    const Expr x = plain_operation(given);
    if (x.op() != Op::add || !is_floating(x.dtype())) return x;
    const Expr &a = x.operand(0), &b = x.operand(1);
    if (const Expr less = negative_of(b)) return a - less;
    if (const Expr less = negative_of(a)) return b - less;
    if (a.op() != Op::multiply || b.op() != Op::multiply ||
        !scalar::structurally_equal({a.operand(0), a.operand(1)}, {b.operand(1), b.operand(0)}))
        return x;
    return Expr::constant(x.dtype(), 2) * a;
}

std::vector<Expr> with_plain_sums(const std::vector<Expr>& values) {
    std::map<const scalar::ExprNode*, Expr> made;
    for (const Expr& expr : scalar::topological_order(values)) {
        std::vector<Expr> operands;
        for (const Expr& operand : expr.operands()) operands.push_back(made.at(operand.id()));
        const bool is_same = std::equal(operands.begin(), operands.end(), expr.operands().begin());
        made[expr.id()] = plain_sum(is_same ? expr : expr.with_operands(std::move(operands)));
    }
    std::vector<Expr> out;
    for (const Expr& value : values) out.push_back(made.at(value.id()));
    return out;
}

// What an adjoint starts from: it has no part in what it receives.
bool is_structural_zero(const Statement& statement) {
    return is_floating(statement.values[0].dtype()) && is_positive_zero(statement.values[0]);
}

class Gatherer {
  public:
    Gatherer(Procedure procedure, const std::set<std::string>& names)
        : p_(std::move(procedure)), names_(names) {}

    Procedure run() {
        gather(p_.body);
        return std::move(p_);
    }

  private:
    void gather(Block& block) {
        for (Statement& statement : block) {
            gather(statement.body);
            if (statement.kind == Kind::branch) gather(statement.otherwise);
        }
        for (size_t i = 0; i < block.size();) {
            const bool is_moved = block[i].kind == Kind::assign ? move_value(block, i)
                                  : is_write(block[i])          ? move_addition(block, i)
                                                                : false;
            if (is_moved)
                block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
            else
                ++i;
        }
        leave_out_own_stores(block);
        for (Statement& statement : block) statement.values = with_plain_sums(statement.values);
    }

    // v = x[i]; …; x[i] = v, where nothing between changes either, stores nothing new.
    static void leave_out_own_stores(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            const Statement load = block[i];
            if (load.kind != Kind::load) continue;
            std::set<int> fixed = variables_in(load.index);
            fixed.insert(load.variable);
            for (size_t k = i + 1; k < block.size(); ++k) {
                const Statement& next = block[k];
                const bool is_own = next.kind == Kind::store && next.array == load.array &&
                                    is_variable(next.values[0], load.variable) &&
                                    next.index.size() == load.index.size() &&
                                    scalar::structurally_equal(next.index, load.index);
                if (is_own) {
                    block.erase(block.begin() + static_cast<std::ptrdiff_t>(k));
                    break;
                }
                const bool is_plain = next.kind == Kind::assign || next.kind == Kind::load ||
                                      (is_write(next) && next.array != load.array);
                if (!is_plain || fixed.contains(next.variable)) break;
            }
        }
    }

    // v = a; …; v = v + b to v = a + b, and v = v + a; …; v = v + b to v = v + (a + b), where
    // nothing between mentions v or changes what a reads. A loop that adds once to a variable is
    // one that compilers make vectors of.
    bool move_value(Block& block, size_t place) const {
        const Statement& from = block[place];
        const int variable = from.variable;
        const auto number = static_cast<size_t>(variable);
        if (number < p_.parameters || names_.contains(p_.variables[number].name)) return false;
        const std::optional<Received> first = received_by(from);
        if (!first && variables_in(from.values).contains(variable)) return false;
        for (size_t k = place + 1; k < block.size(); ++k) {
            Statement& statement = block[k];
            const Block one{statement};
            if (mentions_in(p_, one).contains(variable)) {
                const std::optional<Received> second = received_by(statement);
                if (!second || statement.variable != variable || are_of_calls(from, statement))
                    return false;
                const Expr value = statement.values[0];
                if (first) {
                    statement.values[0] = sum_of(value.operand(0), *first, *second);
                    return true;
                }
                statement.values[0] =
                    is_structural_zero(from) && value.op() == Op::add
                        ? Expr(value.operand(1))
                        : value.with_operands({Expr(from.values[0]), Expr(value.operand(1))});
                return true;
            }
            const std::vector<Expr>& read = first ? first->values : from.values;
            if (jumps(one) || reads_any(read, assignments_in(one))) return false;
        }
        return false;
    }

    // Whether they are of two calls of one function, each of which is to keep its own.
    static bool are_of_calls(const Statement& one, const Statement& other) {
        const InlinedCall *first = one.line.call.get(), *second = other.line.call.get();
        return first && second && first != second && first->name == second->name;
    }

    // What v = v + b and v = v - b add to v, or take from it.
    struct Received {
        std::vector<Expr> values;
        bool is_taken = false;
    };
    static std::optional<Received> received_by(const Statement& statement) {
        if (statement.kind != Kind::assign) return {};
        const Expr& value = statement.values[0];
        const bool adds = value.op() == Op::add || value.op() == Op::subtract;
        if (!adds || !is_floating(value.dtype()) ||
            !is_variable(value.operand(0), statement.variable) ||
            variables_in({value.operand(1)}).contains(statement.variable))
            return {};
        return Received{{Expr(value.operand(1))}, value.op() == Op::subtract};
    }
    static Expr sum_of(const Expr& variable, const Received& first, const Received& second) {
        const Expr &a = first.values[0], &b = second.values[0];
        if (first.is_taken) return second.is_taken ? variable - (a + b) : variable + (b - a);
        return variable + (second.is_taken ? a - b : a + b);
    }

    // x[i] += a; …; x[i] += b to x[i] += a + b, and so x[i] = a. Those of the function keep their
    // order: its values have the bits that it gives them.
    bool move_addition(Block& block, size_t place) const {
        const Statement& from = block[place];
        if (names_.contains(p_.arrays[static_cast<size_t>(from.array)].name)) return false;
        std::vector<Expr> read = from.values;
        read.insert(read.end(), from.index.begin(), from.index.end());
        for (size_t k = place + 1; k < block.size(); ++k) {
            Statement& statement = block[k];
            const bool adds = statement.kind == Kind::add && statement.array == from.array;
            if (adds && are_of_calls(from, statement)) return false;
            if (adds && statement.index.size() == from.index.size() &&
                scalar::structurally_equal(statement.index, from.index)) {
                if (from.kind != Kind::store || !is_structural_zero(from))
                    statement.values[0] = Expr(from.values[0]) + Expr(statement.values[0]);
                statement.kind = from.kind;
                return true;
            }
            const Block one{statement};
            const bool is_between =
                mentions_array(one, from.array) && (!adds || from.kind == Kind::store);
            if (is_between || jumps(one) || reads_any(read, assignments_in(one))) return false;
        }
        return false;
    }

    Procedure p_;
    const std::set<std::string>& names_;
};

}  // namespace

Procedure with_sums_gathered(Procedure procedure, const std::set<std::string>& names) {
    return Gatherer(std::move(procedure), names).run();
}

namespace {

// The load of the same element behind one, with nothing but loads between; -1: none.
std::ptrdiff_t next_load(const Block& block, size_t place) {
    const Statement& load = block[place];
    const std::set<int> index = variables_in(load.index);
    for (size_t k = place + 1; k < block.size() && block[k].kind == Kind::load; ++k) {
        if (index.contains(block[k].variable)) return -1;
        if (block[k].array == load.array && block[k].variable != load.variable &&
            block[k].index.size() == load.index.size() &&
            scalar::structurally_equal(block[k].index, load.index))
            return static_cast<std::ptrdiff_t>(k);
    }
    return -1;
}

void find_doubles(Block& block, const std::map<int, int>& times, std::map<int, int>& found) {
    for (size_t i = 0; i < block.size(); ++i) {
        find_doubles(block[i].body, times, found);
        find_doubles(block[i].otherwise, times, found);
        if (block[i].kind != Kind::load || times.at(block[i].variable) != 1) continue;
        for (std::ptrdiff_t k; (k = next_load(block, i)) >= 0;) {
            const int other = block[static_cast<size_t>(k)].variable;
            if (times.at(other) != 1) break;
            found[other] = block[i].variable;
            block.erase(block.begin() + k);
        }
    }
}

}  // namespace

Procedure with_elements_read_once(Procedure procedure) {
    std::map<int, int> found;
    find_doubles(procedure.body, assignments_in(procedure.body), found);
    std::vector<Expr> by = all_variables(procedure);
    for (const auto& [other, first] : found)
        by[static_cast<size_t>(other)] = procedure.variable(static_cast<size_t>(first));
    replace_variables(procedure.body, by, false);
    for (ArrayVariable& array : procedure.arrays)
        if (!array.shape.empty()) array.shape = scalar::substitute(array.shape, by);
    return procedure;
}

}  // namespace composit::ir::procedure

// with_loops_in_blocks: loops of which a part makes vectors and a part has to run one by one.
#include "composit/ir/procedure/carried_values.h"
#include "composit/ir/procedure/iteration_order.h"
#include "composit/ir/procedure/iteration_parts.h"
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/pairs_once.h"
#include "composit/ir/procedure/procedure.h"
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
using scalar::Op;

constexpr int64_t block_length = 64;       // values of a block stay in the first cache
constexpr int64_t fewest_turns = 16;       // below, the parts' own loops take longer than they gain
constexpr size_t most_in_blocks = 120;     // the order of statements takes the cube of their number
constexpr int64_t meeting_distance = 128;  // elements; a few times this is a way of a first cache
constexpr int least_cost = 8;              // of what becomes vectors, in additions
constexpr int cost_of_keeping = 1;         // a value between pieces

// Statements that run in a loop of their own.
enum class BlockPart : uint8_t { assertions, inner_sum, vectors, in_order };
struct BlockPiece {
    BlockPart part = BlockPart::in_order;
    std::vector<size_t> nodes;
    Block body;           // of an inner sum, that of its loop
    std::set<int> loads;  // what pieces before this one computed
};

class LoopsInBlocks {
  public:
    explicit LoopsInBlocks(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        mentions_ = mentions_in(p_, p_.body);
        walk(p_.body);
        return std::move(p_);
    }

  private:
    // Whether a loop within became one of blocks.
    bool walk(Block& block) {
        bool is_made = false;
        for (size_t i = 0; i < block.size(); ++i) {
            const bool within = walk(block[i].body);
            is_made |= within | (block[i].kind != Kind::loop && walk(block[i].otherwise));
            if (within || block[i].kind != Kind::loop) continue;
            Block ahead;
            Block made = blocks_of(without_own_arrays(p_, block[i], ahead));
            if (made.empty()) continue;
            made.insert(made.begin(), ahead.begin(), ahead.end());
            const auto place = block.begin() + static_cast<std::ptrdiff_t>(i);
            block.insert(block.erase(place), made.begin(), made.end());
            i += made.size() - 1;
            is_made = true;
        }
        return is_made;
    }

    static bool is_long_enough(const Expr& turns) {
        return turns.op() != Op::constant || turns.value() >= 2 * fewest_turns;
    }

    Block blocks_of(const Statement& given) {
        const auto count = count_by_one(given);
        if (!count || given.body.size() < 2 || given.body.size() > most_in_blocks ||
            may_exit(given.body) || allocates(given.body) || adds_to_lanes(given) ||
            !is_long_enough(trips_of(p_, *count, count->begin)))
            return {};
        count_ = *count;
        const size_t variables = p_.variables.size();
        loop_ = given;
        find_own_variables();
        if (!own_.contains(count_.counter)) return {};
        name_carried_values(p_, loop_.body, own_);
        for (size_t made = variables; made < p_.variables.size(); ++made)
            own_.insert(static_cast<int>(made));
        name_parts(p_, loop_.body, count_.counter, own_);
        for (size_t made = variables; made < p_.variables.size(); ++made)
            own_.insert(static_cast<int>(made));
        assigned_ = assignments_in({loop_});
        order_ = order_in(p_, loop_, own_);
        const Block made = is_hard() ? apart(given) : Block{};
        if (made.empty()) p_.variables.resize(variables);
        return made;
    }

    static bool allocates(const Block& block) {
        const auto all = all_statements(block);
        return std::any_of(all.begin(), all.end(),
                           [](const Statement* each) { return each->kind == Kind::allocate; });
    }

    // Variables that no iteration hands on, to others or to what stands behind the loop.
    void find_own_variables() {
        const Block whole{loop_};
        const std::map<int, int> inside = mentions_in(p_, whole);
        const std::set<int> exposed = exposed_in(p_, loop_.body);
        own_.clear();
        assigned_ = assignments_in(whole);
        for (const auto& [variable, times] : assigned_) {
            const bool is_counter = variable == count_.counter;
            if (static_cast<size_t>(variable) >= p_.parameters &&
                (is_counter || !exposed.contains(variable)) &&
                mentions_.at(variable) == inside.at(variable))
                own_.insert(variable);
        }
    }

    // A loop that computes values of its own iteration alone, and whose bounds no iteration
    // changes: it may run outside, and the iterations of the block within.
    bool is_inner_sum(size_t node) const {
        const Statement& inner = loop_.body[node];
        const auto within = inner.kind == Kind::loop ? count_of(inner) : std::nullopt;
        return within && order_.is_free[node] && own_.contains(within->counter) &&
               !reads_any({within->begin, within->end}, assigned_) &&
               std::all_of(inner.body.begin(), inner.body.end(), is_value);
    }

    bool makes_vectors(size_t node) const {
        return order_.is_free[node] && (is_value(loop_.body[node]) || is_write(loop_.body[node]));
    }

    // Whether compilers make no vectors of the whole, as iterations hand on more than sums.
    bool is_hard() const {
        std::map<int, int> sizes;
        for (const int group : order_.group) ++sizes[group];
        for (size_t i = 0; i < loop_.body.size(); ++i) {
            const Statement& each = loop_.body[i];
            const std::vector<char>& carried = order_.carried[i];
            if (std::find(carried.begin(), carried.end(), 1) != carried.end() && makes_vectors(i))
                return true;
            if (!makes_vectors(i) && each.kind != Kind::expect &&
                (is_inner_sum(i) || sizes.at(order_.group[i]) > 1 ||
                 !is_running_sum(each, assigned_)))
                return true;
        }
        return false;
    }

    // Whether vectors gain more than it takes to keep values between the pieces.
    bool is_worth_it(const std::vector<BlockPiece>& pieces) const {
        int cost = 0;
        std::set<int> kept;
        for (const BlockPiece& piece : pieces) {
            kept.insert(piece.loads.begin(), piece.loads.end());
            if (piece.part == BlockPart::vectors)
                for (const Statement& each : piece.body) cost += vector_cost(each.values);
        }
        return cost >= least_cost + cost_of_keeping * static_cast<int>(kept.size());
    }

    // What is cheap, and of the counter and what no iteration changes, is computed where it is
    // read.
    std::set<int> repeated() const {
        std::set<int> found;
        for (size_t i = 0; i < loop_.body.size(); ++i) {
            const Statement& each = loop_.body[i];
            if (!is_value(each) || !order_.is_free[i] || assigned_.at(each.variable) != 1 ||
                !own_.contains(each.variable))
                continue;
            const std::vector<Expr> values = expressions_of(p_, each);
            const std::set<int> read = variables_in(values);
            const bool is_cheap =
                each.kind == Kind::load
                    ? !is_written(each.array)
                    : vector_cost(values) == 0 &&
                          (is_leaf(each.values[0]) || !is_floating(each.values[0].dtype()));
            if (is_cheap && std::all_of(read.begin(), read.end(), [&](int variable) {
                    return variable == count_.counter || !assigned_.contains(variable) ||
                           found.contains(variable);
                }))
                found.insert(each.variable);
        }
        return found;
    }

    static bool is_leaf(const Expr& value) {
        return value.op() == Op::argument || value.op() == Op::constant;
    }

    bool is_written(int array) const {
        const auto all = all_statements(loop_.body);
        return std::any_of(all.begin(), all.end(), [&](const Statement* each) {
            return each->array == array && each->kind != Kind::load;
        });
    }

    BlockPart part_of(size_t node) const {
        if (loop_.body[node].kind == Kind::expect && order_.is_free[node])
            return BlockPart::assertions;
        if (is_inner_sum(node)) return BlockPart::inner_sum;
        return makes_vectors(node) ? BlockPart::vectors : BlockPart::in_order;
    }

    // The statements in pieces, each behind those that it depends on; as few pieces as may be.
    std::vector<BlockPiece> pieces_of(const std::set<int>& left_out) const {
        const size_t n = loop_.body.size();
        std::vector<char> done(n, 0);
        const auto is_left_out = [&](size_t i) {
            return is_value(loop_.body[i]) && left_out.contains(loop_.body[i].variable);
        };
        size_t left = n;
        for (size_t i = 0; i < n; ++i)
            if (is_left_out(i)) done[i] = 1, --left;
        const auto is_ready = [&](size_t node) {
            for (size_t i = 0; i < n; ++i)
                if (order_.after[i][node] && !done[i] && order_.group[i] != order_.group[node])
                    return false;
            return true;
        };
        std::vector<BlockPiece> pieces;
        while (left > 0) {
            for (const BlockPart part : {BlockPart::assertions, BlockPart::inner_sum,
                                         BlockPart::vectors, BlockPart::in_order}) {
                BlockPiece piece;
                piece.part = part;
                for (bool has_more = true; has_more;) {
                    has_more = false;
                    for (size_t i = 0; i < n; ++i) {
                        if (done[i] || part_of(i) != part || !whole_is_ready(i, is_ready) ||
                            !fits(piece, i))
                            continue;
                        for (size_t k = 0; k < n; ++k) {
                            if (order_.group[k] != order_.group[i]) continue;
                            piece.nodes.push_back(k);
                            done[k] = 1;
                            --left;
                        }
                        has_more = true;
                    }
                }
                if (piece.nodes.empty()) continue;
                std::sort(piece.nodes.begin(), piece.nodes.end());
                for (const size_t node : piece.nodes) piece.body.push_back(loop_.body[node]);
                if (part == BlockPart::inner_sum) piece.body = loop_.body[piece.nodes[0]].body;
                pieces.push_back(std::move(piece));
                break;
            }
        }
        return pieces;
    }

    template <class IsReady>
    bool whole_is_ready(size_t node, const IsReady& is_ready) const {
        for (size_t i = 0; i < order_.group.size(); ++i)
            if (order_.group[i] == order_.group[node] && !is_ready(i)) return false;
        return true;
    }

    // An inner sum is a piece of its own, and no two statements that reach the same elements in
    // different iterations are in one that is to become vectors.
    bool fits(const BlockPiece& piece, size_t node) const {
        if (piece.part == BlockPart::inner_sum) return piece.nodes.empty();
        return piece.part != BlockPart::vectors ||
               std::none_of(piece.nodes.begin(), piece.nodes.end(), [&](size_t other) {
                   return order_.carried[other][node] || order_.carried[node][other];
               });
    }

    // An assertion that holds in all iterations of the block if it does in one of them, the first
    // or the last: that the counter is below something, or not below it. None of others.
    Expr at_one_end(const Expr& holds, const Expr& least, const Expr& largest) const {
        if (!reads_any({holds}, assigned_)) return holds;
        if (holds.op() == Op::bit_or || holds.op() == Op::bit_and) {
            const Expr a = at_one_end(holds.operand(0), least, largest);
            const Expr b = at_one_end(holds.operand(1), least, largest);
            // Either may hold at its own end alone: of two that move, which one does is not known.
            const bool moves_once = !reads_any({holds.operand(0)}, assigned_) ||
                                    !reads_any({holds.operand(1)}, assigned_);
            const bool is_known = holds.op() == Op::bit_and || moves_once;
            return a && b && is_known ? Expr::make(holds.op(), {a, b}) : Expr();
        }
        const bool is_below = holds.op() == Op::less || holds.op() == Op::less_equal;
        const bool is_above = holds.op() == Op::greater || holds.op() == Op::greater_equal;
        if ((!is_below && !is_above) || !is_variable(holds.operand(0), count_.counter) ||
            reads_any({holds.operand(1)}, assigned_))
            return {};
        return Expr::make(holds.op(), {is_below ? largest : least, holds.operand(1)});
    }

    // Takes those out of the pieces.
    Block assertions_of_blocks(std::vector<BlockPiece>& pieces, const Expr& from,
                               const Expr& width) const {
        Block found;
        for (BlockPiece& piece : pieces) {
            if (piece.part != BlockPart::assertions) continue;
            Block rest;
            for (Statement& each : piece.body) {
                const Expr once = at_one_end(each.values[0], from, from + width - integer(1));
                (once ? found : rest).push_back(each);
                if (once) found.back().values[0] = once;
            }
            piece.body = std::move(rest);
        }
        std::erase_if(pieces, [](const BlockPiece& piece) { return piece.body.empty(); });
        return found;
    }

    // Of arrays that inner sums read, in the order of the block: how far apart the elements of
    // neighbouring iterations are, where not beside one another.
    std::vector<Expr> distances(const std::vector<BlockPiece>& pieces) const {
        std::vector<Expr> found;
        for (const BlockPiece& piece : pieces) {
            if (piece.part != BlockPart::inner_sum) continue;
            std::map<int, int> moving = assigned_;
            for (const auto& [variable, times] :
                 assignments_in({loop_.body[piece.nodes[0]].first[0]}))
                moving.erase(variable);
            for (const Statement& each : piece.body)
                for (size_t axis = 0; each.kind == Kind::load && axis + 1 < each.index.size();
                     ++axis) {
                    if (!reads_any({each.index[axis]}, moving)) continue;
                    const auto& shape = p_.arrays[static_cast<size_t>(each.array)].shape;
                    const auto behind = shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1;
                    found.push_back(scalar::simplify({element_count({behind, shape.end()})})[0]);
                }
        }
        return found;
    }

    // Whether the loop runs often enough, and no distance is one at which all elements meet in few
    // places of a cache.
    Expr is_for_blocks(const std::vector<BlockPiece>& pieces, const Expr& turns) const {
        std::vector<Expr> known;
        Expr all = turns >= integer(fewest_turns);
        for (const Expr& each : distances(pieces)) {
            if (std::any_of(known.begin(), known.end(), [&](const Expr& other) {
                    return scalar::structurally_equal({each}, {other});
                }))
                continue;
            known.push_back(each);
            all = all & Expr::make(Op::not_equal,
                                   {Expr::make(Op::remainder, {each, integer(meeting_distance)}),
                                    integer(0)});
        }
        return scalar::simplify({all})[0];
    }

    // What pieces read that others compute: each loads it, or repeats what is cheap.
    void find_loads(std::vector<BlockPiece>& pieces, const std::set<int>& cheap) const {
        for (BlockPiece& piece : pieces) {
            std::set<int> needed;
            for (const int variable : exposed_in(p_, piece.body))
                if (own_.contains(variable) && variable != count_.counter) needed.insert(variable);
            if (piece.part == BlockPart::inner_sum)
                needed.erase(count_of(loop_.body[piece.nodes[0]])->counter);
            Block repeats;
            for (size_t i = loop_.body.size(); i-- > 0;) {
                const Statement& each = loop_.body[i];
                if (!is_value(each) || !cheap.contains(each.variable) ||
                    !needed.contains(each.variable))
                    continue;
                needed.erase(each.variable);
                for (const int variable : variables_in(expressions_of(p_, each)))
                    if (cheap.contains(variable)) needed.insert(variable);
                repeats.insert(repeats.begin(), each);
            }
            piece.loads = std::move(needed);
            piece.body.insert(piece.body.begin(), repeats.begin(), repeats.end());
        }
    }

    // if (enough iterations) the pieces, block by block, else the loop as it was
    Block apart(const Statement& given) {
        const std::set<int> cheap = repeated();
        std::vector<BlockPiece> pieces = pieces_of(cheap);
        if (pieces.size() < 2) return {};
        const SourceLine line = given.line;
        Block out, inner, body;
        const Expr trips = trips_of(p_, count_, count_.begin);
        const Expr turns = named("trips", trips, out, line);
        const int number = p_.add_variable("block", DType::int64);
        const Expr block = p_.variable(static_cast<size_t>(number));
        const Expr rest = turns - block;
        const Expr width = named(
            "width", select(rest < integer(block_length), rest, integer(block_length)), body, line);
        Expr from =
            count_.step == 1 ? count_.begin + block : count_.begin - block - width + integer(1);
        from = named("from", scalar::simplify({from})[0], body, line);
        for (Statement& each : assertions_of_blocks(pieces, from, width))
            body.push_back(std::move(each));
        find_loads(pieces, cheap);
        if (!is_worth_it(pieces)) return {};
        const Expr fits = is_for_blocks(pieces, turns);
        if (is_integer_constant(fits, 0)) return {};
        arrays_.clear();
        for (const BlockPiece& piece : pieces)
            for (const int variable : piece.loads) {
                if (arrays_.contains(variable)) continue;
                const Variable known = p_.variables[static_cast<size_t>(variable)];
                const int array = p_.add_array(
                    known.name + "_at",
                    {.name = "", .dtype = known.dtype, .shape = {integer(block_length)}});
                arrays_[variable] = array;
                inner.push_back(Statement::allocate(array, false, line));
            }
        for (size_t i = 0; i < pieces.size(); ++i) body.push_back(loop_of(pieces, i, from, width));
        inner.push_back(Statement::loop(
            {Statement::assign(number, integer(0), line)}, block < turns, std::move(body),
            {Statement::assign(number, block + integer(block_length), line)}, line));
        if (fits.op() == Op::constant)
            out.insert(out.end(), inner.begin(), inner.end());
        else
            out.push_back(Statement::branch(fits, std::move(inner), {given}, line));
        return out;
    }

    Expr named(const char* name, const Expr& value, Block& block, const SourceLine& line) {
        if (value.op() == Op::argument || value.op() == Op::constant) return value;
        const int variable = p_.add_variable(name, value.dtype());
        block.push_back(Statement::assign(variable, value, line));
        return p_.variable(static_cast<size_t>(variable));
    }

    // The loop of a piece over the iterations of a block, in variables of its own.
    Statement loop_of(const std::vector<BlockPiece>& pieces, size_t index, const Expr& from,
                      const Expr& width) {
        const BlockPiece& piece = pieces[index];
        const SourceLine line = loop_.line;
        const int place = static_cast<int>(p_.variables.size());
        p_.variables.push_back({"place", DType::int64});
        const Expr here = p_.variable(static_cast<size_t>(place));
        Block body;
        for (const int variable : piece.loads)
            body.push_back(Statement::load(variable, arrays_.at(variable), {here}, line));
        body.insert(body.end(), piece.body.begin(), piece.body.end());
        for (const auto& [variable, times] : assignments_in(piece.body)) {
            const bool is_read =
                std::any_of(pieces.begin() + static_cast<std::ptrdiff_t>(index), pieces.end(),
                            [&](const BlockPiece& each) { return each.loads.contains(variable); });
            if (is_read && own_.contains(variable))
                body.push_back(Statement::write(Kind::store, arrays_.at(variable), {here},
                                                p_.variable(static_cast<size_t>(variable)), line));
        }
        const bool is_down = piece.part == BlockPart::in_order && count_.step < 0;
        const Statement first = Statement::assign(place, is_down ? width - integer(1) : integer(0));
        const Statement next =
            Statement::assign(place, is_down ? here - integer(1) : here + integer(1));
        Statement made = Statement::loop({first}, is_down ? here >= integer(0) : here < width,
                                         std::move(body), {next}, line);
        if (piece.part == BlockPart::inner_sum) {
            Statement outer = loop_.body[piece.nodes[0]];
            outer.body = {std::move(made)};
            made = std::move(outer);
        }
        return in_own_variables(std::move(made), from + here);
    }

    Statement in_own_variables(Statement made, const Expr& counter) {
        Block one{std::move(made)};
        std::vector<Expr> by = all_variables(p_);
        for (const auto& [variable, times] : assignments_in(one)) {
            if (!own_.contains(variable)) continue;
            p_.variables.push_back(p_.variables[static_cast<size_t>(variable)]);
            by[static_cast<size_t>(variable)] = p_.variable(p_.variables.size() - 1);
        }
        replace_variables(one, by, true);
        by = all_variables(p_);
        by[static_cast<size_t>(count_.counter)] = counter;
        replace_variables(one, by, false);
        return std::move(one[0]);
    }

    Procedure p_;
    std::map<int, int> mentions_;
    // Of the loop that is looked at.
    Statement loop_;
    Count count_;
    std::set<int> own_;
    std::map<int, int> assigned_;
    IterationOrder order_;
    std::map<int, int> arrays_;  // of a variable, in which blocks keep it
};

}  // namespace

Procedure with_loops_in_blocks(Procedure procedure) {
    return LoopsInBlocks(with_checks_ahead(with_own_variables(std::move(procedure)))).run();
}

}  // namespace composit::ir::procedure

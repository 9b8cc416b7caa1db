// with_strides_apart: every k-th element of an array, which inner loops read again and again.
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

constexpr int64_t fewest_copied_reads = 2;  // of each element that is copied
constexpr int64_t fewest_reads = 64;        // of all that is copied, or its memory costs more
constexpr int64_t most_for_a_turn = 8;      // elements that are copied for each turn of a loop
constexpr int64_t most_phases = 8;          // of an array that is copied whole
constexpr size_t most_in_strides = 120;     // statements of a loop that is written twice

// factor * counter + rest
struct Stride {
    Expr factor, rest;
};

class StridesApart {
  public:
    explicit StridesApart(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        mentions_ = mentions_in(p_, p_.body);
        assigned_ = assignments_in(p_.body);
        walk(p_.body);
        return std::move(p_);
    }

  private:
    // What is read with one stride, and what it is copied to.
    struct Copied {
        int array = -1;
        Stride stride;
        Range range;
        bool is_whole = false;  // each phase of a literal stride, as the first place moves
        int made = -1;
        Expr length;  // of a phase
        Expr is_made;
    };

    void walk(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            walk(block[i].body);
            walk(block[i].otherwise);
            if (block[i].kind != Kind::loop) continue;
            const Block before = take_apart(block[i]);
            block.insert(block.begin() + static_cast<std::ptrdiff_t>(i), before.begin(),
                         before.end());
            i += before.size();
        }
    }

    // What copies, before the loop, what the innermost loops that stand in it read.
    Block take_apart(Statement& outer) {
        const auto count = count_by_one(outer);
        if (!count) return {};
        outer_ = &outer;
        moving_ = assignments_in({outer});
        turns_ = trips_of(p_, *count, count->begin);
        copied_.clear();
        before_.clear();
        for (Statement& each : outer.body) look_at(each);
        return std::move(before_);
    }

    void look_at(Statement& statement) {
        if (statement.kind == Kind::branch)
            for (Block* block : {&statement.body, &statement.otherwise})
                for (Statement& each : *block) look_at(each);
        if (statement.kind != Kind::loop || statement.body.size() > most_in_strides) return;
        const bool is_plain =
            std::all_of(statement.body.begin(), statement.body.end(), [](const Statement& each) {
                return is_value(each) || is_write(each) || each.kind == Kind::append ||
                       each.kind == Kind::take;
            });
        const auto count = count_by_one(statement);
        if (!is_plain || !count) return;
        if (auto made = version_of(statement, range_of(*count))) statement = std::move(*made);
    }

    // if (what it reads is copied) the loop that reads the copies else the loop
    std::optional<Statement> version_of(const Statement& loop, const Range& range) {
        const std::map<int, int> own = assignments_in({loop});
        Statement apart = loop;
        std::vector<Expr> conditions;
        Block offsets;
        for (Statement& each : apart.body) {
            if (each.kind != Kind::load || each.index.size() != 1 || !may_be_copied(each.array))
                continue;
            const auto stride = stride_of(range.counter, each.index[0], own);
            if (!stride) continue;
            const Copied* copied = copy_of(each.array, *stride, range);
            if (!copied) continue;
            const Expr here = p_.variable(static_cast<size_t>(range.counter));
            add_once(conditions, copied->is_made);
            if (copied->is_whole) {
                const Expr& factor = stride->factor;
                const Expr start = scalar::simplify({stride->rest + factor * range.low})[0];
                for (const Expr& end : {range.low, start}) add_once(conditions, is_near(end));
                add_once(conditions, range.high <= far());
                const Expr phase = Expr::make(Op::remainder, {start, factor});
                const Expr first = phase * copied->length +
                                   minus(Expr::make(Op::divide, {start, factor}), range.low);
                each.index = {named("first", first, offsets, loop.line) + here};
            } else {
                each.index = {minus(here, copied->range.low)};
            }
            each.array = copied->made;
        }
        if (conditions.empty()) return {};
        Expr all = conditions[0];
        for (size_t i = 1; i < conditions.size(); ++i) all = all & conditions[i];
        give_own_variables(p_, apart, loop, mentions_);
        offsets.push_back(std::move(apart));
        return Statement::branch(scalar::simplify({all})[0], std::move(offsets), {loop}, loop.line);
    }

    static Expr far() { return integer(int64_t(1) << 31); }
    static Expr is_near(const Expr& x) { return (x >= integer(0)) & (x < far()); }
    static void add_once(std::vector<Expr>& all, const Expr& one) {
        if (std::none_of(all.begin(), all.end(), [&](const Expr& each) {
                return scalar::structurally_equal({each}, {one});
            }))
            all.push_back(one);
    }

    // An array of one axis that the outer loop only reads, of an extent that never changes.
    bool may_be_copied(int array) const {
        const ArrayVariable& known = p_.arrays[static_cast<size_t>(array)];
        if (known.grows || known.shape.size() != 1) return false;
        for (const int variable : variables_in(known.shape)) {
            const auto times = assigned_.find(variable);
            const int most = static_cast<size_t>(variable) < p_.parameters ? 0 : 1;
            if (moving_.contains(variable) || (times != assigned_.end() && times->second > most))
                return false;
        }
        const auto all = all_statements(outer_->body);
        return std::all_of(all.begin(), all.end(), [&](const Statement* each) {
            return each->array != array || each->kind == Kind::load;
        });
    }

    // Of a sum of a product with the counter and what no iteration changes.
    std::optional<Stride> stride_of(int counter, const Expr& index,
                                    const std::map<int, int>& own) const {
        if (index.operands().size() != 2) return {};
        const Expr &a = index.operand(0), &b = index.operand(1);
        if (index.op() == Op::multiply) {
            for (const auto& [x, factor] : {std::pair{a, b}, std::pair{b, a}})
                if (is_variable(x, counter) && !reads_any({factor}, own))
                    return Stride{factor, integer(0)};
            return {};
        }
        if (index.op() != Op::add && index.op() != Op::subtract) return {};
        if (!reads_any({b}, own)) {
            auto found = stride_of(counter, a, own);
            if (found)
                found->rest = index.op() == Op::add ? found->rest + b : minus(found->rest, b);
            return found;
        }
        if (index.op() != Op::add || reads_any({a}, own)) return {};
        auto found = stride_of(counter, b, own);
        if (found) found->rest = a + found->rest;
        return found;
    }

    // The copy before the outer loop, which is made once for all that reads it.
    const Copied* copy_of(int array, const Stride& stride, const Range& range) {
        const Expr &factor = stride.factor, &rest = stride.rest;
        const bool is_literal = factor.op() == Op::constant;
        if (is_literal && (factor.value() < 2 || factor.value() > most_phases)) return nullptr;
        if (reads_any({factor}, moving_)) return nullptr;
        const bool is_whole = reads_any({rest, range.low, range.high}, moving_);
        if (is_whole && !is_literal) return nullptr;
        for (const Copied& each : copied_) {
            if (each.array != array || each.is_whole != is_whole ||
                !scalar::structurally_equal({each.stride.factor}, {factor}))
                continue;
            if (is_whole ||
                scalar::structurally_equal({each.stride.rest, each.range.low, each.range.high},
                                           {rest, range.low, range.high}))
                return &each;
        }
        copied_.push_back({array, stride, range, is_whole, -1, {}, {}});
        Copied& made = copied_.back();
        if (is_whole)
            copy_phases(made);
        else
            copy_range(made);
        return &made;
    }

    // for (place …) apart[place] = x[factor * place + start], of which none is outside.
    void copy_range(Copied& made) {
        const SourceLine& line = outer_->line;
        const ArrayVariable known = p_.arrays[static_cast<size_t>(made.array)];
        const Expr factor = named("stride", made.stride.factor, before_, line);
        const Expr low = named("low", made.range.low, before_, line);
        const Expr high = named("high", made.range.high, before_, line);
        const Expr start = named("start", made.stride.rest + factor * low, before_, line);
        const Expr last = start + factor * (high - low - integer(1));
        const Expr holds = (turns_ >= integer(fewest_copied_reads)) & (factor > integer(1)) &
                           (factor < far()) & is_near(low) & (low < high) & (high <= far()) &
                           is_near(start) & (last < known.shape[0]) & (turns_ < far()) &
                           (turns_ * (high - low) >= integer(fewest_reads));
        made.is_made = named("is_apart", holds, before_, line);
        const Expr length =
            named("length", select(made.is_made, high - low, integer(0)), before_, line);
        made.made = add_copy(known, length);
        const int value = p_.add_variable(known.name + "_value", known.dtype);
        const auto [place, here] = variable("place", DType::int64);
        before_.push_back(loop_to(
            place, length,
            {Statement::load(value, made.array, scalar::simplify({factor * here + start}), line),
             Statement::write(Kind::store, made.made, {here},
                              p_.variable(static_cast<size_t>(value)), line)}));
    }

    // for (phase …) for (place …) apart[phase * length + place] = x[factor * place + phase]
    void copy_phases(Copied& made) {
        const SourceLine& line = outer_->line;
        const ArrayVariable known = p_.arrays[static_cast<size_t>(made.array)];
        const Expr& factor = made.stride.factor;
        const Expr extent = known.shape[0];
        Expr holds = (turns_ >= integer(fewest_copied_reads) * factor) & is_near(extent) &
                     (turns_ < far()) & (turns_ * integer(most_for_a_turn) >= extent);
        // Where each turn reads equally many elements, so many in all as are copied.
        const Range& range = made.range;
        if (!reads_any({range.low, range.high}, moving_))
            holds = holds & is_near(range.low) & (range.low < range.high) & (range.high <= far()) &
                    (turns_ * (range.high - range.low) >= extent);
        made.is_made = named("is_apart", holds, before_, line);
        const Expr rounded_up = Expr::make(Op::divide, {extent + factor - integer(1), factor});
        made.length = named("length", select(made.is_made, rounded_up, integer(0)), before_, line);
        made.made = add_copy(known, factor * made.length);
        const auto phases = static_cast<int64_t>(factor.value());
        for (int64_t phase = 0; phase < phases; ++phase) {
            const int value = p_.add_variable(known.name + "_value", known.dtype);
            const auto [place, here] = variable("place", DType::int64);
            const Expr there = factor * here + integer(phase);
            const Expr elements =
                Expr::make(Op::divide, {extent + factor - integer(1 + phase), factor});
            before_.push_back(
                loop_to(place, select(made.is_made, elements, integer(0)),
                        {Statement::load(value, made.array, scalar::simplify({there}), line),
                         Statement::write(Kind::store, made.made,
                                          scalar::simplify({integer(phase) * made.length + here}),
                                          p_.variable(static_cast<size_t>(value)), line)}));
        }
    }

    int add_copy(const ArrayVariable& known, const Expr& length) {
        const int made = p_.add_array(known.name + "_apart",
                                      {.name = "", .dtype = known.dtype, .shape = {length}});
        before_.push_back(Statement::allocate(made, false, outer_->line));
        return made;
    }

    std::pair<int, Expr> variable(const char* name, DType dtype) {
        const int made = p_.add_variable(name, dtype);
        return {made, p_.variable(static_cast<size_t>(made))};
    }

    Expr named(const char* name, const Expr& given, Block& block, const SourceLine& line) {
        const Expr value = scalar::simplify({given})[0];
        if (value.op() == Op::argument || value.op() == Op::constant) return value;
        const auto [made, whole] = variable(name, value.dtype());
        block.push_back(Statement::assign(made, value, line));
        return whole;
    }

    Statement loop_to(int place, const Expr& end, Block body) {
        const Expr here = p_.variable(static_cast<size_t>(place));
        const SourceLine& line = outer_->line;
        const Expr known = named("end", end, before_, line);
        return counting_up(here, integer(0), known, std::move(body), line);
    }

    Procedure p_;
    std::map<int, int> mentions_, assigned_;
    // Of the outer loop that is looked at.
    const Statement* outer_ = nullptr;
    std::map<int, int> moving_;
    Expr turns_;
    std::vector<Copied> copied_;
    Block before_;
};

}  // namespace

Procedure with_strides_apart(Procedure procedure) {
    return StridesApart(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure

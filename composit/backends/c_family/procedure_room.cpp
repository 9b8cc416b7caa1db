#include "composit/backends/c_family/procedure_room.h"

#include "composit/backends/c_family/procedure_variables.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/scalar/function.h"

#include <optional>
#include <set>
#include <utility>

namespace composit::c_family {
namespace {

using ir::procedure::Block;
using ir::procedure::Procedure;
using ir::procedure::Range;
using ir::procedure::Statement;
using ir::scalar::Expr;
using ir::scalar::Op;
using Kind = Statement::Kind;

class Rooms {
  public:
    using Counts = std::map<int, std::vector<Expr>>;

    explicit Rooms(const Procedure& procedure, bool takes_any_step = false)
        : procedure_(procedure),
          takes_any_step_(takes_any_step),
          assigned_(ir::procedure::assignments_in(procedure.body)),
          all_(all_statements(procedure.body)) {}

    Counts run() {
        Counts found = walk(procedure_.body);
        for (const int array : unknown_) found.erase(array);
        return found;
    }

    std::map<int, SumOfProducts> most() {
        const Homes homes(procedure_);
        std::map<int, SumOfProducts> found;
        add_most(procedure_.body, homes, found);
        for (const int array : unknown_) found.erase(array);
        return found;
    }

  private:
    // Loops around the block that an array lives in, if it is emptied there first, fill it anew.
    void add_most(const Block& block, const Homes& homes, std::map<int, SumOfProducts>& found) {
        for (size_t array = 0; array < procedure_.arrays.size(); ++array) {
            const Home& home = homes.of_array(array);
            if (home.block != &block) continue;
            const Statement& first = block[home.first];
            if (first.kind == Kind::allocate && first.array == static_cast<int>(array))
                loops_around_[first.array] = trips_.size();
        }
        for (const Statement& statement : block) {
            const int array = statement.array;
            if (statement.kind == Kind::append) {
                const auto around = loops_around_.find(array);
                add_product(array, trips_, around == loops_around_.end() ? 0 : around->second,
                            found[array]);
            }
            if (statement.kind == Kind::allocate) add_extents(array, found[array]);
            if (statement.kind == Kind::branch) {
                add_most(statement.body, homes, found);
                add_most(statement.otherwise, homes, found);
            }
            if (statement.kind == Kind::loop) {
                const auto range = range_of(statement);
                trips_.push_back(trips_of(range));
                ranges_.push_back(range);
                add_most(statement.body, homes, found);
                ranges_.pop_back();
                trips_.pop_back();
            }
        }
    }

    void add_product(int array, const std::vector<std::optional<Expr>>& factors, size_t first,
                     SumOfProducts& sum) {
        std::vector<Expr> product;
        for (size_t i = first; i < factors.size(); ++i) {
            if (!factors[i]) unknown_.insert(array);
            if (factors[i]) product.push_back(*factors[i]);
        }
        sum.push_back(std::move(product));
    }

    void add_extents(int array, SumOfProducts& sum) {
        const ir::procedure::ArrayVariable& known = procedure_.arrays[static_cast<size_t>(array)];
        if (known.grows) return;
        std::vector<std::optional<Expr>> extents;
        for (const Expr& extent : known.shape)
            extents.push_back(bound(extent, true, ranges_.size()));
        add_product(array, extents, 0, sum);
    }

    // What is appended in a block, in one place or on both sides of a branch alike.
    Counts walk(const Block& block) {
        Counts found;
        std::map<int, int64_t> appended;
        for (const Statement& statement : block) {
            if (statement.kind == Kind::append) ++appended[statement.array];
            if (statement.kind == Kind::allocate && !trips_.empty())
                unknown_.insert(statement.array);
            if (statement.kind == Kind::branch)
                join(found, both_of(walk(statement.body), walk(statement.otherwise)));
            if (statement.kind == Kind::loop) {
                const auto range = range_of(statement);
                trips_.push_back(trips_of(range));
                ranges_.push_back(range);
                join(found, walk(statement.body));
                ranges_.pop_back();
                trips_.pop_back();
            }
        }
        for (const auto& [array, times] : appended)
            join(found, {{array, factors_of(array, times)}});
        return found;
    }

    void join(Counts& found, Counts more) {
        for (auto& [array, factors] : more)
            if (!found.emplace(array, std::move(factors)).second) unknown_.insert(array);
    }

    Counts both_of(Counts one, const Counts& other) {
        for (const auto& [array, factors] : one) {
            const auto same = other.find(array);
            if (same == other.end() || !ir::scalar::structurally_equal(factors, same->second))
                unknown_.insert(array);
        }
        for (const auto& [array, factors] : other)
            if (!one.contains(array)) unknown_.insert(array);
        return one;
    }

    std::vector<Expr> factors_of(int array, int64_t times) {
        std::vector<Expr> factors;
        for (const std::optional<Expr>& trips : trips_) {
            if (!trips) unknown_.insert(array);
            if (trips) factors.push_back(*trips);
        }
        if (trips_.empty()) unknown_.insert(array);
        if (times != 1) factors.push_back(ir::procedure::integer(times));
        return factors;
    }

    // Of a loop that counts by one; or of one that stays within it.
    std::optional<Range> range_of(const Statement& loop) const {
        const auto count =
            takes_any_step_ ? ir::procedure::steps_of(loop) : ir::procedure::count_of(loop);
        if (!count) return {};
        if (!takes_any_step_ && count->step != 1 && count->step != -1) return {};
        if (count->step > 0) return Range{count->counter, count->begin, count->end};
        return Range{count->counter, ir::procedure::one_more(count->end),
                     ir::procedure::one_more(count->begin)};
    }

    std::optional<Expr> trips_of(const std::optional<Range>& range) const {
        if (!range) return {};
        const auto low = bound(range->low, false, ranges_.size());
        const auto high = bound(range->high, true, ranges_.size());
        if (!low || !high) return {};
        return ir::scalar::simplify({ir::procedure::minus(*high, *low)})[0];
    }

    // What is not below the value, or not above it, over parameters alone, which nobody changes:
    // sums, and products with constants, of them and of the counters of the outermost loops, as
    // many as `loops` says. Other products are of what is known: of no loop's counter.
    std::optional<Expr> bound(const Expr& value, bool is_above, size_t loops) const {
        if (value.op() == Op::constant) return value;
        if (value.op() == Op::argument) return bound_of_variable(value.index(), is_above, loops);
        const bool is_product = value.op() == Op::multiply;
        if (!is_product && value.op() != Op::add && value.op() != Op::subtract) return {};
        const Expr &one = value.operand(0), &other = value.operand(1);
        const auto sign = [&](const Expr& factor) {
            return is_product && factor.op() == Op::constant ? (factor.value() >= 0 ? 1 : -1) : 0;
        };
        const bool has_constant = sign(one) != 0 || sign(other) != 0;
        const size_t known = is_product && !has_constant ? 0 : loops;
        const bool turns = value.op() == Op::subtract || sign(one) < 0;
        auto a = bound(one, is_above == (sign(other) >= 0), known);
        auto b = bound(other, is_above != turns, known);
        if (!a || !b) return {};
        return value.with_operands({*std::move(a), *std::move(b)});
    }

    std::optional<Expr> bound_of_variable(int variable, bool is_above, size_t loops) const {
        for (size_t i = loops; i-- > 0;) {
            const std::optional<Range>& range = ranges_[i];
            if (!range || range->counter != variable) continue;
            if (!is_above) return bound(range->low, false, i);
            const auto high = bound(range->high, true, i);
            return high ? std::optional(ir::procedure::one_less(*high)) : std::nullopt;
        }
        const auto place = static_cast<size_t>(variable);
        const auto times = assigned_.find(variable);
        if (place < procedure_.parameters)
            return times == assigned_.end() ? std::optional(procedure_.variable(place))
                                            : std::nullopt;
        if (times == assigned_.end() || times->second != 1) return {};
        for (const Statement* each : all_)
            if (each->kind == Kind::assign && each->variable == variable)
                return bound(each->values[0], is_above, loops);
        return {};
    }

    const Procedure& procedure_;
    const bool takes_any_step_;
    std::map<int, int> assigned_;
    std::vector<const Statement*> all_;
    std::vector<std::optional<Expr>> trips_;
    std::vector<std::optional<Range>> ranges_;
    std::set<int> unknown_;
    std::map<int, size_t> loops_around_;  // the block in which an array is emptied first
};

}  // namespace

std::map<int, std::vector<Expr>> rooms_of(const Procedure& procedure) {
    return Rooms(procedure).run();
}

std::map<int, SumOfProducts> most_elements(const Procedure& procedure) {
    return Rooms(procedure, true).most();
}

}  // namespace composit::c_family

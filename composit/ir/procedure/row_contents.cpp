#include "composit/ir/procedure/row_contents.h"

#include <algorithm>
#include <set>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;

// The statement and all within.
std::vector<const Statement*> with_those_within(const Statement& statement) {
    std::vector<const Statement*> all{&statement};
    for (const Block* inner : {&statement.first, &statement.body, &statement.otherwise}) {
        const auto own = all_statements(*inner);
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

class ContentsGiven {
  public:
    ContentsGiven(const Procedure& procedure, const IntegerFacts& facts, int array, size_t axis,
                  const std::map<int, int>& changed)
        : p_(procedure), facts_(facts), array_(array), axis_(axis), changed_(changed) {}

    std::optional<std::vector<RowContent>> run(const Statement& statement) {
        if (statement.kind != Kind::loop || may_exit(statement.body) || !walk(statement)) return {};
        // What several statements give one row is given in their order in each iteration alone.
        const auto stands_alone = [&](const RowContent& each) {
            return each.loops.size() == 1 && !each.is_fill && each.offset == found_[0].offset;
        };
        if (found_.size() > 1 && !std::all_of(found_.begin(), found_.end(), stands_alone))
            return {};
        return found_;
    }

  private:
    bool walk(const Statement& loop) {
        if (mentions_array(loop.first, array_) || mentions_array(loop.otherwise, array_))
            return false;
        loops_.push_back(&loop);
        for (size_t i = 0; i < loop.body.size(); ++i) {
            const Statement& each = loop.body[i];
            const bool is_good =
                each.array == array_ ? add(loop.body, i)
                : each.kind == Kind::loop
                    ? walk(each)
                    : !mentions_array(each.body, array_) && !mentions_array(each.otherwise, array_);
            if (!is_good) return false;
        }
        loops_.pop_back();
        return true;
    }

    bool add(const Block& body, size_t place) {
        const Statement& store = body[place];
        if (store.kind != Kind::store) return false;
        RowContent made;
        made.statement = &store;
        made.loops = loops_;
        std::set<int> counters;
        std::vector<Range> ranges;
        for (const Statement* loop : loops_) {
            const auto count = count_by_one(*loop);
            if (!count) return false;
            ranges.push_back(range_of(*count));
            counters.insert(count->counter);
        }
        const auto& shape = p_.arrays[static_cast<size_t>(array_)].shape;
        made.is_fill = store.index.size() != shape.size();
        if (!made.is_fill && !finds_row(made, ranges)) return false;
        std::set<int> read = variables_in({store.values[0]});
        if (made.is_fill) {
            const bool is_same = std::none_of(read.begin(), read.end(), [&](int variable) {
                return counters.contains(variable);
            });
            if (!is_same || !goes_through_all(made, ranges)) return false;
        } else {
            for (const int each : variables_in(store.index)) read.insert(each);
            for (size_t i = 0; i < loops_.size(); ++i)
                if (i != made.row_loop)
                    for (const int each : variables_in({ranges[i].low, ranges[i].high}))
                        read.insert(each);
            if (!take_needed(body, place, read, made.needed)) return false;
            made.is_fill = goes_through_all(made, ranges) &&
                           !std::any_of(counters.begin(), counters.end(), [&](int counter) {
                               return variables_in({store.values[0]}).contains(counter);
                           });
        }
        found_.push_back(made);
        return std::all_of(read.begin(), read.end(), [&](int variable) {
            return counters.contains(variable) || !changed_.contains(variable);
        });
    }

    // Whether each of the indices is the counter of one loop, which takes all numbers that there
    // are on the axis, or of all elements.
    bool goes_through_all(const RowContent& made, const std::vector<Range>& ranges) const {
        const auto& shape = p_.arrays[static_cast<size_t>(array_)].shape;
        const std::vector<Expr>& index = made.statement->index;
        if (ranges.size() != index.size() || !made.needed.empty()) return false;
        std::set<int> counters;
        for (size_t axis = 0; axis < index.size(); ++axis) {
            const Expr extent = index.size() == shape.size() ? shape[axis] : element_count(shape);
            const auto range = std::find_if(ranges.begin(), ranges.end(), [&](const Range& each) {
                return is_variable(index[axis], each.counter);
            });
            if (range == ranges.end() || !counters.insert(range->counter).second ||
                facts_.distance(range->low, integer(0)) != 0 ||
                facts_.distance(range->high, extent) != 0)
                return false;
        }
        return true;
    }

    bool finds_row(RowContent& made, const std::vector<Range>& ranges) const {
        const std::vector<Expr>& index = made.statement->index;
        for (size_t i = 0; i < ranges.size(); ++i) {
            const Expr counter = p_.variable(static_cast<size_t>(ranges[i].counter));
            const auto offset = facts_.distance(index[axis_], counter);
            if (!offset) continue;
            made.row_loop = i;
            made.range = ranges[i];
            made.offset = *offset;
            return !reads_any({made.range.low, made.range.high}, changed_);
        }
        return false;
    }

    // Loads of inputs, and values, that stand before the store: `read` is what it reads, and then
    // what all of it reads.
    bool take_needed(const Block& body, size_t place, std::set<int>& read, Block& needed) const {
        for (size_t i = place; i-- > 0;) {
            const Statement& each = body[i];
            const std::map<int, int> assigned = assignments_in({each});
            const bool is_read = std::any_of(read.begin(), read.end(), [&](int variable) {
                return assigned.contains(variable);
            });
            if (!is_read) continue;
            const bool is_input =
                each.kind == Kind::load &&
                p_.arrays[static_cast<size_t>(each.array)].role == ArrayVariable::Role::input;
            if (each.kind != Kind::assign && !is_input) return false;
            read.erase(each.variable);
            for (const int variable : variables_in(expressions_of(p_, each))) read.insert(variable);
            needed.insert(needed.begin(), each);
        }
        return true;
    }

    const Procedure& p_;
    const IntegerFacts& facts_;
    const int array_;
    const size_t axis_;
    const std::map<int, int>& changed_;
    std::vector<const Statement*> loops_;
    std::vector<RowContent> found_;
};

}  // namespace

std::optional<std::vector<RowContent>> contents_given(const Procedure& procedure,
                                                      const IntegerFacts& facts,
                                                      const Statement& statement, int array,
                                                      size_t axis,
                                                      const std::map<int, int>& changed) {
    return ContentsGiven(procedure, facts, array, axis, changed).run(statement);
}

std::optional<std::vector<Range>> ranges_left(const Procedure& procedure, const IntegerFacts& facts,
                                              const Statement& loop, int counter, int array,
                                              size_t axis, int64_t offset) {
    const auto& shape = procedure.arrays[static_cast<size_t>(array)].shape;
    if (shape.size() > 2) return {};
    const Expr here = procedure.variable(static_cast<size_t>(counter));
    const auto is_of_row = [&](const Statement& each) {
        return each.array == array && facts.distance(each.index[axis], here) == offset;
    };
    for (const Statement& each : loop.body) {
        const auto all = with_those_within(each);
        if (std::none_of(all.begin(), all.end(),
                         [&](const Statement* one) { return is_of_row(*one); })) {
            if (may_exit({each})) return {};
            continue;
        }
        if (shape.size() == 1)
            return each.kind == Kind::store ? std::optional(std::vector<Range>{}) : std::nullopt;
        const auto count = each.kind == Kind::loop ? count_by_one(each) : std::nullopt;
        if (!count || may_exit(each.body)) return {};
        const size_t other = 1 - axis;
        const Expr column = procedure.variable(static_cast<size_t>(count->counter));
        const auto store = std::find_if(each.body.begin(), each.body.end(), [&](const auto& one) {
            return one.kind == Kind::store && is_of_row(one);
        });
        if (store == each.body.end()) return {};
        const auto written = facts.distance(store->index[other], column);
        if (!written) return {};
        bool is_behind = false;
        for (const Statement* one : all) {
            is_behind |= one == &*store;
            if (!is_of_row(*one)) continue;
            const auto at = facts.distance(one->index[other], column);
            const bool is_there =
                at && ((*written - *at) * count->step > 0 || (*at == *written && is_behind));
            if (!is_there) return {};
        }
        const Range range = range_of(*count);
        const Expr low = range.low + integer(*written), high = range.high + integer(*written);
        if (!facts.is_at_least(low, integer(0)) || !facts.is_at_least(high, integer(0)) ||
            !facts.is_at_least(shape[other], low) || !facts.is_at_least(shape[other], high))
            return {};
        return std::vector<Range>{{-1, integer(0), scalar::simplify({low})[0]},
                                  {-1, scalar::simplify({high})[0], shape[other]}};
    }
    return {};
}

std::optional<IdleStore> idle_store(const Procedure& procedure, const IntegerFacts& facts,
                                    const Statement& loop, int counter, int array, size_t axis,
                                    int64_t offset) {
    if (procedure.arrays[static_cast<size_t>(array)].shape.size() != 2) return {};
    const Expr here = procedure.variable(static_cast<size_t>(counter));
    const auto is_of_row = [&](const Statement* each) {
        return each->array == array && facts.distance(each->index[axis], here) == offset;
    };
    IdleStore found;
    bool is_found = false;
    for (size_t place = 0; place < loop.body.size(); ++place) {
        const Statement& inner = loop.body[place];
        const auto all = with_those_within(inner);
        if (std::none_of(all.begin(), all.end(), is_of_row)) continue;
        const auto count = inner.kind == Kind::loop ? count_by_one(inner) : std::nullopt;
        if (is_found || !count) return {};
        const Expr column = procedure.variable(static_cast<size_t>(count->counter));
        const auto store = std::find_if(
            inner.body.begin(), inner.body.end(),
            [&](const Statement& each) { return each.kind == Kind::store && is_of_row(&each); });
        if (store == inner.body.end()) return {};
        const auto written = facts.distance(store->index[1 - axis], column);
        if (!written) return {};
        bool is_behind = false;
        for (const Statement* each : all) {
            is_behind |= each == &*store;
            if (!is_of_row(each) || each == &*store) continue;
            const auto at = facts.distance(each->index[1 - axis], column);
            const bool is_earlier =
                at && ((*at - *written) * count->step > 0 || (*at == *written && !is_behind));
            if (!is_earlier) return {};
        }
        found = {place, static_cast<size_t>(store - inner.body.begin())};
        is_found = true;
    }
    return is_found ? std::optional(found) : std::nullopt;
}

}  // namespace composit::ir::procedure

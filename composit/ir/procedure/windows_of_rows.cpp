#include "composit/ir/procedure/windows_of_rows.h"

#include "composit/ir/procedure/integer_facts.h"
#include "composit/ir/procedure/row_contents.h"
#include "composit/ir/procedure/row_texts.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using Role = ArrayVariable::Role;

constexpr int64_t most_rows = 4;  // each more is an exchange in each iteration

// Which rows of an array a loop keeps.
struct Window {
    int array = -1;
    size_t axis = 0;
    size_t made = 0, loop = 0;  // places in the block: the allocation, the loop
    Count count;
    int64_t low = 0,
            high = 0;  // the first and the last row that an iteration reaches, less counter
    bool is_read_behind = false;
    std::vector<Expr> naturals;  // what assertions before the loop say is no negative number
    std::set<int64_t> named;     // rows of which others say the number
    std::map<size_t, std::vector<RowContent>> contents;  // by place

    bool is_up() const { return count.step > 0; }
    int64_t newest() const { return is_up() ? high : low; }
    int64_t oldest() const { return is_up() ? low : high; }
    // What the counter is, as it were, before the loop and behind it.
    Expr before() const { return is_up() ? one_less(count.begin) : one_more(count.begin); }
    Expr behind() const { return is_up() ? one_less(count.end) : one_more(count.end); }
};

class WindowsOfRows {
  public:
    explicit WindowsOfRows(Procedure procedure) : p_(std::move(procedure)), facts_(p_) {}

    Procedure run() {
        walk(p_.body);
        return has_changed_ ? without_dead_code(std::move(p_), true) : std::move(p_);
    }

  private:
    void walk(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            if (block[i].kind != Kind::allocate) continue;
            const auto window = window_of(block, i);
            if (!window) continue;
            keep(block, *window);
            facts_ = IntegerFacts(p_);
            has_changed_ = true;
            if (window->low == window->high && window->named.empty()) make_within(block, *window);
            i = static_cast<size_t>(-1);  // what was made may have a window, too
        }
        for (Statement& each : block)
            for (Block* inner : {&each.body, &each.otherwise}) walk(*inner);
    }

    // ----- which rows are alive

    std::optional<Window> window_of(const Block& block, size_t made) const {
        const int array = block[made].array;
        const ArrayVariable& known = p_.arrays[static_cast<size_t>(array)];
        if (known.role != Role::local || known.grows || known.shape.empty()) return {};
        const Block region(block.begin() + static_cast<std::ptrdiff_t>(made), block.end());
        const auto uses = [&](const Block& of) {
            const auto all = all_statements(of);
            return std::count_if(all.begin(), all.end(),
                                 [&](const Statement* each) { return each->array == array; });
        };
        const Block rest(region.begin() + 1, region.end());
        if (uses(region) != uses(p_.body) || allocations(rest, array) != 0) return {};
        const std::map<int, int> changed = assignments_in(region);
        for (size_t place = made + 1; place < block.size(); ++place) {
            if (block[place].kind != Kind::loop) continue;
            for (size_t axis = 0; axis < known.shape.size(); ++axis) {
                auto window = window_in(block[place], array, axis, changed);
                if (!window) continue;
                window->made = made;
                window->loop = place;
                for (size_t i = 0; i < place; ++i)
                    if (block[i].kind == Kind::expect) add_naturals(block[i].values[0], *window);
                if (holds_for_others(block, *window, changed)) return window;
            }
        }
        return {};
    }

    static int64_t allocations(const Block& block, int array) {
        const auto all = all_statements(block);
        return std::count_if(all.begin(), all.end(), [&](const Statement* each) {
            return each->kind == Kind::allocate && each->array == array;
        });
    }

    std::optional<Window> window_in(const Statement& loop, int array, size_t axis,
                                    const std::map<int, int>& changed) const {
        const auto count = steps_of(loop);
        const auto& shape = p_.arrays[static_cast<size_t>(array)].shape;
        if (!count || (count->step != 1 && count->step != -1) ||
            reads_any({count->begin, count->end}, changed) || reads_any(shape, changed))
            return {};
        Window made;
        made.array = array;
        made.axis = axis;
        made.count = *count;
        const Expr counter = p_.variable(static_cast<size_t>(count->counter));
        bool is_first = true;
        for (const Statement* each : all_statements(loop.body)) {
            if (each->array != array) continue;
            if (each->index.size() != shape.size()) return {};
            const auto offset = facts_.distance(each->index[axis], counter);
            if (!offset) return {};
            made.low = is_first ? *offset : std::min(made.low, *offset);
            made.high = is_first ? *offset : std::max(made.high, *offset);
            is_first = false;
        }
        const std::vector<Expr> row = row_shape(made);
        const bool is_small =
            !row.empty() && std::all_of(row.begin(), row.end(), [](const Expr& e) {
                return e.op() == scalar::Op::constant;
            });
        if (is_first || made.high - made.low >= most_rows || is_small) return {};
        return made;
    }

    // a < b: b - a - 1
    void add_naturals(const Expr& holds, Window& window) const {
        using scalar::Op;
        if (holds.op() == Op::bit_and) {
            add_naturals(holds.operand(0), window);
            add_naturals(holds.operand(1), window);
        }
        const bool is_below = holds.op() == Op::less || holds.op() == Op::less_equal,
                   is_above = holds.op() == Op::greater || holds.op() == Op::greater_equal;
        if ((!is_below && !is_above) || holds.operand(0).dtype() != DType::int64 ||
            !facts_.is_fixed(holds))
            return;
        const Expr distance = holds.operand(is_below ? 1 : 0) - holds.operand(is_below ? 0 : 1);
        const bool is_strict = holds.op() == Op::less || holds.op() == Op::greater;
        window.naturals.push_back(is_strict ? distance - integer(1) : distance);
    }

    std::vector<Expr> row_shape(const Window& window) const {
        std::vector<Expr> shape = p_.arrays[static_cast<size_t>(window.array)].shape;
        shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(window.axis));
        return shape;
    }

    // Whether all that mentions the array outside of the loop names a row of the window that is
    // there, or gives each row something.
    bool holds_for_others(const Block& block, Window& window,
                          const std::map<int, int>& changed) const {
        for (size_t place = window.made + 1; place < block.size(); ++place) {
            if (place == window.loop) continue;
            const Statement& each = block[place];
            std::vector<const Statement*> uses;
            const Block alone{each};
            for (const Statement* one : all_statements(alone))
                if (one->array == window.array) uses.push_back(one);
            if (uses.empty()) continue;
            const bool is_behind = place > window.loop;
            window.is_read_behind |= is_behind;
            const bool are_named = std::all_of(uses.begin(), uses.end(), [&](const Statement* one) {
                const auto offset = named_row(window, *one, is_behind, changed);
                if (offset) window.named.insert(*offset);
                return offset.has_value();
            });
            if (are_named) continue;
            auto given = is_behind
                             ? std::nullopt
                             : contents_given(p_, facts_, each, window.array, window.axis, changed);
            if (!given) return false;
            window.contents[place] = std::move(*given);
        }
        return !window.is_read_behind || !has_own(block[window.loop].body, Kind::stop);
    }

    // Which row of the window, less what the counter is, a statement outside of the loop means.
    std::optional<int64_t> named_row(const Window& window, const Statement& use, bool is_behind,
                                     const std::map<int, int>& changed) const {
        const auto& shape = p_.arrays[static_cast<size_t>(window.array)].shape;
        if (use.index.size() != shape.size()) return {};
        const Expr& extent = shape[window.axis];
        Expr row = facts_.resolved(use.index[window.axis]);
        // Of the rows before n + 1, no two are meant by n and by a negative number n.
        if (const auto wrapped = wrapped_index(row)) {
            const auto distance = facts_.distance(extent, wrapped->from);
            if (!distance || *distance > 1 || facts_.distance(extent, wrapped->extent) != 0)
                return {};
            row = wrapped->from;
        }
        const auto offset = facts_.distance(row, is_behind ? window.behind() : window.before());
        if (!offset || *offset < window.low || *offset > window.high || reads_any({row}, changed))
            return {};
        if (!is_behind) return offset;
        // The loop has not run backwards: nobody reads rows that do not exist.
        const auto& [counter, begin, end, step] = window.count;
        const Expr trips = window.is_up() ? end - begin : begin - end;
        std::vector<Expr> naturals = window.naturals;
        naturals.insert(naturals.end(), {integer(0), row, extent - integer(1) - row});
        const bool has_run = std::any_of(naturals.begin(), naturals.end(), [&](const Expr& each) {
            return facts_.is_at_least(trips, each);
        });
        return has_run ? offset : std::nullopt;
    }

    // ----- keeping these

    // Where the rows of a window are: arrays, or variables, the first row's first.
    struct Rows {
        bool are_arrays = true;
        std::vector<int> at;
    };

    Rows rows_of(const Window& window) {
        const ArrayVariable whole = p_.arrays[static_cast<size_t>(window.array)];
        Rows rows{whole.shape.size() > 1, {}};
        if (!rows.are_arrays) p_.arrays[static_cast<size_t>(window.array)].name.clear();  // is gone
        ArrayVariable like = whole;
        like.shape = row_shape(window);
        for (int64_t offset = window.low; offset <= window.high; ++offset) {
            const bool is_newest = offset == window.newest();
            const std::string name = is_newest ? whole.name : whole.name + "_before";
            if (rows.are_arrays)
                rows.at.push_back(is_newest ? window.array : p_.add_array(name, like));
            else
                rows.at.push_back(p_.add_variable(name, whole.dtype));
        }
        if (rows.are_arrays) p_.arrays[static_cast<size_t>(window.array)].shape = like.shape;
        return rows;
    }

    void keep(Block& block, const Window& window) {
        const SourceLine line = block[window.made].line;
        const bool is_zeroed = block[window.made].is_zeroed;
        const auto left = ranges_left(p_, facts_, block[window.loop], window.count.counter,
                                      window.array, window.axis, window.newest());
        const auto idle = window.is_read_behind
                              ? std::nullopt
                              : idle_store(p_, facts_, block[window.loop], window.count.counter,
                                           window.array, window.axis, window.oldest());
        if (idle) {
            Block& within = block[window.loop].body[idle->loop].body;
            within.erase(within.begin() + static_cast<std::ptrdiff_t>(idle->store));
        }
        const ArrayVariable whole = p_.arrays[static_cast<size_t>(window.array)];
        Block extent_claim;
        if (const Expr& extent = whole.shape[window.axis];
            !facts_.is_at_least(extent, integer(0))) {
            Statement claim;
            claim.kind = Kind::expect;
            claim.line = line;
            claim.values = {extent >= integer(0)};
            extent_claim.push_back(std::move(claim));
        }
        const Rows rows = rows_of(window);
        const auto row_at = [&](int64_t offset) {
            return rows.at[static_cast<size_t>(offset - window.low)];
        };
        // What the new row holds, before other statements of the iteration.
        Block born = rotation(window, rows, block[window.loop].line);
        const Expr zero = Expr::constant(whole.dtype, 0);
        std::optional<Expr> filled_with;
        if (is_zeroed) filled_with = zero;
        Block given;
        for (const auto& [place, contents] : window.contents)
            for (const RowContent& each : contents) {
                if (each.is_fill) {
                    given.clear();
                    filled_with = each.statement->values[0];
                    continue;
                }
                append(given,
                       give_row(p_, each, {rows.are_arrays, row_at(window.newest())}, window.axis,
                                counter_of_new(window, each), range_condition(window, each)));
            }
        if (filled_with)
            append(born, fill_row(p_, facts_, {rows.are_arrays, row_at(window.newest())},
                                  *filled_with, left, block[window.loop].line));
        append(born, std::move(given));
        // Before the loop: rows that the first iteration finds there.
        Block out(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(window.made));
        append(out, std::move(extent_claim));
        for (const int each : rows.at)
            out.push_back(rows.are_arrays ? Statement::allocate(each, is_zeroed, line)
                                          : Statement::assign(each, zero, line));
        for (size_t place = window.made + 1; place < block.size(); ++place) {
            if (const auto found = window.contents.find(place); found != window.contents.end()) {
                for (const RowContent& each : found->second)
                    for (int64_t offset = window.low; offset <= window.high; ++offset)
                        if (offset != window.oldest() || window.named.contains(offset))
                            append(out, before_loop(window, each, rows, offset));
                std::set<const Statement*> stores;
                for (const RowContent& each : found->second) stores.insert(each.statement);
                leave_out(block[place], stores);
            }
            Statement each = std::move(block[place]);
            const Expr base = place == window.loop
                                  ? p_.variable(static_cast<size_t>(window.count.counter))
                              : place < window.loop ? window.before()
                                                    : window.behind();
            read_rows(each, window, rows, base);
            if (place == window.loop) each.body.insert(each.body.begin(), born.begin(), born.end());
            out.push_back(std::move(each));
        }
        block = std::move(out);
    }

    // An iteration's own row is made in it, if the loops there keep a part of it alone.
    void make_within(Block& block, const Window& window) {
        const auto is_made = [&](const Statement& each) {
            return each.kind == Kind::allocate && each.array == window.array;
        };
        const auto made = std::find_if(block.begin(), block.end(), is_made);
        if (made == block.end()) return;  // a variable
        const Block before = block;
        Statement allocation = *made;
        allocation.is_zeroed = false;  // what the iteration reads it writes
        block.erase(made);
        const auto loop = std::find_if(block.begin(), block.end(), [&](const Statement& each) {
            const auto count = each.kind == Kind::loop ? steps_of(each) : std::nullopt;
            return count && count->counter == window.count.counter &&
                   mentions_array(each.body, window.array);
        });
        if (loop != block.end()) {
            loop->body.insert(loop->body.begin(), allocation);
            if (window_of(loop->body, 0)) return;
        }
        block = before;
    }

    static void append(Block& block, Block more) {
        std::move(more.begin(), more.end(), std::back_inserter(block));
    }

    // Each row's place becomes that of the row before it: the oldest one's memory that of the new.
    Block rotation(const Window& window, const Rows& rows, const SourceLine& line) {
        std::vector<int> at = rows.at;
        if (!window.is_up()) std::reverse(at.begin(), at.end());
        Block made;
        for (size_t i = 0; i + 1 < at.size(); ++i) {
            if (rows.are_arrays)
                append(made, exchange_rows(p_, at[i], at[i + 1], line));
            else
                made.push_back(
                    Statement::assign(at[i], p_.variable(static_cast<size_t>(at[i + 1])), line));
        }
        return made;
    }

    static Expr shifted(const Expr& base, int64_t by) {
        return by == 0 ? base : scalar::simplify({base + integer(by)})[0];
    }

    // The counter of the loop that gives the new row something.
    Expr counter_of_new(const Window& window, const RowContent& content) const {
        return shifted(p_.variable(static_cast<size_t>(window.count.counter)),
                       window.newest() - content.offset);
    }

    // Whether the loop that gives rows something does so where it counts so far: what has to be
    // asked.
    static Expr asked(const RowContent& content, const Expr& counter, bool has_low, bool has_high) {
        Expr condition;
        if (!has_low) condition = counter >= content.range.low;
        if (!has_high) {
            const Expr below = counter < content.range.high;
            condition = condition ? condition & below : below;
        }
        return condition;
    }

    // The same for all new rows of the loop.
    Expr range_condition(const Window& window, const RowContent& content) const {
        const Expr distance = integer(window.newest() - content.offset);
        const Expr lowest = window.is_up() ? window.count.begin : window.behind(),
                   highest = window.is_up() ? window.behind() : window.count.begin;
        return asked(content, counter_of_new(window, content),
                     facts_.is_at_least(lowest + distance, content.range.low),
                     facts_.is_at_least(content.range.high, highest + distance + integer(1)));
    }

    Block before_loop(const Window& window, const RowContent& content, const Rows& rows,
                      int64_t offset) {
        const int at = rows.at[static_cast<size_t>(offset - window.low)];
        if (content.is_fill)
            return fill_row(p_, facts_, {rows.are_arrays, at}, content.statement->values[0], {},
                            content.statement->line);
        const Expr counter = shifted(window.before(), offset - content.offset);
        const auto below = facts_.distance(counter, content.range.low),
                   above = facts_.distance(content.range.high, counter);
        if ((below && *below < 0) || (above && *above <= 0)) return {};
        return give_row(p_, content, {rows.are_arrays, at}, window.axis, counter,
                        asked(content, counter, facts_.is_at_least(counter, content.range.low),
                              facts_.is_at_least(content.range.high, counter + integer(1))));
    }

    static void leave_out(Statement& from, const std::set<const Statement*>& stores) {
        Block kept;
        for (Statement& each : from.body) {
            if (stores.contains(&each)) continue;
            leave_out(each, stores);
            kept.push_back(std::move(each));
        }
        from.body = std::move(kept);
    }

    void read_rows(Statement& statement, const Window& window, const Rows& rows, const Expr& base) {
        for (Block* inner : {&statement.first, &statement.body, &statement.otherwise})
            for (Statement& each : *inner) read_rows(each, window, rows, base);
        if (statement.array != window.array) return;
        Expr row = facts_.resolved(statement.index[window.axis]);
        if (const auto wrapped = wrapped_index(row)) row = wrapped->from;
        const int64_t offset = facts_.distance(row, base).value();
        take_row(p_, statement,
                 {rows.are_arrays, rows.at[static_cast<size_t>(offset - window.low)]}, window.axis);
    }

    Procedure p_;
    IntegerFacts facts_;
    bool has_changed_ = false;
};

}  // namespace

Procedure with_windows_of_rows(Procedure procedure) {
    return WindowsOfRows(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure

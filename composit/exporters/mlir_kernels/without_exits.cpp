// Ways out of blocks as choices and flags.
#include "composit/exporters/mlir_kernels/without_exits.h"

#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace composit::mlir {
namespace {

using ir::DType;
using ir::procedure::Block;
using ir::procedure::Procedure;
using ir::procedure::SourceLine;
using ir::procedure::Statement;
using ir::scalar::Expr;
using Kind = Statement::Kind;

// Which ways out a block has that end what stands around it.
struct Ways {
    bool stop = false, go_on = false, leave = false;

    bool any() const { return stop || go_on || leave; }
    void operator|=(const Ways& other) {
        stop |= other.stop;
        go_on |= other.go_on;
        leave |= other.leave;
    }
};

Ways ways_of(const Block& block) {
    Ways ways;
    for (const Statement& each : block) {
        ways.stop |= each.kind == Kind::stop;
        ways.go_on |= each.kind == Kind::go_on;
        ways.leave |= each.kind == Kind::leave;
        if (each.kind == Kind::branch) {
            ways |= ways_of(each.body);
            ways |= ways_of(each.otherwise);
        } else if (each.kind == Kind::loop) {
            ways.leave |= ways_of(each.body).leave;
        }
    }
    return ways;
}

bool is_endless(const Statement& loop) {
    const Expr& condition = loop.values[0];
    return condition.op() == ir::scalar::Op::constant && condition.bits()[0] != 0 &&
           !ways_of(loop.body).stop;
}

class Converter {
  public:
    explicit Converter(const Procedure& procedure) : made_(procedure) {}

    Procedure run() {
        Block body = std::move(made_.body);
        std::vector<Expr> values;
        SourceLine line;
        const bool ends_plainly = !body.empty() && body.back().kind == Kind::leave;
        if (ends_plainly) {
            values = body.back().values;
            line = body.back().line;
            body.pop_back();
        }
        if (ways_of(body).leave) {
            has_returned_ = flag("has_returned");
            for (const auto& result : made_.results)
                results_.push_back(made_.add_variable(result.name, result.dtype));
            if (ends_plainly) body.push_back(Statement::leave(values, line));
            made_.body.push_back(set(has_returned_, false, line));
            append(made_.body, converted(body));
            values.clear();
            for (const int result : results_) values.push_back(variable(result));
        } else {
            made_.body = converted(body);
        }
        made_.body.push_back(Statement::leave(values, line));
        return ir::procedure::without_dead_code(std::move(made_), true);
    }

  private:
    Expr variable(int number) const { return made_.variable(static_cast<size_t>(number)); }
    int flag(const std::string& name) { return made_.add_variable(name, DType::boolean); }
    static Statement set(int flag, bool value, const SourceLine& line) {
        return Statement::assign(flag, Expr::constant_integer(DType::boolean, value ? 1 : 0), line);
    }
    static void append(Block& to, Block from) {
        std::move(from.begin(), from.end(), std::back_inserter(to));
    }

    // That none of these ways was taken.
    Expr goes_on(const Ways& ways) const {
        Expr all;
        const auto ask = [&](int flag) {
            const Expr own = ~variable(flag);
            all = all ? all & own : own;
        };
        if (ways.stop) ask(has_stopped_);
        if (ways.go_on) ask(is_done_);
        if (ways.leave) ask(has_returned_);
        return all;
    }

    Block converted(const Block& block) {
        Block out;
        for (size_t i = 0; i < block.size(); ++i) {
            const Statement& statement = block[i];
            const auto rest = [&] {
                return Block(block.begin() + static_cast<std::ptrdiff_t>(i) + 1, block.end());
            };
            switch (statement.kind) {
                case Kind::stop: out.push_back(set(has_stopped_, true, statement.line)); return out;
                case Kind::go_on: out.push_back(set(is_done_, true, statement.line)); return out;
                case Kind::leave: append(out, left(statement)); return out;
                case Kind::branch: {
                    Statement made = statement;
                    Ways ways = ways_of(statement.body);
                    ways |= ways_of(statement.otherwise);
                    const bool leaves = ir::procedure::always_leaves(statement.body),
                               leaves_else = ir::procedure::always_leaves(statement.otherwise);
                    if (ways.any() && leaves != leaves_else)
                        append(leaves ? made.otherwise : made.body, rest());
                    if (made.body.size() == 1 && made.otherwise.empty() &&
                        (made.body[0].kind == Kind::stop || made.body[0].kind == Kind::go_on)) {
                        // The flag is not set where a way out is met: it is what is asked.
                        const Statement& way = made.body[0];
                        out.push_back(
                            Statement::assign(way.kind == Kind::stop ? has_stopped_ : is_done_,
                                              statement.values[0], way.line));
                        return out;
                    }
                    made.body = converted(made.body);
                    made.otherwise = converted(made.otherwise);
                    out.push_back(std::move(made));
                    if (!ways.any()) break;
                    if (!leaves && !leaves_else) guard(out, ways, rest(), statement.line);
                    return out;
                }
                case Kind::loop: {
                    const Ways ways{false, false, ways_of(statement.body).leave};
                    append(out, looped(statement));
                    if (!ways.leave) break;
                    if (!is_endless(statement)) guard(out, ways, rest(), statement.line);
                    return out;
                }
                default: out.push_back(statement);
            }
        }
        return out;
    }

    void guard(Block& out, const Ways& ways, const Block& rest, const SourceLine& line) {
        const Expr condition = goes_on(ways);
        Block made = converted(rest);
        if (!made.empty()) out.push_back(Statement::branch(condition, std::move(made), {}, line));
    }

    Block left(const Statement& leave) const {
        Block made;
        for (size_t i = 0; i < results_.size(); ++i)
            made.push_back(Statement::assign(results_[i], leave.values[i], leave.line));
        made.push_back(set(has_returned_, true, leave.line));
        return made;
    }

    Block looped(const Statement& loop) {
        const Ways ways = ways_of(loop.body);
        const Ways ending{ways.stop, false, ways.leave};
        const int stopped = has_stopped_, done = is_done_;
        Block out;
        if (ways.stop) {
            has_stopped_ = flag("has_stopped");
            out.push_back(set(has_stopped_, false, loop.line));
        }
        if (ways.go_on) is_done_ = flag("is_done");
        Statement made = loop;
        if (ending.any()) {
            made.values[0] = is_endless(loop) ? goes_on(ending) : made.values[0] & goes_on(ending);
            if (!made.otherwise.empty() && is_read_elsewhere(loop, made.otherwise))
                made.otherwise = {
                    Statement::branch(goes_on(ending), loop.otherwise, {}, loop.line)};
        }
        made.body.clear();
        if (ways.go_on) made.body.push_back(set(is_done_, false, loop.line));
        append(made.body, converted(loop.body));
        out.push_back(std::move(made));
        has_stopped_ = stopped;
        is_done_ = done;
        return out;
    }

    // Whether anything but the loop mentions what its steps assign.
    bool is_read_elsewhere(const Statement& loop, const Block& steps) {
        if (all_mentions_.empty()) all_mentions_ = mentions_of_original();
        const auto own = ir::procedure::mentions_in(made_, {loop});
        return std::any_of(steps.begin(), steps.end(), [&](const Statement& step) {
            return own.at(step.variable) != all_mentions_.at(step.variable);
        });
    }
    std::map<int, int> mentions_of_original() const {
        return ir::procedure::mentions_in(made_, original_);
    }

    Procedure made_;
    const Block original_ = made_.body;
    std::map<int, int> all_mentions_;
    std::vector<int> results_;
    int has_returned_ = -1, has_stopped_ = -1, is_done_ = -1;
};

}  // namespace

Procedure without_exits(const Procedure& procedure) { return Converter(procedure).run(); }

}  // namespace composit::mlir

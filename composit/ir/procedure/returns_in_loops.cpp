// Returns inside loops as a flag, which ends the loops around it and is asked behind them.
#include "composit/ir/procedure/returns_in_loops.h"

#include "composit/ir/procedure/structure.h"

#include <algorithm>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;

bool has_return(const Block& block) {
    const auto all = all_statements(block);
    return std::any_of(all.begin(), all.end(),
                       [](const Statement* statement) { return statement->kind == Kind::leave; });
}

bool has_own_stop(const Block& block) {
    return std::any_of(block.begin(), block.end(), [](const Statement& statement) {
        return statement.kind == Kind::stop ||
               (statement.kind == Kind::branch &&
                (has_own_stop(statement.body) || has_own_stop(statement.otherwise)));
    });
}

class Rewriter {
  public:
    Rewriter(Procedure& procedure, const std::vector<int>& results)
        : procedure_(procedure), results_(results) {}

    Block outside(const Block& block) {
        Block made;
        for (const Statement& statement : block) {
            if (statement.kind == Kind::loop && has_return(statement.body)) {
                start(statement.line, made);
                // for ever, until it returns: nothing behind it is reached otherwise
                const bool is_endless =
                    is_true(statement.values[0]) && !has_own_stop(statement.body);
                made.push_back(inside(statement));
                Block returns = {Statement::leave(values(), statement.line)};
                if (is_endless) {
                    made.push_back(returns[0]);
                    break;
                }
                made.push_back(Statement::branch(flag(), returns, {}, statement.line));
                continue;
            }
            made.push_back(statement);
            made.back().body = outside(statement.body);
            made.back().otherwise = outside(statement.otherwise);
        }
        return made;
    }

  private:
    static bool is_true(const Expr& condition) {
        return condition.op() == scalar::Op::constant && condition.value() != 0;
    }

    Expr flag() const { return procedure_.variable(static_cast<size_t>(flag_)); }

    std::vector<Expr> values() const {
        std::vector<Expr> all;
        for (const int result : results_)
            all.push_back(procedure_.variable(static_cast<size_t>(result)));
        return all;
    }

    void start(const SourceLine& line, Block& made) {
        if (flag_ < 0) flag_ = procedure_.add_variable(flag_of_returns, DType::boolean);
        made.push_back(Statement::assign(flag_, Expr::constant_integer(DType::boolean, 0), line));
        for (const int result : results_) {
            const DType dtype = procedure_.variables[static_cast<size_t>(result)].dtype;
            made.push_back(Statement::assign(
                result,
                is_floating(dtype) ? Expr::constant(dtype, 0) : Expr::constant_integer(dtype, 0),
                line));
        }
    }

    Statement inside(Statement loop) {
        loop.body = body(loop.body);
        return loop;
    }

    Block body(const Block& block) {
        Block made;
        for (const Statement& statement : block) {
            if (statement.kind == Kind::leave) {
                for (size_t i = 0; i < results_.size(); ++i)
                    made.push_back(
                        Statement::assign(results_[i], statement.values[i], statement.line));
                made.push_back(Statement::assign(flag_, Expr::constant_integer(DType::boolean, 1),
                                                 statement.line));
                made.push_back(stop(statement.line));
                break;
            }
            if (statement.kind == Kind::loop && has_return(statement.body)) {
                made.push_back(inside(statement));
                made.push_back(
                    Statement::branch(flag(), {stop(statement.line)}, {}, statement.line));
                continue;
            }
            made.push_back(statement);
            if (statement.kind != Kind::branch) continue;
            made.back().body = body(statement.body);
            made.back().otherwise = body(statement.otherwise);
        }
        return made;
    }

    static Statement stop(const SourceLine& line) {
        Statement made;
        made.kind = Kind::stop;
        made.line = line;
        return made;
    }

    Procedure& procedure_;
    const std::vector<int>& results_;
    int flag_ = -1;
};

}  // namespace

Block without_returns_in_loops(const Block& block, Procedure& procedure,
                               const std::vector<int>& results) {
    return Rewriter(procedure, results).outside(block);
}

Block assigning_results(const Block& block, Procedure& procedure, const std::vector<int>& results) {
    const auto assigned = [&results](const Statement& statement) -> std::optional<Block> {
        if (statement.kind != Kind::leave) return {};
        Block made;
        for (size_t i = 0; i < results.size(); ++i)
            made.push_back(Statement::assign(results[i], statement.values[i], statement.line));
        return made;
    };
    return structured(without_returns_in_loops(block, procedure, results), assigned);
}

}  // namespace composit::ir::procedure

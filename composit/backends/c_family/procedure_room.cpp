#include "composit/backends/c_family/procedure_room.h"

#include "composit/ir/procedure/structure.h"
#include "composit/ir/scalar/function.h"

#include <optional>
#include <set>
#include <utility>

namespace composit::c_family {
namespace {

using ir::procedure::Block;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::scalar::Expr;
using ir::scalar::Op;
using Kind = Statement::Kind;

class Rooms {
  public:
    explicit Rooms(const Procedure& procedure)
        : procedure_(procedure),
          assigned_(ir::procedure::assignments_in(procedure.body)),
          all_(all_statements(procedure.body)) {}

    std::map<int, std::vector<Expr>> run() {
        walk(procedure_.body);
        for (const int array : unknown_) found_.erase(array);
        return std::move(found_);
    }

  private:
    void walk(const Block& block) {
        std::map<int, int64_t> appended;
        for (const Statement& statement : block) {
            if (statement.kind == Kind::append) ++appended[statement.array];
            if (statement.kind == Kind::allocate && !trips_.empty())
                unknown_.insert(statement.array);
            if (statement.kind == Kind::branch) {
                const bool was_certain = std::exchange(is_certain_, false);
                walk(statement.body);
                walk(statement.otherwise);
                is_certain_ = was_certain;
            }
            if (statement.kind == Kind::loop) {
                trips_.push_back(trips_of(statement));
                walk(statement.body);
                trips_.pop_back();
            }
        }
        for (const auto& [array, times] : appended) add(array, times);
    }

    void add(int array, int64_t times) {
        std::vector<Expr> factors;
        for (const std::optional<Expr>& trips : trips_) {
            if (!trips) unknown_.insert(array);
            if (trips) factors.push_back(*trips);
        }
        if (times != 1) factors.push_back(ir::procedure::integer(times));
        if (!is_certain_ || trips_.empty() || !found_.emplace(array, std::move(factors)).second)
            unknown_.insert(array);
    }

    std::optional<Expr> trips_of(const Statement& loop) const {
        const auto range = ir::procedure::range_of(loop);
        if (!range || !ir::procedure::count_of(loop)) return {};
        const auto low = told(range->low), high = told(range->high);
        if (!low || !high) return {};
        return ir::scalar::simplify({ir::procedure::minus(*high, *low)})[0];
    }

    // The same over parameters alone: sums and products of them, which nobody changes.
    std::optional<Expr> told(const Expr& value) const {
        if (value.op() == Op::constant) return value;
        if (value.op() == Op::argument) {
            const int variable = value.index();
            const auto times = assigned_.find(variable);
            if (static_cast<size_t>(variable) < procedure_.parameters)
                return times == assigned_.end() ? std::optional(value) : std::nullopt;
            if (times == assigned_.end() || times->second != 1) return {};
            for (const Statement* each : all_)
                if (each->kind == Kind::assign && each->variable == variable)
                    return told(each->values[0]);
            return {};
        }
        if (value.op() != Op::add && value.op() != Op::subtract && value.op() != Op::multiply)
            return {};
        std::vector<Expr> operands;
        for (const Expr& operand : value.operands()) {
            auto own = told(operand);
            if (!own) return {};
            operands.push_back(*std::move(own));
        }
        return value.with_operands(std::move(operands));
    }

    const Procedure& procedure_;
    std::map<int, int> assigned_;
    std::vector<const Statement*> all_;
    bool is_certain_ = true;  // no branch is around
    std::vector<std::optional<Expr>> trips_;
    std::map<int, std::vector<Expr>> found_;
    std::set<int> unknown_;
};

}  // namespace

std::map<int, std::vector<Expr>> rooms_of(const Procedure& procedure) {
    return Rooms(procedure).run();
}

}  // namespace composit::c_family

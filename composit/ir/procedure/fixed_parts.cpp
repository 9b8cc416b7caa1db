#include "composit/ir/procedure/fixed_parts.h"

#include "composit/base/text.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace composit::ir::procedure {
namespace {

using scalar::Expr;
using scalar::ExprNode;
using scalar::Op;

constexpr int slow_operation = 4;  // a quotient or a root, in additions
constexpr int called_function = 10;
constexpr int least_of_part = 4;    // what a part computes
constexpr int least_of_parts = 24;  // all of them, of which each takes a register or a load

int cost_of_part(const Expr& value) {
    std::vector<Expr> below = scalar::topological_order({value});
    int cost = 0;
    for (const Expr& each : below) {
        if (each.op() == Op::constant || each.op() == Op::argument) continue;
        const bool is_slow = each.op() == Op::divide || each.op() == Op::square_root;
        cost += each.op() == Op::call ? called_function : is_slow ? slow_operation : 1;
    }
    return cost;
}

scalar::RowRef row_of_value(std::string name, Expr value, scalar::Signature signature) {
    scalar::Row row;
    row.name = std::move(name);
    row.arity = static_cast<int>(signature.operands.size());
    row.types = [signature](std::string_view, const std::vector<DType>&) { return signature; };
    row.value = [value](const std::vector<Expr>& x) { return scalar::substitute({value}, x)[0]; };
    return std::make_shared<const scalar::Row>(std::move(row));
}

class CallApart {
  public:
    CallApart(const scalar::Specialisation& called, const std::vector<char>& stays)
        : called_(called), stays_(stays) {}

    FixedParts run() {
        const std::vector<Expr> order = scalar::topological_order({called_.body});
        for (const Expr& each : order) {
            if (each.op() == Op::loop) return {};
            find_varying(each);
        }
        if (!varies_.contains(called_.body.id())) return {};
        find_parts();
        int cost = 0;
        for (const Expr& each : found_) cost += cost_of_part(each);
        if (cost < least_of_parts) return {};
        return made(order);
    }

  private:
    void find_varying(const Expr& value) {
        const bool is_own =
            value.op() == Op::argument && !stays_[static_cast<size_t>(value.index())];
        const std::vector<Expr>& operands = value.operands();
        if (is_own || std::any_of(operands.begin(), operands.end(),
                                  [this](const Expr& each) { return varies_.contains(each.id()); }))
            varies_.insert(value.id());
    }

    // The largest values of numbers that stay which something that varies, or a truth value that
    // stays, reads: compilers make no vectors of loops for which they keep truth values.
    void find_parts() {
        std::vector<Expr> left{called_.body};
        std::set<const ExprNode*> seen;
        while (!left.empty()) {
            const Expr value = left.back();
            left.pop_back();
            if (!seen.insert(value.id()).second) continue;
            const bool is_part = !varies_.contains(value.id()) && is_floating(value.dtype()) &&
                                 cost_of_part(value) >= least_of_part;
            if (is_part)
                found_.push_back(value);
            else
                left.insert(left.end(), value.operands().begin(), value.operands().end());
        }
    }

    FixedParts made(const std::vector<Expr>& order) const {
        const std::vector<DType>& given = called_.signature.operands;
        // The operands that stay, as arguments of parts.
        std::vector<Expr> by;
        std::vector<DType> staying;
        for (size_t i = 0; i < given.size(); ++i) {
            const bool stays = stays_[i] != 0;
            by.push_back(Expr::argument(stays ? static_cast<int>(staying.size()) : 0, given[i]));
            if (stays) staying.push_back(given[i]);
        }
        std::string name = called_.row->name + ".";
        for (const char each : stays_) name += each ? "s" : "v";
        FixedParts out;
        std::map<const ExprNode*, Expr> instead;
        scalar::Signature rest{given, called_.body.dtype()};
        for (const Expr& part : found_) {
            instead[part.id()] =
                Expr::argument(static_cast<int>(rest.operands.size()), part.dtype());
            rest.operands.push_back(part.dtype());
            out.parts.push_back(row_of_value(text(name, ".part_", out.parts.size()),
                                             scalar::substitute({part}, by)[0],
                                             {staying, part.dtype()}));
        }
        for (const Expr& each : order) {
            if (instead.contains(each.id())) continue;
            std::vector<Expr> operands;
            bool is_changed = false;
            for (const Expr& operand : each.operands()) {
                operands.push_back(instead.at(operand.id()));
                is_changed |= !(operands.back() == operand);
            }
            instead[each.id()] = is_changed ? each.with_operands(std::move(operands)) : each;
        }
        out.rest = row_of_value(name + ".rest", instead.at(called_.body.id()), std::move(rest));
        return out;
    }

    const scalar::Specialisation& called_;
    const std::vector<char>& stays_;
    std::set<const ExprNode*> varies_;
    std::vector<Expr> found_;
};

}  // namespace

const FixedParts& fixed_parts_of(const Expr& call, const std::vector<char>& stays) {
    std::vector<DType> dtypes;
    for (const Expr& each : call.operands()) dtypes.push_back(each.dtype());
    const scalar::Specialisation& called = scalar::specialise(call.row(), dtypes);
    static std::mutex mutex;
    static std::map<std::pair<const scalar::Specialisation*, std::vector<char>>, FixedParts> known;
    const std::scoped_lock lock(mutex);
    const std::pair key(&called, stays);
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    return known[key] = CallApart(called, stays).run();
}

}  // namespace composit::ir::procedure

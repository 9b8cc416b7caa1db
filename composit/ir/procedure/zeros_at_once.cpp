// with_zeros_passed_at_once: loops back that do something for a few gradients, the others being 0.
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

constexpr int64_t zeros_at_once = 16;  // two or four vectors

class ZerosAtOnce {
  public:
    explicit ZerosAtOnce(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        mentions_ = mentions_in(p_, p_.body);
        walk(p_.body);
        return std::move(p_);
    }

  private:
    void walk(Block& block) {
        for (Statement& each : block) {
            walk(each.body);
            if (each.kind == Kind::branch) walk(each.otherwise);
            if (each.kind == Kind::loop) pass(each);
        }
    }

    // for j: g = x[j + 1]; if (g != 0) …
    void pass(Statement& loop) {
        const auto count = count_by_one(loop);
        if (!count || loop.body.size() != 2) return;
        const Statement &load = loop.body[0], &asks = loop.body[1];
        if (load.kind != Kind::load || asks.kind != Kind::branch || !asks.otherwise.empty()) return;
        const Expr& holds = asks.values[0];
        const bool is_asked =
            holds.op() == Op::not_equal && is_variable(holds.operand(0), load.variable) &&
            is_integer_constant(holds.operand(1), 0) && is_floating(holds.operand(0).dtype());
        const Block whole{loop};
        const std::map<int, int> inside = mentions_in(p_, whole), assigned = assignments_in(whole);
        if (!is_asked || assigned.at(load.variable) != 1 ||
            inside.at(load.variable) != mentions_.at(load.variable) ||
            inside.at(count->counter) != mentions_.at(count->counter))
            return;
        size_t moving = 0;
        for (const Expr& each : load.index) {
            if (!reads_any({each}, assigned)) continue;
            if (!offset_from(count->counter, each)) return;
            ++moving;
        }
        if (moving != 1) return;
        const Statement look = block_of_zeros(load, *count);
        loop.body.insert(loop.body.begin(), look);
    }

    // if (j - 15 >= end) { any = 0; for (k < 16) any |= bits(x[j + 1 - k]) << 1;
    //                      if (any == 0) { j -= 15; continue; } }
    Statement block_of_zeros(const Statement& load, const Count& count) {
        const SourceLine& line = load.line;
        const DType dtype = p_.variables[static_cast<size_t>(load.variable)].dtype;
        const DType bits = dtype == DType::float32 ? DType::int32 : DType::int64;
        const int value = new_number("next", dtype), any = new_number("any", bits),
                  k = new_number("k", DType::int64);
        const auto number = [&](int variable) {
            return p_.variable(static_cast<size_t>(variable));
        };
        const Expr here = number(count.counter);
        const bool is_up = count.step > 0;
        std::vector<Expr> by = all_variables(p_);
        by[static_cast<size_t>(count.counter)] = is_up ? here + number(k) : here - number(k);
        const Expr zero = Expr::constant_integer(bits, 0);
        Statement look = counting_up(
            number(k), integer(0), integer(zeros_at_once),
            {Statement::load(value, load.array, scalar::substitute(load.index, by), line),
             // But for the sign: -0 is 0.
             Statement::assign(any, number(any) | (Expr::bitcast(number(value), bits) << 1), line)},
            line);
        const Expr last =
            is_up ? here + integer(zeros_at_once - 1) : here - integer(zeros_at_once - 1);
        Statement go_on;
        go_on.kind = Kind::go_on;
        go_on.line = line;
        Statement passes =
            Statement::branch(equal(number(any), zero),
                              {Statement::assign(count.counter, last, line), go_on}, {}, line);
        return Statement::branch(is_up ? last < count.end : last > count.end,
                                 {Statement::assign(any, zero, line), look, passes}, {}, line);
    }

    int new_number(const char* name, DType dtype) {
        p_.variables.push_back({name, dtype});
        return static_cast<int>(p_.variables.size()) - 1;
    }

    Procedure p_;
    std::map<int, int> mentions_;
};

}  // namespace

Procedure with_zeros_passed_at_once(Procedure procedure) {
    return ZerosAtOnce(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure

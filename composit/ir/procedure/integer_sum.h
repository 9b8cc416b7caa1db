// Sums of integers, taken apart: places of elements are told apart by them.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace composit::ir::procedure {

// A sum of integers, modulo 2^64: how often each value is added, and what is added besides.
struct IntegerSum {
    std::vector<std::pair<Expr, uint64_t>> terms;
    uint64_t rest = 0;

    void add(const Expr& value, uint64_t times) {
        if (value.op() == scalar::Op::constant) {
            rest += times * static_cast<uint64_t>(value.bits()[0]);
        } else if (value.op() == scalar::Op::add || value.op() == scalar::Op::subtract) {
            add(value.operand(0), times);
            add(value.operand(1), value.op() == scalar::Op::add ? times : 0 - times);
        } else {
            add_term(value, times);
        }
    }
    bool is_zero() const { return terms.empty() && rest == 0; }

  private:
    void add_term(const Expr& value, uint64_t times) {
        const auto same = std::find_if(terms.begin(), terms.end(), [&](const auto& each) {
            return scalar::structurally_equal({each.first}, {value});
        });
        if (same == terms.end()) {
            terms.emplace_back(value, times);
        } else if ((same->second += times) == 0) {
            terms.erase(same);
        }
    }
};

}  // namespace composit::ir::procedure

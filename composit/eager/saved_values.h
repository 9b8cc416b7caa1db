// Which values PyTorch's operations save for their gradients (its derivatives.yaml): a table, from
// which a record is told what it saves.
//
//     save_values(*record, {{0, a, true}, {1, b, true}}, {{result}});  // of MulBackward0: a and b
#pragma once

#include "composit/eager/tape.h"
#include "composit/ir/dtype.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace composit::eager {

// log_softmax as LogSoftmaxBackward0.
[[nodiscard]] std::string record_name(std::string_view operation);

// Whether the table has a rule for records of that name.
[[nodiscard]] bool saves_values(ir::Interned record_name);

// A tensor that an operation was called with: the number of its argument (PyTorch's order), and
// whether a gradient goes to it.
struct SavableOperand {
    int argument;
    Savable value;
    bool needs_gradient;
};

// What an operation was called with, as far as that decides what it saves: of a tensor its dtype,
// a number, a text, or nothing of these.
using Argument = std::variant<std::monostate, ir::DType, double, std::string>;

struct SavingCall {
    std::vector<SavableOperand> operands;
    std::vector<std::optional<Savable>> results;  // nothing: nobody holds that one any more
    // By number; asked where what is saved depends on it. Operands need not be there.
    std::vector<std::pair<int, Argument>> arguments = {};
    int own = 0;  // the argument that an operation in place writes over
};

// Adds to a record what its operation saves; nothing where there is no rule of its name.
void save_values(const Record& record, const SavingCall& call);

// An operation in place: what the record's operation made is in `target` from now on, which was
// written. Its first operand, the target as it was before, is saved as a copy.
void moved_into(const Record& record, const Savable& target);

}  // namespace composit::eager

// Calls that statements are part of.
#include "composit/ir/procedure/source_line.h"

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

const InlinedCall* call_of(const SourceLine& line, const InlinedCall* within) {
    const InlinedCall* inner = nullptr;
    for (const InlinedCall* call = line.call.get(); call; call = call->around.get()) {
        if (call == within) return inner;
        inner = call;
    }
    return within ? nullptr : inner;
}

void join_call(Statement& statement, const std::shared_ptr<InlinedCall>& call) {
    if (!statement.line.call) {
        statement.line.call = call;
    } else {
        InlinedCall* outermost = statement.line.call.get();
        while (outermost->around) outermost = outermost->around.get();
        if (outermost != call.get()) outermost->around = call;
    }
    for (Block* inner : {&statement.first, &statement.body, &statement.otherwise})
        for (Statement& each : *inner) join_call(each, call);
}

void set_sweep(Block& block, Sweep sweep) {
    for (Statement& statement : block) {
        statement.line.sweep = sweep;
        for (Block* inner : {&statement.first, &statement.body, &statement.otherwise})
            set_sweep(*inner, sweep);
    }
}

}  // namespace composit::ir::procedure

// Where a statement of a procedure comes from: a line of the source, and the calls whose functions
// became part of the procedure.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace composit::ir::procedure {

// A call whose function became part of a procedure: its statements know it, so that printers can
// make a function of them again.
struct InlinedCall {
    std::string name;
    bool is_of_library = false;           // text of this library, which its user did not write
    std::shared_ptr<InlinedCall> around;  // whose function has the call; null: the procedure
};

// Which part of a procedure or of a derivative a statement belongs to.
enum class Sweep : uint8_t { value, tangent, gradient };

// It goes from statement to statement as the number of a line does, which it is, too.
struct SourceLine {
    int number = 0;  // 0: the line of the statement before
    Sweep sweep = Sweep::value;
    std::shared_ptr<InlinedCall> call;  // the innermost one

    SourceLine() = default;
    SourceLine(int number) : number(number) {}
    operator int() const { return number; }
};

// The outermost call that a line is of, or the outermost within another one; null: there is none,
// or the line is not within that one.
const InlinedCall* call_of(const SourceLine& line, const InlinedCall* within);

}  // namespace composit::ir::procedure

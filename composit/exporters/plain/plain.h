// Exports programs as plain C99 or C++17: text that a person would write and reads from top to
// bottom. One function a kernel, loops over arrays of fixed size, weights as constants; no heap, no
// threads, no library, no exceptions. On any CPU the same bits as in process.
#pragma once

#include "composit/backends/c_family/text_table.h"
#include "composit/ir/array.h"
#include "composit/ir/kernel/kernel.h"
#include "composit/ir/node.h"
#include "composit/target/target.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace composit::plain {

enum class Language : uint8_t { c, cpp };
// "c" or "cpp". ValueError for others.
Language language_of(const std::string& name);

struct PlainOptions {
    std::string name;  // of the files, and of C++'s namespace; made an identifier
    Language language = Language::cpp;
    // Functions take a pointer to the memory that they need between kernels as their last argument,
    // `_workspace`, in place of static memory of their own.
    bool has_workspace = false;
    // Braces around each body, one declaration a line, parentheses where operators of different
    // precedence meet, prototypes of static functions, an include guard: what checkers of rules
    // such as MISRA's ask for. The program is the same one.
    bool is_strict = false;
    // Tables beside the functions: in C++'s namespace, or in C named NAME_TABLE.
    std::vector<c_family::TextTable> texts = {};
};

// What passes are to know: kernels stay apart but for what can stand in the loop of their producer.
Target target_of_plain_text();
// Why a kernel of the program cannot be printed; nothing where it can. Fused and Pack are refused,
// which only change the order of work.
std::optional<std::string> unprintable(const ir::kernel::Kernel& kernel,
                                       const ir::kernel::Program& program);

// A program made for target_of_plain_text(), and one call of it that NAME_selfcheck repeats.
struct PlainFunction {
    ir::kernel::Program program;
    std::vector<ir::Array> inputs = {}, outputs = {};  // none: nothing is recorded
};

// Inputs of a program for a recorded call, which a text can make again in two lines: element i of
// input k is ((37 i + 11 k) mod 201 - 100) / 128 for floats, and its parity for integers; or zero,
// where integers `are_zero`.
std::vector<ir::Array> example_inputs(const ir::kernel::Program& program, bool are_zero = false);

// The program with a call of it recorded: of the example inputs, by `call`, which runs it here and
// takes arrays of these types. A program has other dtypes than its function in places: float16 is
// the integers of its bits. Where the call finds an index out of bounds, integers are zero; where
// it does so again, or something else that a kernel requires does not hold, nothing is recorded.
PlainFunction with_recorded_call(
    ir::kernel::Program program, const std::vector<ir::TensorType>& inputs,
    const std::function<std::vector<ir::Array>(const std::vector<ir::Array>&)>& call);

struct NamedText {
    std::string name, text;
};
// The files: NAME.h and NAME.c, or NAME.hpp and NAME.cpp; NAME_weights.h where the constants are
// many. NotSupported naming what cannot be printed.
std::vector<NamedText> print_plain(const std::vector<PlainFunction>& functions,
                                   const PlainOptions& options);

// Writes them into `folder` (made if missing), as a whole or not at all, and returns their names.
// InputOutputError when a file cannot be written.
std::vector<std::string> export_plain(const std::vector<PlainFunction>& functions,
                                      const std::string& folder, const PlainOptions& options);

}  // namespace composit::plain

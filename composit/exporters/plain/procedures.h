// Procedures that kernels call, as functions of the plain text: one for all calls of it.
#pragma once

#include "composit/backends/c_family/called_items.h"
#include "composit/backends/c_family/kernel_names.h"
#include "composit/exporters/plain/language.h"
#include "composit/ir/kernel/kernel.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace composit::plain {

// A function: what it does for one item of a call's batch.
struct ProcedureFunction {
    // What it takes, in the order of its head; of what its text does not read there is nothing.
    struct Argument {
        enum class Of : uint8_t { variable, array, result, memory };
        Of of = Of::variable;
        int number = -1;  // of a variable, an array, a result, or an array of its own
    };
    std::string name, text;
    std::vector<Argument> arguments;
    bool returns_result = false;  // its value; else a status, if it can fault
    bool can_fault = false;
    bool has_other_faults = false;  // than of an index
    bool has_unset_arrays = false;
};

class Procedures {
  public:
    // Of all calls in the programs. `print` gives functions their names.
    Procedures(Language language, const std::vector<const ir::kernel::Program*>& programs);
    void print(c_family::Names& file_names);

    const ProcedureFunction& function_of(const ir::kernel::Call& call) const;
    // Arrays of its own that the function takes, and how many elements they have.
    const std::map<int, int64_t>& memory_of(const ir::kernel::Call& call) const;
    // What the functions compute, whose parts they call.
    std::vector<ir::scalar::Expr> expressions() const;
    std::string text() const;
    // Whether one has an array on the stack whose elements are set one by one.
    bool has_unset_arrays() const;

  private:
    struct Known {
        const c_family::CalledForItems* called = nullptr;
        std::vector<std::map<int, ir::scalar::Bits>> known;  // of parameters, in each call
        std::map<int, int64_t> memory;
        ProcedureFunction function;
    };
    const Known& known_of(const ir::kernel::Call& call) const;
    void print(Known& own, c_family::Names& file_names) const;

    Language language_;
    std::vector<std::unique_ptr<Known>> all_;
    std::map<int64_t, size_t> places_;  // by the number of the procedure
};

// Why no function can do what a call wants; nothing where one can.
std::optional<std::string> unprintable_call(const ir::kernel::Call& call,
                                            const ir::kernel::Program& program);

// The program with calls as they are printed: each array lies in row-major order, if need be in a
// copy that a kernel makes before, and behind the outputs stand temporaries, for arrays of its own
// that the function takes. All items have the same ones, one after the other. Numbers that are
// known (c_family::known_numbers) stand where the function is called, and no kernel fills arrays
// with them.
ir::kernel::Program with_calls_prepared(ir::kernel::Program program, const Procedures& procedures);
std::string literal_text(Language language, ir::DType dtype, const ir::scalar::Bits& bits);

}  // namespace composit::plain

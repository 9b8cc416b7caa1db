// Statements of a procedure as operations of MLIR.
#pragma once

#include "composit/backends/c_family/procedure_extents.h"
#include "composit/exporters/mlir_kernels/carried.h"
#include "composit/exporters/mlir_kernels/function_text.h"
#include "composit/exporters/mlir_kernels/values_text.h"
#include "composit/ir/procedure/procedure.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace composit::mlir {

// Functions of the module beside rows of the scalar language, which several kernels call.
struct Helpers {
    std::set<std::string> appends, fills;  // types of elements: "f64"
};

// "memref<?x3xf64>"
std::string memref_type(const ir::procedure::ArrayVariable& array);

class StatementsText {
  public:
    // `procedure` is one of `without_exits`, and outlives the text; `written` is what it was made
    // of.
    StatementsText(const ir::procedure::Procedure& procedure, LineStyle style, Helpers& helpers);

    // The function @name.
    std::string run(const std::string& name);

  private:
    using Block = ir::procedure::Block;
    using Statement = ir::procedure::Statement;
    using Expr = ir::scalar::Expr;

    // What variables and arrays are at a place of the text; regions begin with those around them.
    struct State {
        HeldValues variables;
        std::vector<std::string> memory, counts;  // of arrays
    };

    std::string head(const std::string& name);
    void write_extents(const std::set<int>& live);
    void write_block(const Block& block, const std::set<int>& live_behind);
    void write(const Block& block, size_t index, const std::set<int>& live_behind);
    void write_branch(const Statement& branch, const std::set<int>& live_behind);
    void write_loop(const Statement& loop, const std::set<int>& live_behind);
    bool write_counted(const Statement& loop, const std::set<int>& live_behind);
    int counter_of(const Statement& loop) const;
    void write_while(const Statement& loop, const std::set<int>& live_behind);
    void write_element(const Statement& statement);
    void allocate(const Statement& statement);
    void declare(int array);
    void free_arrays(const Block& home);
    void append(const Statement& statement);
    void take(const Statement& statement);
    void fill(int array, const std::string& memory);
    void expect(const Statement& statement);
    void leave(const Statement& statement);

    // The memory of an array and where in it an element is: "%x[%i, %j] : memref<?x?xf64>".
    std::string element(const Statement& statement, ValuesText& values);
    std::string extents_for(const ir::procedure::ArrayVariable& array, ValuesText& values);

    // What a region gives of the places that it changes, as operands with their types.
    std::vector<int> carried(const std::set<int>& written, const std::set<int>& live) const;
    std::string now(int place);
    std::string type_of(int place) const;
    std::string name_of(int place) const;
    void become(int place, const std::string& name);
    std::vector<std::string> all_now(const std::vector<int>& places);
    std::string types_of(const std::vector<int>& places) const;
    void yield(const std::vector<int>& places);
    std::vector<std::string> fresh_for(const std::vector<int>& places);

    const ir::procedure::ArrayVariable& array_of(int number) const {
        return procedure_.arrays[static_cast<size_t>(number)];
    }
    ir::DType dtype_of(int variable) const {
        return procedure_.variables[static_cast<size_t>(variable)].dtype;
    }
    std::string& memory(int array) { return state_.memory[static_cast<size_t>(array)]; }
    std::string& count(int array) { return state_.counts[static_cast<size_t>(array)]; }

    const ir::procedure::Procedure& procedure_;
    const Places places_;
    const std::map<int, const Block*> homes_;
    const c_family::Naturals naturals_;
    FunctionText out_;
    Helpers& helpers_;
    State state_;
};

}  // namespace composit::mlir

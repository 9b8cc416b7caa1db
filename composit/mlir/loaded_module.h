// Programs of StableHLO as functions of tensors: read from a text, called with tensors,
// differentiated, compiled (docs/decisions/0063-stablehlo-in.md).
//
//   const mlir::LoadedModule model = mlir::load("model.mlir");
//   const Tensor scores = model({images})[0];
//   const execute::Compiled fast = model.compile();
#pragma once

#include "composit/execute/execute.h"
#include "composit/ir/node.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace composit::mlir {

class LoadedModule {
  public:
    // A tensor that a function takes or gives.
    struct Value {
        std::string name;     // an argument's as the text has it; a result's, if it says one
        ir::TensorType type;  // -1: a length that the text leaves open ("?"), and a call decides
    };
    struct Function {
        std::string name;
        bool is_public = true;
        std::vector<Value> inputs, outputs;
    };

    // What is `text`'s. The functions in its order; tensors of tuples stand in a row.
    explicit LoadedModule(std::string text);

    [[nodiscard]] const std::string& name() const;
    [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }
    // The function @main, or the only public one. ValueError where there is none.
    [[nodiscard]] bool has_main() const;
    [[nodiscard]] const Function& main() const;
    [[nodiscard]] const Function& function(std::string_view name) const;  // KeyError: unknown
    // The operations of all functions, in the order of the text, with those of regions.
    [[nodiscard]] std::vector<std::string> operations() const;
    // How many numbers its constants hold, of those that have several ones.
    [[nodiscard]] int64_t constant_numbers() const;

    // What a function gives for these inputs; main where no name is given. TypeError, and
    // ValueError, for inputs that do not fit, naming them; what an operation refuses has its line
    // and column in the text. Loops whose condition depends on a placeholder, unless they count,
    // are NotSupported.
    [[nodiscard]] std::vector<ir::Tensor> operator()(const std::vector<ir::Tensor>& inputs) const;
    [[nodiscard]] std::vector<ir::Tensor> call(std::string_view function,
                                               const std::vector<ir::Tensor>& inputs) const;

    // A placeholder for each input of a function, of which errors speak as `called`. ValueError
    // where one has an open length.
    [[nodiscard]] std::vector<ir::Tensor> placeholders(std::string_view function,
                                                       std::string_view called) const;

    // A program of main, ready to be called or exported. ValueError where its inputs have open
    // lengths.
    [[nodiscard]] execute::Compiled compile(const execute::Options& options = {}) const;

  private:
    struct Content;
    [[nodiscard]] const Function* found_main(size_t& count) const;  // how many are public
    [[nodiscard]] std::vector<ir::Tensor> made(const Function& function,
                                               const std::vector<ir::Tensor>& inputs) const;

    std::shared_ptr<const Content> content_;
    std::vector<Function> functions_;
};

// The program in a file of MLIR's text. FileNotFound and InputOutputError; ValueError, "mlir.load:
// line 3, column 7: …", for what is no such program; NotSupported for operations, dialects and
// types that composit does not read.
[[nodiscard]] LoadedModule load(const std::filesystem::path& path);
// The same of a text.
[[nodiscard]] LoadedModule load_text(std::string text);
// The operations that are read: "stablehlo.add", …
[[nodiscard]] std::vector<std::string> operations();

}  // namespace composit::mlir

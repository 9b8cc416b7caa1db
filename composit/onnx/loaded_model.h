// ONNX models as functions of tensors: read from a file, called with tensors, differentiated,
// compiled.
//
//   const onnx::LoadedModel model = onnx::load("digits.onnx");
//   const Tensor scores = model({images})[0].tensor();
//   const execute::Compiled fast = model.compile({images}).program;
#pragma once

#include "composit/execute/execute.h"
#include "composit/onnx/model.h"
#include "composit/onnx/value.h"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace composit::onnx {

class Program;  // builder.h

class LoadedModel {
  public:
    // NotSupported for operators, and versions of them, that composit does not build; ValueError
    // for graphs that are not in the order of their use.
    explicit LoadedModel(Model model);

    // In the order of calls: the graph's inputs that have no initializer.
    [[nodiscard]] const std::vector<ValueInfo>& inputs() const { return inputs_; }
    [[nodiscard]] const std::vector<ValueInfo>& outputs() const;
    [[nodiscard]] const Opsets& opsets() const;
    [[nodiscard]] const Model& file() const;

    // The graph's initializers of floating dtypes, in the order of the file: leaves that calls
    // without other parameters compute with.
    struct Parameter {
        std::string name;
        Tensor tensor;
    };
    [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
    // How many numbers these hold.
    [[nodiscard]] int64_t constant_numbers() const;

    // The outputs. Lengths that the model has names for are those of the inputs; a name has one
    // length in a call. `parameters` take the place of those of these names.
    // ValueError and TypeError for inputs that do not fit, naming them; what an operator refuses
    // names its node. Values that decide shapes are computed in the call: NotSupported where they
    // depend on a placeholder.
    [[nodiscard]] Values operator()(const Values& inputs,
                                    const std::map<std::string, Tensor>& parameters = {}) const;

    // The same for a program that runs many times, in which the model's constants stay: what is
    // made of them alone is computed now (execute/fold_constants.h).
    [[nodiscard]] Values with_fixed_parameters(const Values& inputs) const;

    // Which of the inputs have values that decide shapes, or what is computed, in a call with
    // these: their places. Values of tensors are not looked at unless they decide.
    [[nodiscard]] std::vector<size_t> deciding_inputs(const Values& examples) const;

    // A program for inputs of the examples' types. Inputs that decide shapes are constants in it,
    // with the values of the examples; the others are its arguments, in order.
    struct Compiled {
        execute::Compiled program;
        std::vector<size_t> fixed;  // places of the inputs that are constants
        // Of each output the strings that its integers are places in; none where it is no string.
        std::vector<std::vector<std::string>> texts;
    };
    // Outputs of strings, as labels of classes, are places in `texts`. TypeError unless inputs and
    // the other outputs are tensors.
    [[nodiscard]] Compiled compile(const std::vector<Tensor>& examples,
                                   const execute::Options& options = {}) const;

  private:
    void check(const Values& inputs) const;
    struct Traced {
        std::vector<Tensor> placeholders;  // of inputs that do not decide
        std::vector<size_t> fixed;
        Values outputs;
    };
    [[nodiscard]] Traced trace(const Values& examples) const;

    std::shared_ptr<const Program> program_;
    std::vector<ValueInfo> inputs_;
    std::vector<Parameter> parameters_;
};

// The model in a file; external data lies in the file's folder. Errors as those of read_model.
[[nodiscard]] LoadedModel load(const std::filesystem::path& path);
// The same of the file's bytes.
[[nodiscard]] LoadedModel load_bytes(std::string content, const std::filesystem::path& folder = {});

// "float32 (batch, 3, 224)", "a sequence of float32 (?, 2)"
[[nodiscard]] std::string description(const Type& type);

}  // namespace composit::onnx

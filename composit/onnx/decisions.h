// Which inputs of a model are constants of a program: those whose values decide shapes, or what is
// computed.
//
//   onnx::Decisions decisions;
//   const auto [key, free] = decisions.of(model, inputs);  // programs by `key`, called with `free`
#pragma once

#include "composit/onnx/loaded_model.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace composit::onnx {

// What is known of one model's calls. Not for several threads at once.
class Decisions {
  public:
    struct Found {
        std::string key;           // equal for inputs that one program serves
        std::vector<size_t> free;  // places of the inputs that are its arguments
    };
    // Of a call with these inputs. Tensors that decide are evaluated. Values of a decision may lead
    // to others, so that inputs of a new key are looked at again.
    [[nodiscard]] Found of(const LoadedModel& model, const Values& inputs);

  private:
    std::map<std::string, std::set<size_t>> deciding_;  // by dtypes and shapes
    std::set<std::string> known_;
};

}  // namespace composit::onnx

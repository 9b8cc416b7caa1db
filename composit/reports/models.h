// What a model from a file takes and costs: inputs to try it with, and a text about it.
//
//   const auto shapes = reports::shapes_from({"image=1,3,224,224"}, inputs);
//   const std::vector<Array> images = reports::drawn_inputs(inputs, shapes, 0);
#pragma once

#include "composit/ir/array.h"
#include "composit/ir/kernel/kernel.h"
#include "composit/numpy/random/seed_sequence.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace composit::reports {

using ir::Array;
using ir::Shape;

// What a model says of an input. Nothing in place of a length that calls decide, or of a shape
// whose rank they decide; no dtype of what is no tensor of numbers.
struct OpenInput {
    std::string name;
    std::optional<ir::DType> dtype;
    std::optional<std::vector<std::optional<int64_t>>> shape;
    std::string description;  // for errors: "float32 (batch, 3)"
};

// The lengths that texts such as "image=1,3,224" give inputs, written as Python's integers are
// ("+1, 3, 1_024"); "x=" is a shape without axes. ValueError for a text that is none, or names no
// input.
[[nodiscard]] std::map<std::string, Shape> shapes_from(const std::vector<std::string>& texts,
                                                       const std::vector<OpenInput>& inputs);

// Random values for each input, of its dtype: normal numbers, integers from 0 to 9, bools. Lengths
// that neither the model nor `shapes` says are 1. ValueError for an input that is no tensor of
// numbers, and for one of any rank that has no shape here.
[[nodiscard]] std::vector<Array> drawn_inputs(const std::vector<OpenInput>& inputs,
                                              const std::map<std::string, Shape>& shapes,
                                              const numpy::random::SeedSequence& seed);

// A model's name, what format it is of, what it takes and gives, and what it is made of.
struct Outline {
    std::string headline;                                              // "digits: opset 17"
    std::vector<std::pair<std::string, std::string>> inputs, outputs;  // names, descriptions
    std::vector<std::string> operations;                               // of its nodes, in order
    int64_t weights = 0;                                               // numbers in its constants
};
// All of that in lines, and what a program of it costs for inputs of these shapes: kernels,
// operations, bytes moved, memory.
[[nodiscard]] std::string text_about(const Outline& model,
                                     const std::vector<std::pair<std::string, Shape>>& given,
                                     const ir::kernel::Program& program);

}  // namespace composit::reports

// Weights in few bits: float32 constants that products read are stored in eight or four bits with
// scales, or as floats of 16 or eight bits, and are float32 again where a product reads them.
// Arithmetic stays float32, so all ways of running have the same bits.
//
//   nn::Quantizer quantizer({.bits = 4, .group = 32});
//   std::vector<Tensor> small = quantizer({model(x)});
//   quantizer.weights();  // what was quantised, and what it cost
#pragma once

#include "composit/ir/node.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace composit::nn {

using ir::Tensor;

struct QuantizeOptions {
    int64_t bits = 8;   // 8 or 4
    int64_t group = 0;  // neighbours along the contracted axes that share a scale; 0: all of them
    int64_t least_elements = 4096;  // smaller weights stay as they are
    // A float of 16 or eight bits: weights are rounded to it, in place of integers with scales.
    std::optional<ir::DType> dtype = {};
};

// A weight as a matrix (depth, columns): contracted axes, and the others.
struct QuantizedWeight {
    std::string name;  // the constant's; may be empty
    ir::Shape shape;   // as the product reads it
    int64_t depth = 0, columns = 0;
    int64_t bytes_before = 0, bytes_after = 0;
    double largest_error = 0;   // of an element
    double relative_error = 0;  // root of the mean square of errors by that of elements
    std::string kept_because;   // not empty: it stays float32
};

// How far outputs of the quantised model are from those of the model.
struct QuantizationError {
    double largest = 0;      // absolute
    double relative = 0;     // root of the mean square of differences by that of the outputs
    double same_argmax = 1;  // share of rows along the last axis whose largest element is the same
};

class Quantizer {
  public:
    // ValueError for bits other than 8 and 4, for a negative group, for a dtype that is no float of
    // 16 or eight bits, and for a group beside a dtype.
    explicit Quantizer(QuantizeOptions options = {});

    // The mean squares of what the products of a model multiply its weights with, added to those
    // seen before: scales are then chosen for the least error of the products, not of the weights.
    // The outputs must be known: built from arrays. Before the first call of operator().
    // ValueError after it, and for outputs that are not known.
    void observe(const std::vector<Tensor>& outputs, const std::vector<Tensor>& arguments = {});

    // The same tensors with quantised weights. `arguments`: constants that are inputs of the model,
    // and no weights. Only products (`contract`) with a float32 constant,
    // or with views of one, are changed. Calls are opened but for those with derivatives of their
    // own; bodies of loops stay as they are. A weight that occurs again, here or in a later call,
    // is quantised once.
    // ValueError, with its name, for a weight with an element that is not finite, or that
    // the dtype has no finite number for.
    std::vector<Tensor> operator()(const std::vector<Tensor>& outputs,
                                   const std::vector<Tensor>& arguments = {});

    // What a model gives for arguments.
    struct Example {
        std::vector<Tensor> outputs, arguments;
    };
    // For each output: known outputs of a model for several examples, beside those with quantised
    // weights. Equal elements, infinite ones too, have no error; a NaN or an infinity that only one
    // of both has is an infinite one. ValueError for examples of different numbers of outputs, and
    // for outputs that are not known.
    std::vector<QuantizationError> errors(const std::vector<Example>& examples);

    // The weights, what they take and what they lost, and the errors of outputs, as a table.
    std::string report(const std::vector<QuantizationError>& errors) const;

    // Every weight that was met, in that order.
    const std::vector<QuantizedWeight>& weights() const { return weights_; }

  private:
    struct Stored {
        size_t number = 0;  // among weights_
        Tensor values;      // (depth, columns), perhaps with columns behind the last
    };

    Stored stored(const Tensor& operand, const std::vector<int64_t>& contracted);
    Tensor with_decoded(const ir::Node& product, int side, const std::vector<int64_t>& contracted,
                        const Tensor& other);

    QuantizeOptions options_;
    std::map<uint64_t, Stored> known_;  // by the weight's elements
    std::map<uint64_t, std::vector<double>> squares_;
    std::vector<QuantizedWeight> weights_;
};

// The same tensors with quantised weights, once.
std::vector<Tensor> quantize(const std::vector<Tensor>& outputs, QuantizeOptions options = {});

}  // namespace composit::nn

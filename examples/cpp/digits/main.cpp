// Trains a convolutional network on handwritten digits, in C++ alone.
//
//   digits FILE [EPOCHS] [BATCH]
//
// Each line of FILE is one image: its label, then its pixels row by row, separated by commas.
// Images are square. The last fifth of the lines is kept for testing. Prints the loss and the share
// of test images recognised after every epoch.
#include "composit/composit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using composit::DType;
using composit::evaluate;
using composit::Tensor;
using composit::Tensors;
namespace cnp = composit::numpy;
namespace nn = composit::nn;

constexpr int64_t classes = 10;

struct Digits {
    std::vector<float> pixels;  // between 0 and 1
    std::vector<int64_t> labels;
    int64_t side = 0;

    int64_t count() const { return static_cast<int64_t>(labels.size()); }

    // Images `first` … `first + count - 1`: (count, 1, side, side), and their labels.
    Tensor images(int64_t first, int64_t count) const {
        const auto start = pixels.begin() + first * side * side;
        return cnp::array<float>({start, start + count * side * side}, {count, 1, side, side});
    }
    Tensor labels_of(int64_t first, int64_t count) const {
        return cnp::array<int64_t>({labels.begin() + first, labels.begin() + first + count},
                                   {count});
    }
};

Digits read(const std::string& path) {
    std::ifstream file(path);
    composit::user_check<composit::InputOutputError>(file.is_open(), "digits: cannot open ", path,
                                                     ".");
    Digits digits;
    size_t length = 0;
    for (std::string line; std::getline(file, line);) {
        std::replace(line.begin(), line.end(), ',', ' ');
        std::istringstream numbers(line);
        int64_t label = 0;
        if (!(numbers >> label)) continue;
        const size_t before = digits.pixels.size();
        for (float pixel; numbers >> pixel;) digits.pixels.push_back(pixel);
        const size_t found = digits.pixels.size() - before;
        if (length == 0) length = found;
        composit::user_check(found == length && label >= 0 && label < classes, "digits: line ",
                             digits.count() + 1, " of ", path, " has label ", label, " and ", found,
                             " pixels. A label below 10 and ", length, " pixels are required.");
        digits.labels.push_back(label);
    }
    composit::user_check(digits.count() >= 5, "digits: ", path, " has ", digits.count(),
                         " images. At least 5 are required.");
    digits.side = std::lround(std::sqrt(static_cast<double>(length)));
    composit::user_check(
        digits.side * digits.side == static_cast<int64_t>(length) && digits.side >= 4,
        "digits: images of ", length, " pixels. Squares of at least 4 by 4 are required.");
    const float brightest = *std::max_element(digits.pixels.begin(), digits.pixels.end());
    for (float& pixel : digits.pixels) pixel /= std::max(brightest, 1.0f);
    return digits;
}

// He et al. 2015: the deviation keeps the size of activations from layer to layer.
Tensor weight(cnp::RandomState& random, const composit::Shape& shape, int64_t inputs) {
    const double deviation = std::sqrt(2.0 / static_cast<double>(inputs));
    return cnp::astype(random.normal(0, deviation, shape), DType::float32);
}

Tensor bias(const composit::Shape& shape) { return cnp::zeros(shape, DType::float32); }

// Two convolutions, each with relu and pooling, and a linear layer.
Tensors initial_parameters(int64_t side) {
    cnp::RandomState random(0);
    const int64_t features = 32 * (side / 4) * (side / 4);
    return {weight(random, {16, 1, 3, 3}, 9),
            bias({16, 1, 1}),
            weight(random, {32, 16, 3, 3}, 16 * 9),
            bias({32, 1, 1}),
            weight(random, {features, classes}, features),
            bias({classes})};
}

Tensor network(const Tensors& p, const Tensor& images) {
    const nn::PoolOptions halve{.kernel_size = {2, 2}, .strides = {2, 2}};
    Tensor x = nn::relu(nn::convolution(images, p[0], {.padding = {1}}) + p[1]);
    x = nn::max_pool(x, halve);
    x = nn::relu(nn::convolution(x, p[2], {.padding = {1}}) + p[3]);
    x = nn::max_pool(x, halve);
    x = cnp::reshape(x, {images.shape()[0], -1});
    return cnp::matmul(x, p[4]) + p[5];
}

double value(const Tensor& x) {
    return *evaluate(cnp::astype(x, DType::float64)).data_as<double>();
}

// One pass over the training images; the mean loss.
double train(const Digits& digits, int64_t count, int64_t batch, const nn::Optimizer& optimizer,
             Tensors& parameters, Tensors& state) {
    double total = 0;
    int64_t steps = 0;
    for (int64_t first = 0; first + batch <= count; first += batch, ++steps) {
        const Tensor logits = network(parameters, digits.images(first, batch));
        const Tensor loss = nn::cross_entropy(logits, digits.labels_of(first, batch));
        const Tensors gradients = nn::chain_rule({{loss, loss}}, parameters);
        const nn::Updated updated = optimizer.step(parameters, gradients, state);

        // Everything so far is one graph; it runs here, and its values start the next step.
        Tensors outputs{loss};
        outputs.insert(outputs.end(), updated.parameters.begin(), updated.parameters.end());
        outputs.insert(outputs.end(), updated.state.begin(), updated.state.end());
        const std::vector<composit::Array> values = evaluate(outputs);
        total += *values[0].data_as<float>();
        for (size_t i = 0; i < parameters.size(); ++i)
            parameters[i] = cnp::asarray(values[1 + i], parameters[i].name());
        for (size_t i = 0; i < state.size(); ++i)
            state[i] = cnp::asarray(values[1 + parameters.size() + i], state[i].name());
    }
    return total / static_cast<double>(std::max<int64_t>(steps, 1));
}

// The share of these images whose greatest logit is the label's.
double accuracy(const Digits& digits, int64_t first, int64_t count, const Tensors& parameters) {
    const Tensor found = cnp::argmax(network(parameters, digits.images(first, count)), 1);
    return value(cnp::mean(cnp::equal(found, digits.labels_of(first, count))));
}

void run(const std::string& path, int64_t epochs, int64_t batch) {
    const Digits digits = read(path);
    const int64_t testing = digits.count() / 5, training = digits.count() - testing;
    batch = std::min(batch, training);
    const nn::Optimizer optimizer = nn::sgd({.learning_rate = 0.02, .momentum = 0.9});
    Tensors parameters;
    for (const composit::Array& array : evaluate(initial_parameters(digits.side)))
        parameters.push_back(cnp::asarray(array));
    Tensors state = optimizer.initial_state(parameters);
    for (int64_t epoch = 1; epoch <= epochs; ++epoch) {
        const double loss = train(digits, training, batch, optimizer, parameters, state);
        const double share = accuracy(digits, training, testing, parameters);
        std::printf("epoch %2lld: loss %.4f, accuracy %.4f\n", static_cast<long long>(epoch), loss,
                    share);
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 2 || count > 4) {
        std::cerr << "digits FILE [EPOCHS] [BATCH]\n";
        return 2;
    }
    try {
        run(arguments[1], count > 2 ? std::stoll(arguments[2]) : 10,
            count > 3 ? std::stoll(arguments[3]) : 32);
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}

// Operators on strings, which are known when a graph is built.
#include "composit/numpy/creation.h"
#include "composit/numpy/manipulation.h"
#include "composit/onnx/operators.h"
#include "composit/onnx/regular_expression.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace composit::onnx {
namespace strings {
namespace {

// The place in a tensor of each element of it broadcast to a shape.
std::vector<int64_t> broadcast_places(Call& call, const Shape& from, const Shape& to) {
    const Tensor places = numpy::reshape(numpy::arange(ir::element_count(from)), from);
    const Array values = call.known(numpy::broadcast_to(places, to));
    const auto* data = values.data_as<int64_t>();
    return {data, data + values.size()};
}

Values concat(Call& call) {
    const Strings &a = call.strings(0), &b = call.strings(1);
    Strings result{numpy::broadcast_shapes({a.shape, b.shape}), {}};
    const auto of_a = broadcast_places(call, a.shape, result.shape);
    const auto of_b = broadcast_places(call, b.shape, result.shape);
    for (size_t i = 0; i < of_a.size(); ++i)
        result.elements.push_back(a.elements[static_cast<size_t>(of_a[i])] +
                                  b.elements[static_cast<size_t>(of_b[i])]);
    return {result};
}

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Between runs of white space, as Python's split.
std::vector<std::string> words_of(const std::string& text, int64_t most) {
    std::vector<std::string> parts;
    size_t at = 0;
    for (;;) {
        while (at < text.size() && is_space(text[at])) ++at;
        if (at == text.size()) return parts;
        if (most >= 0 && static_cast<int64_t>(parts.size()) == most) {
            size_t end = text.size();
            while (end > at && is_space(text[end - 1])) --end;
            parts.push_back(text.substr(at, end - at));
            return parts;
        }
        const size_t start = at;
        while (at < text.size() && !is_space(text[at])) ++at;
        parts.push_back(text.substr(start, at - start));
    }
}

std::vector<std::string> parts_of(const std::string& text, const std::string& delimiter,
                                  int64_t most) {
    std::vector<std::string> parts;
    size_t at = 0;
    while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
        const size_t next = text.find(delimiter, at);
        if (next == std::string::npos) break;
        parts.push_back(text.substr(at, next - at));
        at = next + delimiter.size();
    }
    parts.push_back(text.substr(at));
    return parts;
}

Values split(Call& call) {
    const Strings& given = call.strings(0);
    const std::string delimiter = call.text("delimiter");
    const int64_t most = call.integer("maxsplit", -1);
    std::vector<std::vector<std::string>> all;
    std::vector<int64_t> counts;
    size_t longest = 0;
    for (const std::string& element : given.elements) {
        all.push_back(delimiter.empty() ? words_of(element, most)
                                        : parts_of(element, delimiter, most));
        counts.push_back(static_cast<int64_t>(all.back().size()));
        longest = std::max(longest, all.back().size());
    }
    Strings result{given.shape, {}};
    result.shape.push_back(static_cast<int64_t>(longest));
    for (std::vector<std::string>& parts : all) {
        parts.resize(longest);
        result.elements.insert(result.elements.end(), parts.begin(), parts.end());
    }
    return {result, numpy::array<int64_t>(counts, given.shape)};
}

std::string lowered(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

// ASCII letters change their case; others stay.
Values normalize(Call& call) {
    const Strings& given = call.strings(0);
    call.check(given.shape.size() == 1 || (given.shape.size() == 2 && given.shape[0] == 1),
               "strings of shape ", given.shape, ". (count,) or (1, count) is required.");
    const std::string action = call.text("case_change_action", "NONE");
    const bool is_exact = call.flag("is_case_sensitive");
    const auto key = [&](const std::string& text) { return is_exact ? text : lowered(text); };
    std::vector<std::string> stopwords;
    for (const std::string& word : call.texts("stopwords")) stopwords.push_back(key(word));
    Strings result{given.shape, {}};
    for (const std::string& element : given.elements) {
        if (std::count(stopwords.begin(), stopwords.end(), key(element))) continue;
        std::string text = element;
        for (char& c : text) {
            const auto letter = static_cast<unsigned char>(c);
            if (action == "LOWER") c = static_cast<char>(std::tolower(letter));
            if (action == "UPPER") c = static_cast<char>(std::toupper(letter));
        }
        result.elements.push_back(text);
    }
    if (result.elements.empty()) result.elements.emplace_back();
    result.shape.back() = static_cast<int64_t>(result.elements.size());
    return {result};
}

Values full_match(Call& call) {
    const Strings& given = call.strings(0);
    const RegularExpression pattern(call.text("pattern"));
    Array result(DType::boolean, given.shape);
    bool* out = static_cast<bool*>(result.mutable_data());
    for (size_t i = 0; i < given.elements.size(); ++i) out[i] = pattern.matches(given.elements[i]);
    return {numpy::asarray(result)};
}

// ----- n-grams: rows of tokens, which are strings or integers written out
struct Ngrams {
    std::vector<std::string> pool;
    std::vector<int64_t> counts, indexes;
    int64_t shortest = 1, longest = 1, most_skipped = 0;
};

Ngrams ngrams_of(const Call& call) {
    Ngrams ngrams;
    ngrams.pool = call.texts("pool_strings");
    for (const int64_t token : call.integers("pool_int64s"))
        ngrams.pool.push_back(std::to_string(token));
    ngrams.counts = call.integers("ngram_counts");
    ngrams.indexes = call.integers("ngram_indexes");
    ngrams.shortest = call.integer("min_gram_length");
    ngrams.longest = call.integer("max_gram_length");
    ngrams.most_skipped = call.integer("max_skip_count");
    call.check(ngrams.shortest > 0 && ngrams.longest >= ngrams.shortest &&
                   ngrams.longest <= static_cast<int64_t>(ngrams.counts.size()) &&
                   ngrams.most_skipped >= 0,
               "n-grams of ", ngrams.shortest, " to ", ngrams.longest, " with ",
               ngrams.counts.size(), " counts. A count for each length is required.");
    return ngrams;
}

// The number, among all n-grams of the pool, of each.
std::map<std::vector<std::string>, size_t> numbers_of(const Call& call, const Ngrams& ngrams) {
    std::map<std::vector<std::string>, size_t> numbers;
    size_t number = 0;
    for (size_t k = 0; k < ngrams.counts.size(); ++k) {
        const auto size = static_cast<int64_t>(ngrams.pool.size());
        const int64_t start = ngrams.counts[k];
        const int64_t stop = k + 1 < ngrams.counts.size() ? ngrams.counts[k + 1] : size;
        const auto length = static_cast<int64_t>(k + 1);
        call.check(start >= 0 && start <= stop && stop <= size && (stop - start) % length == 0,
                   "n-grams of ", length, " stand from ", start, " to ", stop, " of ", size,
                   ". Whole n-grams within the pool are required.");
        for (int64_t at = start; at < stop; at += length)
            numbers[{ngrams.pool.begin() + at, ngrams.pool.begin() + at + length}] = number++;
    }
    call.check(number == ngrams.indexes.size(), "there are ", number, " n-grams and ",
               ngrams.indexes.size(), " indexes. As many are required.");
    return numbers;
}

Values tf_idf(Call& call) {
    const Ngrams ngrams = ngrams_of(call);
    const auto numbers = numbers_of(call, ngrams);
    const std::string mode = call.text("mode");
    std::vector<double> weights = call.numbers("weights");
    if (weights.empty()) weights.assign(ngrams.indexes.size(), 1);
    call.check(weights.size() == ngrams.indexes.size(), "there are ", weights.size(),
               " weights for ", ngrams.indexes.size(), " n-grams. As many are required.");
    std::vector<std::string> tokens;
    if (call.value(0).is_strings())
        tokens = call.strings(0).elements;
    else
        for (const int64_t token : call.known_integers(0)) tokens.push_back(std::to_string(token));
    const Shape shape = call.value(0).shape();
    call.check(shape.size() == 1 || shape.size() == 2, "tokens of shape ", shape,
               ". One or two axes are required.");
    int64_t width = 0;
    for (const int64_t index : ngrams.indexes) {
        call.check(index >= 0 && index < (int64_t{1} << 24), "an index of an n-gram is ", index,
                   ". One from 0 on is required.");
        width = std::max(width, index + 1);
    }
    const int64_t rows = shape.size() == 1 ? 1 : shape[0], length = shape.back();
    std::vector<double> result(static_cast<size_t>(rows * width), 0);
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t size = ngrams.shortest; size <= ngrams.longest; ++size)
            for (int64_t step = 1; step <= (size == 1 ? 1 : ngrams.most_skipped + 1); ++step)
                for (int64_t start = 0; start + (size - 1) * step < length; ++start) {
                    std::vector<std::string> ngram;
                    for (int64_t i = 0; i < size; ++i)
                        ngram.push_back(
                            tokens[static_cast<size_t>(row * length + start + i * step)]);
                    const auto found = numbers.find(ngram);
                    if (found == numbers.end()) continue;
                    double& sum =
                        result[static_cast<size_t>(row * width + ngrams.indexes[found->second])];
                    if (mode == "TF")
                        sum += 1;
                    else if (mode == "IDF")
                        sum = weights[found->second];
                    else
                        sum += weights[found->second];
                }
    Shape whole = shape;
    whole.back() = width;
    return {numpy::array<float>({result.begin(), result.end()}, whole)};
}

}  // namespace
}  // namespace strings

void add_strings(Registry& registry) {
    using namespace strings;
    registry.add("RegexFullMatch", full_match);
    registry.add("StringConcat", concat);
    registry.add("StringNormalizer", normalize);
    registry.add("StringSplit", split);
    registry.add("TfIdfVectorizer", tf_idf);
}

}  // namespace composit::onnx

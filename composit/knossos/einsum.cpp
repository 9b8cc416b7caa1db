// einsum's subscripts, and their sums.
#include "composit/knossos/einsum.h"

#include "composit/base/text.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

namespace composit::knossos {
namespace {

constexpr const char* wanted_subscripts =
    "Subscripts that are literal are required, as \"ij,jk->ik\", and an array for each.";

struct Labels {
    std::vector<std::string> inputs;
    std::string output;
};

bool is_letter(char label) {
    return (label >= 'a' && label <= 'z') || (label >= 'A' && label <= 'Z');
}

bool are_letters(const std::string& labels) {
    return std::all_of(labels.begin(), labels.end(), is_letter);
}

// The labels of each array, and those of the result.
Labels read(const std::string& given, const std::vector<ArrayRef>& arrays) {
    std::string text = given;
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    const size_t arrow = text.find("->");
    const std::string left = text.substr(0, arrow);
    Labels made{{""}, arrow == text.npos ? "" : text.substr(arrow + 2)};
    for (const char label : left)
        if (label == ',')
            made.inputs.emplace_back();
        else
            made.inputs.back() += label;
    if (arrow == text.npos)  // the labels that stand there once, in order
        for (const char label : std::set<char>(left.begin(), left.end()))
            if (label != ',' && std::count(left.begin(), left.end(), label) == 1)
                made.output += label;
    const bool are_arrays = std::all_of(arrays.begin(), arrays.end(),
                                        [](const ArrayRef& each) { return each != nullptr; });
    if (made.inputs.size() != arrays.size() || !are_arrays)
        throw Mismatch(
            composit::text("einsum of \"", given, "\" and ", arrays.size(), " arguments"),
            wanted_subscripts);
    if (!are_letters(made.output) ||
        !std::all_of(made.inputs.begin(), made.inputs.end(), are_letters))
        throw Mismatch("einsum of \"" + given + "\"", "A letter for each axis is required.");
    for (size_t i = 0; i < arrays.size(); ++i) {
        if (made.inputs[i].size() != arrays[i]->shape.size())
            throw Mismatch(composit::text("\"", made.inputs[i], "\" of an array of ",
                                          arrays[i]->rank(), " axes"),
                           "A letter for each axis is required.");
        if (arrays[i]->kind == Kind::boolean)
            throw Mismatch("einsum of bools", "Write .astype(int).");
    }
    const std::set<char> results(made.output.begin(), made.output.end());
    const bool are_known = std::all_of(results.begin(), results.end(),
                                       [&](char label) { return left.find(label) != left.npos; });
    if (results.size() != made.output.size() || !are_known)
        throw Mismatch("einsum of \"" + given + "\"",
                       "A result whose letters stand before -> is required.");
    return made;
}

}  // namespace

Value Einsum::call(const std::string& subscripts, const std::vector<Value>& arguments) {
    std::vector<ArrayRef> arrays;
    for (const Value& each : arguments) arrays.push_back(each.array());
    const Labels labels = read(subscripts, arrays);
    std::map<char, Value> extents;
    std::string order;  // of the labels, as they are met
    for (size_t i = 0; i < arrays.size(); ++i)
        for (size_t k = 0; k < labels.inputs[i].size(); ++k) {
            const char label = labels.inputs[i][k];
            const Value& extent = arrays[i]->shape[k];
            if (extents.contains(label)) {
                integers_.require_same(extents.at(label), extent);
            } else {
                extents[label] = extent;
                order += label;
            }
        }
    Kind kind = Kind::boolean;
    for (ArrayRef& each : arrays) {
        each = elements_.read_often(each);
        kind = std::max(kind, each->kind);
    }
    std::string summed;
    std::vector<Value> shape, inner;
    for (const char label : labels.output) shape.push_back(extents.at(label));
    for (const char label : order)
        if (labels.output.find(label) == std::string::npos) {
            summed += label;
            inner.push_back(extents.at(label));
        }
    const auto at = [this, arrays, labels, summed, inner, kind](const Index& indices) -> Value {
        std::map<char, Value> places;
        for (size_t i = 0; i < indices.size(); ++i) places[labels.output[i]] = indices[i];
        const auto product = [&](const Index& own) {
            for (size_t i = 0; i < own.size(); ++i) places[summed[i]] = own[i];
            std::vector<Value> parts;
            for (size_t i = 0; i < arrays.size(); ++i) {
                Index index;
                for (const char label : labels.inputs[i]) index.push_back(places.at(label));
                parts.push_back(arrays[i]->at(index));
            }
            Value made = parts[0];
            for (size_t i = 1; i < parts.size(); ++i)
                made = code_.operators.binary("*", made, parts[i]);
            return made;
        };
        return summed.empty() ? product({}) : reductions_.fold("numpy.sum", kind, inner, product);
    };
    if (shape.empty()) return at({});
    return array(kind, std::move(shape), at, {.reads = reads_of(arrays)});
}

}  // namespace composit::knossos

// Walks a graph once, depth first, and writes down what a plan depends on.
#include "composit/execute/signature.h"

#include "composit/base/error.h"
#include "composit/base/hash.h"
#include "composit/ir/body.h"
#include "composit/ir/operation.h"

#include <bit>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

namespace composit::execute {
namespace {

using ir::Attribute;
using ir::Body;
using ir::DType;
using ir::Node;
using ir::Tensor;
using BodyRef = std::shared_ptr<const Body>;

// What is numbered: a node, or an output of a node whose value is kept.
using Key = uintptr_t;
Key key_of(const Node& node) { return reinterpret_cast<uintptr_t>(&node); }
// Addresses of nodes leave room for this many outputs; values of further ones are computed again.
constexpr int most_outputs = alignof(std::max_align_t) - 1;
Key key_of_kept(const Tensor& tensor) {
    return key_of(tensor.node()) + 1 + static_cast<uintptr_t>(tensor.output_index());
}

// A number for each key: of a few, which are looked through, without memory for each.
class Numbers {
  public:
    Numbers() { few_.reserve(most_few); }

    // Null: it has none.
    uint64_t* find(Key key) {
        for (auto& [known, number] : few_)
            if (known == key) return &number;
        if (many_.empty()) return nullptr;
        const auto found = many_.find(key);
        return found == many_.end() ? nullptr : &found->second;
    }
    void add(Key key, uint64_t number) {
        if (few_.size() < most_few)
            few_.emplace_back(key, number);
        else
            many_.emplace(key, number);
    }

  private:
    static constexpr size_t most_few = 12;
    std::vector<std::pair<Key, uint64_t>> few_;
    std::unordered_map<Key, uint64_t> many_;
};

const ir::Operation& constant_operation() {
    static const ir::Operation& operation =
        ir::constant(ir::Array::scalar(DType::boolean, 0)).node().operation();
    return operation;
}

class Walk {
  public:
    Walk(Signature& signature, size_t most_nodes) : signature_(signature), most_nodes_(most_nodes) {
        signature_.words.reserve(128);
        stack_.reserve(16);
    }

    // Numbers everything that `root` reaches: operands before users, bodies before their calls.
    void visit(const Tensor& root) {
        enter(root);
        while (!stack_.empty() && !signature_.is_cut) {
            const Node& node = *stack_.back().node;
            if (const Tensor* child = child_of(node, stack_.back().next++)) {
                enter(*child);
                continue;
            }
            stack_.pop_back();
            write(node);
            *number_.find(key_of(node)) = finished_++;
            signature_.is_cut = finished_ > most_nodes_;
        }
    }

    void write_tensor(const Tensor& tensor) {
        if (const uint64_t* number = number_.find(key_of(tensor.node())))
            word(*number << 16 | static_cast<uint64_t>(tensor.output_index()));
        else
            word(*number_.find(key_of_kept(tensor)) << 16);
    }

  private:
    static constexpr uint64_t unfinished = UINT64_MAX;

    struct Frame {
        const Node* node;
        size_t next;
    };

    void enter(const Tensor& tensor) {
        const Node& node = tensor.node();
        if (number_.find(key_of(node))) return;
        if (node.has_kept() && enter_kept(tensor)) return;
        number_.add(key_of(node), unfinished);
        stack_.push_back({&node, 0});
    }

    // A tensor whose value is kept is written as the constant of that value would be.
    bool enter_kept(const Tensor& tensor) {
        if (tensor.output_index() >= most_outputs) return false;
        if (number_.find(key_of_kept(tensor))) return true;
        ir::ConstantArray value = tensor.node().kept(tensor.output_index());
        if (!value) return false;
        word(std::bit_cast<uint64_t>(&constant_operation()));
        word(1);  // attribute, and no operand
        write_attribute("value", value, true);
        number_.add(key_of_kept(tensor), finished_++);
        signature_.leaves.push_back({&tensor.node(), tensor.output_index(), std::move(value)});
        return true;
    }

    // Operands, then the parameters and results of bodies; null after the last.
    static const Tensor* child_of(const Node& node, size_t i) {
        if (i < node.operands().size()) return &node.operands()[i];
        i -= node.operands().size();
        for (const auto& [key, value] : node.attributes().items()) {
            const BodyRef* body = std::get_if<BodyRef>(&value);
            if (!body) continue;
            for (const auto* list : {&(*body)->parameters, &(*body)->results}) {
                if (i < list->size()) return &(*list)[i];
                i -= list->size();
            }
        }
        return nullptr;
    }

    void word(uint64_t value) { signature_.words.push_back(value); }
    void bytes(const void* data, size_t count) {
        word(count);
        const size_t first = signature_.words.size();
        signature_.words.resize(first + (count + 7) / 8);
        if (count > 0) std::memcpy(&signature_.words[first], data, count);
    }

    void write(const Node& node) {
        if (node.error_handling()) signature_.reported |= node.error_handling()->reported();
        word(std::bit_cast<uint64_t>(&node.operation()));
        word(node.operands().size() << 32 | node.attributes().items().size());
        for (const Tensor& operand : node.operands()) write_tensor(operand);
        const bool is_leaf = ir::is_constant(node) || ir::is_input(node);
        if (is_leaf) signature_.leaves.push_back({&node, 0, {}});
        write_range(node);
        for (const auto& [key, value] : node.attributes().items())
            write_attribute(key, value, is_leaf);
    }

    void write_attribute(std::string_view key, const Attribute& value, bool is_leaf) {
        bytes(key.data(), key.size());
        word(value.index());
        std::visit([&](const auto& v) { write_value(v, is_leaf); }, value);
    }

    void write_value(bool v, bool) { word(v); }
    void write_value(int64_t v, bool) { word(static_cast<uint64_t>(v)); }
    void write_value(double v, bool) { word(std::bit_cast<uint64_t>(v)); }
    void write_value(const std::string& v, bool) { bytes(v.data(), v.size()); }
    void write_value(DType v, bool) { word(static_cast<uint64_t>(v)); }
    void write_value(const std::vector<int64_t>& v, bool) { bytes(v.data(), v.size() * 8); }
    void write_value(const ir::scalar::RowRef& v, bool) { word(std::bit_cast<uint64_t>(v.get())); }
    // The values of a leaf are bound at each evaluation; those of any other array are structure.
    void write_value(const ir::ConstantArray& v, bool is_leaf) {
        word(static_cast<uint64_t>(v.dtype()));
        write_value(v.shape(), is_leaf);
        if (!is_leaf) bytes(v.row_major().get(), static_cast<size_t>(v.bytes()));
    }
    // Promotion asks of a Python integer whether it fits a dtype: that much of its value is
    // structure.
    void write_range(const Node& leaf) {
        if (!ir::is_constant(leaf) || !leaf.types()[0].weak) return;
        if (leaf.types()[0].dtype != DType::int64) return;
        const int64_t value = *ir::constant_value(leaf).data_as<int64_t>();
        const int bits = std::bit_width(static_cast<uint64_t>(value < 0 ? ~value : value));
        uint64_t range = 0;
        for (int width : {7, 8, 15, 16, 31, 32}) range += bits > width;
        word(range << 1 | (value < 0));
    }
    void write_value(const BodyRef& v, bool) {
        word(v->parameters.size() << 32 | v->results.size());
        for (const Tensor& parameter : v->parameters) write_tensor(parameter);
        for (const Tensor& result : v->results) write_tensor(result);
        bytes(v->name.data(), v->name.size());
    }

    Signature& signature_;
    size_t most_nodes_;
    Numbers number_;
    std::vector<Frame> stack_;
    uint64_t finished_ = 0;
};

uint64_t hash_of(const std::vector<uint64_t>& words) {
    uint64_t h = words.size();
    for (const uint64_t word : words) {
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return mix(h);
}

}  // namespace

Signature signature_of(const std::vector<Tensor>& outputs, size_t most_nodes,
                       std::vector<uint64_t> words) {
    Signature signature;
    signature.words = std::move(words);
    signature.words.clear();
    Walk walk(signature, most_nodes);
    for (const Tensor& output : outputs) {
        walk.visit(output);
        if (signature.is_cut) return signature;
    }
    for (const Tensor& output : outputs) walk.write_tensor(output);
    signature.hash = hash_of(signature.words);
    return signature;
}

}  // namespace composit::execute

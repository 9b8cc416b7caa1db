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

// A number for each node: of a few nodes, which are looked through, without memory for each.
class Numbers {
  public:
    Numbers() { few_.reserve(most_few); }

    // Null: it has none.
    uint64_t* find(const Node* node) {
        for (auto& [known, number] : few_)
            if (known == node) return &number;
        if (many_.empty()) return nullptr;
        const auto found = many_.find(node);
        return found == many_.end() ? nullptr : &found->second;
    }
    void add(const Node* node, uint64_t number) {
        if (few_.size() < most_few)
            few_.emplace_back(node, number);
        else
            many_.emplace(node, number);
    }

  private:
    static constexpr size_t most_few = 12;
    std::vector<std::pair<const Node*, uint64_t>> few_;
    std::unordered_map<const Node*, uint64_t> many_;
};

class Walk {
  public:
    explicit Walk(Signature& signature) : signature_(signature) {
        signature_.words.reserve(128);
        stack_.reserve(16);
    }

    // Numbers everything that `root` reaches: operands before users, bodies before their calls.
    void visit(const Tensor& root) {
        enter(root);
        while (!stack_.empty()) {
            const Node& node = *stack_.back().node;
            if (const Tensor* child = child_of(node, stack_.back().next++)) {
                enter(*child);
                continue;
            }
            stack_.pop_back();
            write(node);
            *number_.find(&node) = finished_++;
        }
    }

    void write_tensor(const Tensor& tensor) {
        word(*number_.find(&tensor.node()) << 16 | static_cast<uint64_t>(tensor.output_index()));
    }

  private:
    static constexpr uint64_t unfinished = UINT64_MAX;

    struct Frame {
        const Node* node;
        size_t next;
    };

    void enter(const Tensor& tensor) {
        if (number_.find(&tensor.node())) return;
        number_.add(&tensor.node(), unfinished);
        stack_.push_back({&tensor.node(), 0});
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
        if (is_leaf) signature_.leaves.push_back(&node);
        write_range(node);
        for (const auto& [key, value] : node.attributes().items()) {
            bytes(key.data(), key.size());
            word(value.index());
            std::visit([&](const auto& v) { write_value(v, is_leaf); }, value);
        }
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
    Numbers number_;
    std::vector<Frame> stack_;
    uint64_t finished_ = 0;
};

}  // namespace

Signature signature_of(const std::vector<Tensor>& outputs) {
    Signature signature;
    Walk walk(signature);
    signature.hash = mix(outputs.size());
    for (const Tensor& output : outputs) {
        walk.visit(output);
        signature.hash =
            hash_combine(signature.hash, output.node().structural_hash() +
                                             static_cast<uint64_t>(output.output_index()));
    }
    for (const Tensor& output : outputs) walk.write_tensor(output);
    return signature;
}

}  // namespace composit::execute

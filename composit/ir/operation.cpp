#include "composit/ir/operation.h"

#include "composit/base/error.h"
#include "composit/base/hash.h"

#include <deque>
#include <mutex>
#include <unordered_map>

namespace composit::ir {
namespace {

struct Registry {
    std::mutex mutex;
    std::deque<Operation> operations;
    std::unordered_map<std::string_view, const Operation*> by_name;
};

// Never destroyed: nodes point into it until the very end of the process.
Registry& registry() {
    static auto* instance = new Registry;
    return *instance;
}

}  // namespace

const Operation& register_operation(Operation operation) {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    user_check(!r.by_name.contains(operation.name), "register_operation: '", operation.name,
               "' is registered already. Choose another name.");
    operation.hash = hash_text(operation.name);
    const Operation& stored = r.operations.emplace_back(std::move(operation));
    r.by_name.emplace(stored.name, &stored);
    return stored;
}

const Operation* find_operation(std::string_view name) {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    const auto found = r.by_name.find(name);
    return found == r.by_name.end() ? nullptr : found->second;
}

std::vector<const Operation*> all_operations() {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    std::vector<const Operation*> result;
    for (const Operation& operation : r.operations) result.push_back(&operation);
    return result;
}

namespace {

const TransformRules* rules_of(const Node& node) {
    const Operation& operation = node.operation();
    return operation.rules ? operation.rules(node) : nullptr;
}

}  // namespace

const VjpRule& vjp_of(const Node& node) {
    const TransformRules* const own = rules_of(node);
    return own ? own->vjp : node.operation().vjp;
}
const JvpRule& jvp_of(const Node& node) {
    const TransformRules* const own = rules_of(node);
    return own ? own->jvp : node.operation().jvp;
}
const BatchRule& batch_of(const Node& node) {
    const TransformRules* const own = rules_of(node);
    return own ? own->batch : node.operation().batch;
}

std::string label(const Node& node) {
    const Operation& operation = node.operation();
    return operation.label ? operation.label(node) : operation.name;
}

}  // namespace composit::ir

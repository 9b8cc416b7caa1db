// Programs of StableHLO that were read: their constants, calls, and inputs that are checked.
#include "composit/mlir/loaded_module.h"

#include "composit/base/error.h"
#include "composit/base/mapped_file.h"
#include "composit/base/text.h"
#include "composit/mlir/building.h"

#include <map>
#include <set>

namespace composit::mlir {

struct LoadedModule::Content {
    std::shared_ptr<const syntax::Module> module;
    Constants constants;
    std::vector<std::string> operations;

    // Constants' elements, and operations' names.
    void read(const syntax::Region& region) {
        for (const syntax::Operation& operation : region.operations) {
            operations.push_back(operation.name);
            if (operation.name.ends_with(".constant")) read_constant(operation);
            for (const syntax::Region& inner : operation.regions) read(inner);
        }
    }

    void read_constant(const syntax::Operation& operation) {
        const syntax::Attribute* const value = operation.find("value");
        const bool is_tensor = operation.results.size() == 1 && operation.operands.empty() &&
                               operation.results[0].kind == syntax::Type::Kind::tensor;
        user_check(value && value->literal && is_tensor,
                   "mlir.load: ", syntax::place_text(operation.place), ": ", operation.name,
                   " has no literal of a tensor, which is required (dense<…>).");
        const ValueType& type = operation.results[0].tensor;
        if (value->type)
            user_check(*value->type == operation.results[0],
                       "mlir.load: ", syntax::place_text(operation.place), ": ", operation.name,
                       " is a literal ", syntax::type_text(*value->type), ", and ", type_text(type),
                       " is written. Equal types are required.");
        constants.emplace(&operation, syntax::elements_of(*value->literal, type));
    }
};

namespace {

constexpr size_t most_bytes = size_t{1} << 32;  // of a file

// "float32[2, 4]", or with open lengths "tensor<?x4xf32>".
std::string described(const ir::TensorType& type) {
    return syntax::is_open(type.shape) ? type_text(ValueType{type.dtype, type.shape}) : text(type);
}

// "(2, ?)", as Python shows a tuple
std::string lengths_text(const ir::Shape& shape) {
    std::vector<std::string> words;
    for (const int64_t length : shape) words.push_back(length < 0 ? "?" : std::to_string(length));
    return tuple_text(words);
}

std::vector<LoadedModule::Value> values_of(const std::vector<syntax::Type>& types,
                                           const std::vector<std::string>& names,
                                           const char* missing) {
    std::vector<LoadedModule::Value> values;
    std::set<std::string> taken;
    std::map<std::string, int> next;  // number behind a name
    for (size_t i = 0; i < types.size(); ++i) {
        std::vector<ValueType> tensors;
        syntax::append_tensors(types[i], tensors);
        for (const ValueType& tensor : tensors) {
            std::string name = i < names.size() ? names[i] : "";
            if (name.empty()) name = missing + std::to_string(values.size());
            const std::string wanted = name;
            while (!taken.insert(name).second) name = wanted + "_" + std::to_string(++next[wanted]);
            values.push_back({std::move(name), {tensor.shape, tensor.dtype}});
        }
    }
    return values;
}

}  // namespace

LoadedModule::LoadedModule(std::string text) {
    const auto content = std::make_shared<Content>();
    content->module = syntax::parse(std::move(text), is_loaded);
    for (const syntax::Function& function : content->module->functions) {
        content->read(function.body);
        functions_.push_back({function.name, function.is_public,
                              values_of(function.arguments, function.argument_names, "arg"),
                              values_of(function.results, function.result_names, "result")});
    }
    content_ = content;
}

const std::string& LoadedModule::name() const { return content_->module->name; }

const LoadedModule::Function* LoadedModule::found_main(size_t& count) const {
    const Function* found = nullptr;
    for (const Function& each : functions_) {
        if (each.name == "main") return &each;
        if (!each.is_public) continue;
        found = &each;
        ++count;
    }
    return count == 1 ? found : nullptr;
}

bool LoadedModule::has_main() const {
    size_t count = 0;
    return found_main(count) != nullptr;
}

const LoadedModule::Function& LoadedModule::main() const {
    size_t count = 0;
    const Function* const found = found_main(count);
    user_check(found != nullptr, "mlir.load: the module has ", count,
               " public functions, and none of them is @main. One, or @main, is required; others "
               "are called by name (call).");
    return *found;
}

const LoadedModule::Function& LoadedModule::function(std::string_view name) const {
    for (const Function& each : functions_)
        if (each.name == name) return each;
    std::vector<std::string> known;
    for (const Function& each : functions_) known.push_back(each.name);
    fail<KeyError>("mlir.load: there is no function '", name, "'. One of ", join(known),
                   " is required.");
}

std::vector<std::string> LoadedModule::operations() const { return content_->operations; }

int64_t LoadedModule::constant_numbers() const {
    int64_t count = 0;
    for (const auto& [operation, value] : content_->constants)
        count += value.shape().empty() ? 0 : value.size();
    return count;
}

Tensors LoadedModule::made(const Function& function, const Tensors& inputs) const {
    const auto count = function.inputs.size();
    user_check<TypeError>(inputs.size() == count, "mlir: the function @", function.name,
                          " is called with ", inputs.size(), " inputs. ", count, " are required.");
    for (size_t i = 0; i < count; ++i) {
        const Value& wanted = function.inputs[i];
        const ir::TensorType given{inputs[i].shape(), inputs[i].dtype()};  // weak or not
        user_check<TypeError>(given.dtype == wanted.type.dtype, "mlir: input '", wanted.name,
                              "' is ", given, ". ", described(wanted.type), " is required.");
        user_check(syntax::fits(wanted.type.shape, given.shape), "mlir: input '", wanted.name,
                   "' is ", given, ". ", described(wanted.type), " is required.");
    }
    Building building(*content_->module, content_->constants);
    const syntax::Function& syntax = *content_->module->find(function.name);
    Tensors results = building.call(syntax, inputs);
    bool fits = results.size() == function.outputs.size();
    for (size_t i = 0; fits && i < results.size(); ++i)
        fits = results[i].dtype() == function.outputs[i].type.dtype &&
               syntax::fits(function.outputs[i].type.shape, results[i].shape());
    user_check(fits, "mlir.load: ", syntax::place_text(syntax.place), ": the function @",
               function.name,
               " returns other tensors than its type says. Equal types are "
               "required.");
    return results;
}

Tensors LoadedModule::operator()(const Tensors& inputs) const { return made(main(), inputs); }

Tensors LoadedModule::call(std::string_view name, const Tensors& inputs) const {
    return made(function(name), inputs);
}

Tensors LoadedModule::placeholders(std::string_view function, std::string_view called) const {
    Tensors made;
    for (const Value& input : this->function(function).inputs) {
        user_check(!syntax::is_open(input.type.shape), "mlir: input '", input.name, "' of ", called,
                   " is ", input.type.dtype, " ", lengths_text(input.type.shape),
                   ". Fixed lengths, or examples, are required.");
        made.push_back(ir::input(input.name, input.type.dtype, input.type.shape));
    }
    return made;
}

execute::Compiled LoadedModule::compile(const execute::Options& options) const {
    Tensors placeholders;
    for (const Value& input : main().inputs) {
        user_check(!syntax::is_open(input.type.shape), "mlir: input '", input.name, "' is ",
                   described(input.type),
                   ", whose open lengths a call decides. Fixed lengths are required here.");
        placeholders.push_back(ir::input(input.name, input.type.dtype, input.type.shape));
    }
    return {name().empty() ? "model" : name(), placeholders, (*this)(placeholders), options};
}

LoadedModule load(const std::filesystem::path& path) {
    const std::string where = "mlir.load: " + path.string() + ": ";
    return LoadedModule(read_whole_file(where, path, most_bytes));
}

LoadedModule load_text(std::string text) { return LoadedModule(std::move(text)); }

std::vector<std::string> operations() {
    std::vector<std::string> names;
    for (const auto& [name, rule] : load_rules()) names.emplace_back(name);
    return names;
}

}  // namespace composit::mlir

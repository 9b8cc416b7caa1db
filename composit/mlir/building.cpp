// The walk over operations, and what rules ask of one.
#include "composit/mlir/building.h"

#include "composit/base/errors_as.h"
#include "composit/execute/execute.h"

#include <algorithm>

namespace composit::mlir {
namespace {

constexpr int64_t most_operations = int64_t{1} << 20;  // of one call
constexpr int most_depth = 500;                        // of regions and calls, within one another
constexpr int64_t most_length = int64_t{1} << 48;      // of what attributes say

using Kind = syntax::Attribute::Kind;

std::string said_names(Site::Names names) {
    std::vector<std::string> all;
    for (const std::string_view name : names) all.emplace_back(name);
    return join(all, " or ");
}

void append_integers(const syntax::Attribute& attribute, std::string_view name, Axes& all) {
    if (attribute.kind == Kind::integer || attribute.kind == Kind::boolean) {
        user_check(attribute.integer >= -most_length && attribute.integer <= most_length, name,
                   " has the number ", attribute.integer,
                   ". Numbers that lengths can be are required.");
        all.push_back(attribute.integer);
        return;
    }
    if (attribute.kind == Kind::literal && attribute.type &&
        attribute.type->kind == syntax::Type::Kind::tensor) {
        const ValueType& type = attribute.type->tensor;
        const ir::Array made = syntax::elements_of(*attribute.literal, type);
        user_check(type.dtype == DType::int64 || type.dtype == DType::boolean, name, " is ",
                   type_text(type), ". Integers are required (i64).");
        const int64_t count = ir::element_count(type.shape);
        constexpr int64_t most = 4096;
        user_check(count <= most, name, " has ", count, " numbers. At most ", most,
                   " are required.");
        for (int64_t i = 0; i < count; ++i) {
            const int64_t at = made.size() == 1 ? 0 : i;
            const int64_t value = type.dtype == DType::int64
                                      ? made.data_as<int64_t>()[at]
                                      : static_cast<int64_t>(made.data_as<uint8_t>()[at]);
            user_check(value >= -most_length && value <= most_length, name, " has the number ",
                       value, ". Numbers that lengths can be are required.");
            all.push_back(value);
        }
        return;
    }
    user_check(attribute.kind == Kind::list, name, " is no list of integers, which is required.");
    for (const syntax::Attribute& each : attribute.list) append_integers(each, name, all);
}

}  // namespace

Axes integers_of(const syntax::Attribute& attribute, std::string_view name) {
    Axes all;
    append_integers(attribute, name, all);
    return all;
}

const LoadRules& load_rules() {
    static const LoadRules all = [] {
        LoadRules made;
        add_elementwise_loads(made);
        add_layout_loads(made);
        add_indexing_loads(made);
        add_order_loads(made);
        add_reduction_loads(made);
        add_window_loads(made);
        add_product_loads(made);
        add_control_loads(made);
        add_call_loads(made);
        add_random_loads(made);
        return made;
    }();
    return all;
}

bool syntax::is_open(const Shape& written) {
    return std::find(written.begin(), written.end(), open_length) != written.end();
}

bool syntax::fits(const Shape& written, const Shape& made) {
    return std::ranges::equal(written, made,
                              [](int64_t a, int64_t b) { return a == open_length || a == b; });
}

bool is_loaded(std::string_view operation) { return load_rules().contains(operation); }

// ----- the walk

Tensors Building::call(const syntax::Function& function, const Tensors& arguments) {
    user_check(function.has_body, "the function @", function.name,
               " has no body. One is required where it is called.");
    const auto* const function_before = function_;
    auto* const values_before = values_;
    std::vector<Tensors> values(function.values.size());
    const auto back = [&] {
        function_ = function_before;
        values_ = values_before;
    };
    function_ = &function;
    values_ = &values;
    try {
        Tensors results = run(function.body, arguments);
        back();
        return results;
    } catch (...) {
        back();
        throw;
    }
}

const syntax::Function& Building::function(std::string_view name) const {
    const syntax::Function* const found = module_.find(name);
    user_check(found != nullptr, "there is no function @", name,
               ". A function of the module is required.");
    return *found;
}

Tensors Building::run(const syntax::Region& region, const Tensors& arguments) {
    // Calls are regions, too: the stack holds both.
    user_check(depth_ < most_depth, "regions and calls stand more than ", most_depth,
               " deep within one another. Fewer, and functions that do not call themselves, are "
               "required.");
    struct Level {
        int& depth;
        explicit Level(int& counted) : depth(counted) { ++depth; }
        ~Level() { --depth; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;
    } const level(depth_);
    size_t next = 0;
    for (const uint32_t argument : region.arguments) {
        std::vector<ValueType> types;
        syntax::append_tensors(type_of(argument), types);
        Tensors& value = (*values_)[argument];
        value.clear();
        for (const ValueType& type : types) {
            user_check(next < arguments.size(), "a region takes more than ", arguments.size(),
                       " arguments, which are given. As many are required.");
            const Tensor& x = arguments[next++];
            user_check(x.dtype() == type.dtype && syntax::fits(type.shape, x.shape()),
                       "a region takes ", type_text(type), " where ", x.type(),
                       " is given. Equal types are required.");
            value.push_back(x);
        }
    }
    user_check(next == arguments.size(), "a region takes ", next, " arguments, and ",
               arguments.size(), " are given. As many are required.");
    for (const syntax::Operation& operation : region.operations) {
        Tensors operands;
        for (const uint32_t operand : operation.operands)
            operands.insert(operands.end(), (*values_)[operand].begin(), (*values_)[operand].end());
        if (&operation == &region.operations.back()) return operands;
        Tensors made = made_by(operation, operands);
        size_t part = 0;
        for (size_t i = 0; i < operation.results.size(); ++i) {
            std::vector<ValueType> types;
            syntax::append_tensors(operation.results[i], types);
            Tensors& value = (*values_)[operation.first + i];
            value.assign(made.begin() + static_cast<std::ptrdiff_t>(part),
                         made.begin() + static_cast<std::ptrdiff_t>(part + types.size()));
            part += types.size();
        }
    }
    return {};
}

Tensors Building::made_by(const syntax::Operation& operation, const Tensors& operands) {
    const ir::LocationScope scope(operation.line.empty() ? line_ : ir::intern(operation.line));
    try {
        user_check(++built_ <= most_operations, "a call has more than ", most_operations,
                   " operations. Fewer are required.");
        const Site site(*this, operation, operands);
        Tensors made = load_rules().at(operation.name)(site);
        const std::vector<ValueType> types = syntax::tensors_of(operation.results);
        user_check(made.size() == types.size(), "it gives ", made.size(), " results, and types of ",
                   types.size(), " are written. As many are required.");
        for (size_t i = 0; i < made.size(); ++i)
            user_check(
                made[i].dtype() == types[i].dtype && syntax::fits(types[i].shape, made[i].shape()),
                "it gives ", type_text(ValueType{made[i].dtype(), made[i].shape()}), ", and ",
                type_text(types[i]), " is written. Equal types are required.");
        return made;
    } catch (const Error& error) {
        if (std::string_view(error.what()).starts_with("mlir.load: ")) throw;
        rethrow_as("mlir.load: " + syntax::place_text(operation.place) + ": " + operation.name,
                   error);
    }
}

Tensor Building::factored_from(const Tensor& packed) const {
    for (const auto& [made, matrix] : factored_)
        if (made == packed) return matrix;
    return {};
}

// ----- what rules ask

void Site::check_operands(size_t count) const {
    check(x.size() == count, "it has ", x.size(), " operands. ", count, " are required.");
}

const ValueType& Site::result(size_t i) const {
    if (i == which_ && result_) return *result_;
    check(i < operation.results.size() && operation.results[i].kind == syntax::Type::Kind::tensor,
          "result ", i, " is no tensor, which is required.");
    return operation.results[i].tensor;
}

const ValueType& Site::fixed_result(size_t i) const {
    const ValueType& type = result(i);
    check<NotSupported>(!syntax::is_open(type.shape), "result ", i, " is written as ",
                        type_text(type),
                        ". Lengths that are known are required, or an operation that computes "
                        "them, as stablehlo.dynamic_broadcast_in_dim.");
    return type;
}

const syntax::Attribute* Site::find(Names names) const {
    for (const std::string_view name : names)
        if (const syntax::Attribute* const found = operation.find(name)) return found;
    return nullptr;
}

const syntax::Attribute& Site::attribute(Names names) const {
    const syntax::Attribute* const found = find(names);
    check(found != nullptr, "it has no ", said_names(names), ", which is required.");
    return *found;
}

Axes Site::integers(Names names) const { return integers_of(attribute(names), *names.begin()); }

Axes Site::integers_or(Names names, const Axes& otherwise) const {
    return find(names) ? integers(names) : otherwise;
}

int64_t Site::integer(Names names) const {
    const Axes all = integers(names);
    check(all.size() == 1, said_names(names), " has ", all.size(), " numbers. One is required.");
    return all[0];
}

int64_t Site::integer_or(Names names, int64_t otherwise) const {
    return find(names) ? integer(names) : otherwise;
}

bool Site::flag_or(Names names, bool otherwise) const {
    return find(names) ? integer(names) != 0 : otherwise;
}

std::string Site::word(Names names) const {
    const syntax::Attribute& found = attribute(names);
    check(found.kind == Kind::word || found.kind == Kind::text || found.kind == Kind::symbol,
          said_names(names), " is no word, which is required.");
    return found.text;
}

std::string Site::word_or(Names names, std::string_view otherwise) const {
    return find(names) ? word(names) : std::string(otherwise);
}

Axes Site::part(const syntax::Attribute& record, std::string_view name) const {
    check(record.kind == Kind::record,
          "its numbers of dimensions are no record, which is "
          "required (#stablehlo.…<…>).");
    const syntax::Attribute* const found = record.find(name);
    return found ? integers_of(*found, name) : Axes();
}

const Axes& Site::checked_axes(const Axes& axes, int64_t rank, std::string_view what) const {
    for (size_t i = 0; i < axes.size(); ++i) {
        check(axes[i] >= 0 && axes[i] < rank, what, " has the axis ", axes[i],
              " of a tensor of rank ", rank, ". An axis of the tensor is required.");
        check(std::find(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(i), axes[i]) ==
                  axes.begin() + static_cast<std::ptrdiff_t>(i),
              what, " has the axis ", axes[i], " twice. Different axes are required.");
    }
    return axes;
}

const Axes& Site::checked_numbers(const Axes& numbers, size_t count, int64_t least,
                                  std::string_view what) const {
    check(numbers.size() == count, what, " has ", numbers.size(), " numbers. ", count,
          " are required, one for each axis.");
    for (const int64_t number : numbers)
        check(number >= least, what, " has the number ", number, ". At least ", least,
              " is required.");
    return numbers;
}

Axes Site::numbers_of(const Tensor& operand, size_t count, std::string_view what) const {
    check<TypeError>(
        ir::is_integer(operand.dtype()) && operand.shape() == Shape{static_cast<int64_t>(count)},
        what, " are ", operand.type(), ". An integer for each of ", count, " axes is required.");
    check<NotSupported>(!operand.node().is_open(), what,
                        " depend on the values of an input. Lengths of inputs, and what is "
                        "computed of them, are required.");
    const ir::Array known = execute::evaluate_and_keep({ops::astype(operand, ir::DType::int64)})[0];
    const auto* const numbers = known.data_as<int64_t>();
    const Axes made(numbers, numbers + known.size());
    for (const int64_t number : made)
        check(number >= -most_length && number <= most_length, what, " have the number ", number,
              ". Numbers of at most ", most_length, " are required.");
    return made;
}

int64_t Site::number_of(const Tensor& operand, std::string_view what) const {
    check<TypeError>(operand.rank() == 0, what, " is ", operand.type(),
                     ". An integer without dimensions is required.");
    return numbers_of(ops::reshape(operand, {1}), 1, what)[0];
}

ValueType Site::with_lengths(ValueType type, const Tensor& lengths) const {
    if (!syntax::is_open(type.shape)) return type;
    const Shape made = numbers_of(lengths, type.shape.size(), "its lengths");
    check(std::ranges::all_of(made, [](int64_t length) { return length >= 0; }) &&
              syntax::fits(type.shape, made),
          "its lengths are ", made, ", and ", type_text(type),
          " is written. Lengths that fit are required.");
    constexpr int64_t most = std::numeric_limits<int64_t>::max() / 64;  // of bytes, as written ones
    int64_t count = 1;
    for (const int64_t length : made) {
        check<OverflowError>(length == 0 || count <= most / length, "its lengths are ", made,
                             ". At most ", most, " elements are required.");
        count *= std::max<int64_t>(1, length);
    }
    type.shape = made;
    return type;
}

const syntax::Function* Site::called(size_t i) const {
    const syntax::Attribute* const names = find({"called_computations"});
    if (names == nullptr) return nullptr;
    check(
        names->kind == Kind::list && i < names->list.size() && names->list[i].kind == Kind::symbol,
        "called_computations has no function ", i, ", which is required: [@name].");
    return &building.function(names->list[i].text);
}

std::vector<syntax::Type> Site::region_arguments(size_t i) const {
    if (const syntax::Function* const function = called(i)) return function->arguments;
    std::vector<syntax::Type> types;
    for (const uint32_t argument : region(i).arguments) types.push_back(building.type_of(argument));
    return types;
}

Tensors Site::run(size_t i, const Tensors& arguments) const {
    if (const syntax::Function* const function = called(i))
        return building.call(*function, arguments);
    return building.run(region(i), arguments);
}

const syntax::Region& Site::region(size_t i) const {
    check(i < operation.regions.size(), "it has ", operation.regions.size(), " regions. ", i + 1,
          " or more are required.");
    return operation.regions[i];
}

}  // namespace composit::mlir

// Products of int32 whose operands are bytes made wider, as products of these bytes.
#include "composit/ir/kernel/loops.h"
#include "composit/ir/operation.h"
#include "composit/transforms/product_operands.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <variant>
#include <vector>

namespace composit::transforms {

using ir::kernel::Access;
using ir::kernel::Body;
using ir::kernel::BufferKind;
using ir::kernel::ByteContract;
using ir::kernel::Contract;
using ir::kernel::Kernel;
using ir::kernel::Map;
using ir::kernel::Program;
using ir::kernel::Reduce;
using ir::kernel::Repeat;
using ir::scalar::Expr;
using ir::scalar::Op;

namespace {

bool is_byte(ir::DType dtype) { return dtype == ir::DType::int8 || dtype == ir::DType::uint8; }

// The byte that a value of int32 has been before; nothing if it was none.
std::optional<Expr> byte_of(const Expr& value) {
    if (value.dtype() != ir::DType::int32 || value.op() != Op::cast) return std::nullopt;
    const Expr before = value.operand(0);
    return is_byte(before.dtype()) ? std::optional(before) : std::nullopt;
}

// A value of int32 as a byte of that dtype; nothing where it may be another number.
std::optional<Expr> as_byte(const Expr& value, ir::DType dtype) {
    if (value.op() == Op::constant && value.dtype() == ir::DType::int32) {
        const double number = value.value();
        const double least = dtype == ir::DType::int8 ? -128 : 0;
        if (number < least || number > least + 255) return std::nullopt;
        return Expr::constant_integer(dtype, static_cast<int64_t>(number));
    }
    const auto byte = byte_of(value);
    return byte && byte->dtype() == dtype ? byte : std::nullopt;
}

// A kernel with its place in the list around it.
struct Step {
    std::vector<Kernel>* list;
    size_t place;

    Kernel& kernel() const { return (*list)[place]; }
};

class Narrower {
  public:
    Narrower(Program program, const Target& target)
        : program_(std::move(program)), target_(target) {}

    Program run() {
        find_steps(program_.kernels);
        find_products();
        if (products_.empty()) return std::move(program_);
        writers_.resize(program_.buffers.size());
        for (const Step& step : steps_)
            if (!std::holds_alternative<Repeat>(step.kernel().body))  // its kernels are steps, too
                for (const int buffer : ir::kernel::buffers_written(step.kernel()))
                    writers_[static_cast<size_t>(buffer)].push_back(&step.kernel());
        for (const auto& [buffer, dtype] : narrowed_buffers()) narrow(buffer, dtype);
        for (Product& product : products_) {
            Contract& c = std::get<Contract>(product.body);
            for (Access* operand : {&c.left, &c.right})
                if (!is_byte(operand->dtype))
                    operand->dtype = program_.buffers[buffer_of(*operand)].dtype;
            Body& body = product.step.kernel().body;
            body = ByteContract{};
            ir::kernel::put_product(body, c);
        }
        drop_unread();
        return std::move(program_);
    }

  private:
    // A product as it may become: operands that a Map only widens are read where this Map reads
    // them; the others are int32 yet.
    struct Product {
        Step step;
        Body body;
    };

    bool is_temporary(const Access& access) const {
        return access.buffer != Access::position &&
               program_.buffers[buffer_of(access)].kind == BufferKind::temporary;
    }
    static size_t buffer_of(const Access& access) { return static_cast<size_t>(access.buffer); }

    void find_steps(std::vector<Kernel>& list) {
        for (size_t place = 0; place < list.size(); ++place) {
            if (auto* repeat = std::get_if<Repeat>(&list[place].body)) find_steps(repeat->kernels);
            steps_.push_back({&list, place});
        }
    }

    void find_products() {
        for (const Step& step : steps_) {
            const auto* c = std::get_if<Contract>(&step.kernel().body);
            if (c == nullptr || !is_worth_it(*c)) continue;
            Product product{step, *c};
            // Columns fill vectors, so they should be many, and side by side in the output.
            const size_t before = c->batch.size() + c->rows.size();
            const bool has_few = ir::element_count(c->columns) < target_.least_columns &&
                                 ir::element_count(c->columns) < ir::element_count(c->rows);
            const bool lies_across = !c->columns.empty() && !c->rows.empty() &&
                                     c->output.strides.back() != 1 &&
                                     c->output.strides[before - 1] == 1;
            if (has_few || lies_across) exchange_sides(std::get<Contract>(product.body));
            for (const size_t side : {left_of_contract, right_of_contract})
                read_before_widening(product, side);
            products_.push_back(std::move(product));
        }
    }

    bool is_worth_it(const Contract& c) const {
        if (c.output.dtype != ir::DType::int32 || !c.finish.values.empty()) return false;
        if (c.left_is_packed || c.right_is_packed) return false;
        const int64_t products =
            ir::element_count(c.rows) * ir::element_count(c.columns) * ir::element_count(c.depth);
        return products >= target_.least_product;
    }

    // The operand as the Map reads it that makes it of bytes, if this Map stands before the product
    // in the same list, and nothing writes these bytes in between.
    void read_before_widening(Product& product, size_t side) {
        const Access operand = *ir::kernel::accesses(product.body)[side];
        if (!is_temporary(operand)) return;
        for (size_t place = product.step.place; place-- > 0;) {
            const Kernel& kernel = (*product.step.list)[place];
            if (!writes(kernel, operand.buffer)) continue;
            const auto* map = std::get_if<Map>(&kernel.body);
            if (map == nullptr || map->outputs.size() != 1 || map->inputs.size() != 1) return;
            const auto byte = byte_of(map->values[0]);
            const int source = map->inputs[0].buffer;
            if (!byte || byte->op() != Op::argument || source == Access::position) return;
            for (size_t next = place + 1; next < product.step.place; ++next)
                if (writes((*product.step.list)[next], source)) return;
            if (has_places_of(*map)) {
                Access& here = *ir::kernel::accesses(product.body)[side];
                here.buffer = source;
                here.dtype = byte->dtype();
                return;
            }
            Body body = product.body;
            const auto read = inputs_as_read(*map, body, side);
            if (!read) return;
            *ir::kernel::accesses(body)[side] = (*read)[0];
            product.body = std::move(body);
            return;
        }
    }

    // Whether each element has the place of the one that it is made of, and all are written.
    bool has_places_of(const Map& map) const {
        const Access &from = map.inputs[0], &to = map.outputs[0];
        return from.offset == 0 && to.offset == 0 && from.strides == to.strides &&
               ir::kernel::is_row_major(map.extents, to.strides) &&
               ir::element_count(map.extents) ==
                   ir::element_count(program_.buffers[buffer_of(to)].shape);
    }

    static bool writes(const Kernel& kernel, int buffer) {
        const std::vector<int> written = ir::kernel::buffers_written(kernel);
        return std::ranges::find(written, buffer) != written.end();
    }

    // The temporaries that hold bytes, each as an int32, for products, and the bytes' dtypes.
    // Leaves out the products with an operand that is neither among these nor read as bytes
    // already.
    std::map<size_t, ir::DType> narrowed_buffers() {
        for (;;) {
            std::map<size_t, ir::DType> found;
            read_by_others_ = {};
            std::set<const Kernel*> products;
            for (const Product& product : products_) products.insert(&product.step.kernel());
            for (const Step& step : steps_)
                if (!products.contains(&step.kernel())) note_reads(step.kernel());
            const auto stays = [&](const Product& product) {
                for (const Access* operand : operands(product)) {
                    if (is_byte(operand->dtype)) continue;
                    const size_t buffer = buffer_of(*operand);
                    const auto dtype = is_temporary(*operand) ? dtype_of(buffer) : std::nullopt;
                    if (!dtype) return false;
                    found.emplace(buffer, *dtype);
                }
                return true;
            };
            if (std::erase_if(products_, [&](const Product& p) { return !stays(p); }) == 0)
                return found;
        }
    }

    static std::vector<const Access*> operands(const Product& product) {
        const auto& c = std::get<Contract>(product.body);
        return {&c.left, &c.right};
    }

    // Maps and reductions may read bytes as well: they make them wider themselves.
    void note_reads(const Kernel& kernel) {
        if (std::holds_alternative<Repeat>(kernel.body) ||
            std::holds_alternative<Map>(kernel.body) || std::holds_alternative<Reduce>(kernel.body))
            return;
        for (const int buffer : ir::kernel::buffers_read(kernel))
            read_by_others_.insert(static_cast<size_t>(buffer));
    }

    // The dtype of bytes that a temporary of int32 may have; nothing where others than products,
    // Maps and reductions read it, or others than Maps of bytes and of constants write it.
    std::optional<ir::DType> dtype_of(size_t buffer) const {
        if (read_by_others_.contains(buffer)) return std::nullopt;
        for (const ir::DType dtype : {ir::DType::uint8, ir::DType::int8})
            if (holds_only(buffer, dtype)) return dtype;
        return std::nullopt;
    }

    bool holds_only(size_t buffer, ir::DType dtype) const {
        const std::vector<const Kernel*>& writers = writers_[buffer];
        return !writers.empty() && std::ranges::all_of(writers, [&](const Kernel* kernel) {
            const auto* map = std::get_if<Map>(&kernel->body);
            if (map == nullptr) return false;
            for (size_t j = 0; j < map->outputs.size(); ++j)
                if (buffer_of(map->outputs[j]) == buffer && !as_byte(map->values[j], dtype))
                    return false;
            return true;
        });
    }

    void narrow(size_t buffer, ir::DType dtype) {
        for (const Step& step : steps_) {
            if (auto* reduce = std::get_if<Reduce>(&step.kernel().body)) {
                std::vector<Expr> values = {reduce->value};
                widen_where_read(reduce->inputs, values, buffer, dtype);
                reduce->value = values[0];
            }
            auto* map = std::get_if<Map>(&step.kernel().body);
            if (map == nullptr) continue;
            for (size_t j = 0; j < map->outputs.size(); ++j) {
                if (buffer_of(map->outputs[j]) != buffer) continue;
                map->values[j] = *as_byte(map->values[j], dtype);
                map->outputs[j].dtype = dtype;
            }
            widen_where_read(map->inputs, map->values, buffer, dtype);
        }
        program_.buffers[buffer].dtype = dtype;
        program_.buffers[buffer].bytes = ir::element_count(program_.buffers[buffer].shape);
    }

    // Values of inputs of int32, of which those from a buffer are bytes from now on.
    static void widen_where_read(std::vector<Access>& inputs, std::vector<Expr>& values,
                                 size_t buffer, ir::DType dtype) {
        std::vector<Expr> arguments;
        bool is_read = false;
        for (size_t k = 0; k < inputs.size(); ++k) {
            const bool is_byte =
                inputs[k].buffer != Access::position && buffer_of(inputs[k]) == buffer;
            if (is_byte) inputs[k].dtype = dtype;
            is_read |= is_byte;
            const Expr argument = Expr::argument(static_cast<int>(k), inputs[k].dtype);
            arguments.push_back(is_byte ? Expr::cast(argument, ir::DType::int32) : argument);
        }
        if (is_read) values = ir::scalar::substitute(values, arguments);
    }

    // Maps whose result nobody reads any more.
    void drop_unread() {
        std::vector<bool> is_read(program_.buffers.size(), false);
        for (size_t b = 0; b < is_read.size(); ++b)
            is_read[b] = program_.buffers[b].kind != BufferKind::temporary;
        for (const Kernel& kernel : program_.kernels)
            for (const int buffer : ir::kernel::buffers_read(kernel))
                is_read[static_cast<size_t>(buffer)] = true;
        erase_unread(program_.kernels, is_read);
        program_ = without_unused_buffers(std::move(program_));
    }

    static void erase_unread(std::vector<Kernel>& list, const std::vector<bool>& is_read) {
        for (Kernel& kernel : list)
            if (auto* repeat = std::get_if<Repeat>(&kernel.body))
                erase_unread(repeat->kernels, is_read);
        std::erase_if(list, [&](const Kernel& kernel) {
            const auto* map = std::get_if<Map>(&kernel.body);
            return map != nullptr && std::ranges::none_of(map->outputs, [&](const Access& output) {
                       return is_read[buffer_of(output)];
                   });
        });
    }

    Program program_;
    const Target& target_;
    std::vector<Step> steps_;
    std::vector<Product> products_;
    std::vector<std::vector<const Kernel*>> writers_;  // of each buffer
    std::set<size_t> read_by_others_;                  // than products
};

}  // namespace

Program narrow_products(Program program, const Target& target) {
    return Narrower(std::move(program), target).run();
}

}  // namespace composit::transforms

// Compiles a graph with a schema, and keeps what there is to see of it.
#include "composit/mosaic/program.h"

#include "composit/base/error.h"
#include "composit/execute/signature.h"
#include "composit/ir/body.h"
#include "composit/ir/operation.h"
#include "composit/mosaic/place.h"
#include "composit/transforms/tile.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace composit::mosaic {
namespace {

using ir::kernel::Buffer;
using ir::kernel::BufferKind;

std::vector<Tensor> placeholders_of(const std::vector<Tensor>& outputs) {
    std::vector<Tensor> found;
    for (const ir::Node* node : ir::topological_order(outputs))
        if (ir::is_input(*node)) found.emplace_back(Ref<ir::Node>(node), 0);
    return found;
}

execute::Options options_of(const Options& options) {
    execute::Options made;
    made.backend = options.target;
    made.threads = options.threads;
    made.fuse = options.fuse;
    made.reuse_buffers = options.reuse_buffers;
    made.cache_folder = options.cache_folder;
    made.whole_model = options.whole_model;
    made.placement = options.placement;
    if (!options.devices.empty()) {
        std::vector<std::string> all{options.target};
        all.insert(all.end(), options.devices.begin(), options.devices.end());
        made.choose_placement = [all, threads = options.threads](const ir::kernel::Program& p) {
            return mosaic::choose_placement(p, all, threads);
        };
    }
    return made;
}

std::shared_ptr<const transforms::Pipeline> with_tiles(
    std::function<ir::kernel::Program(ir::kernel::Program, const std::vector<Tensor>&)> apply) {
    return std::make_shared<const transforms::Pipeline>(
        transforms::standard_pipeline().with(transforms::ProgramPass{"tile", std::move(apply)}));
}

// The number of the buffer that the schema's entry is about.
int buffer_of(const Schema::Entry& entry, const ir::kernel::Program& program,
              const std::vector<Tensor>& inputs) {
    if (entry.tensor)
        for (size_t i = 0; i < inputs.size(); ++i)
            if (inputs[i] == entry.tensor) return program.inputs[i];
    const ir::Node* node = entry.tensor ? &entry.tensor.node() : nullptr;
    const ir::ConstantArray constant =
        node && ir::is_constant(*node) ? ir::constant_array(*node) : ir::ConstantArray();
    std::vector<std::string> names;
    for (size_t b = 0; b < program.buffers.size(); ++b) {
        const Buffer& buffer = program.buffers[b];
        if (!is_leaf(buffer)) continue;
        if (constant ? buffer.kind == BufferKind::constant && buffer.value == constant
                     : !entry.tensor && buffer.name == entry.name)
            return static_cast<int>(b);
        names.push_back(buffer.name);
    }
    fail<KeyError>("mosaic: the schema has tiles for '", entry.name,
                   "', which is not among the inputs and constants that the outputs reach: ",
                   join(names), ". One of these is required.");
}

std::vector<std::pair<int, TileView>> given_by(const Schema& schema,
                                               const ir::kernel::Program& program,
                                               const std::vector<Tensor>& inputs) {
    std::vector<std::pair<int, TileView>> given;
    for (const Schema::Entry& entry : schema.entries())
        if (!entry.view.empty()) given.emplace_back(buffer_of(entry, program, inputs), entry.view);
    return given;
}

// The program in tiles of a schema that goes by names.
ir::kernel::Program tiled(ir::kernel::Program program, const Schema& schema, bool fuse) {
    const auto views = transforms::propagate_tiles(program, given_by(schema, program, {}));
    return transforms::apply_tiles(std::move(program), views, fuse);
}

Schema schema_for(const ir::kernel::Program& program, const Options& options) {
    if (options.schema) return *options.schema;
    return choose_schema(program, this_machine(options.target, options.threads), options.fuse);
}

}  // namespace

Program::Program(std::vector<Tensor> outputs, Options options) : options_(std::move(options)) {
    user_check(!outputs.empty(), "mosaic.compile: no outputs. At least one tensor is required.");
    if (options_.inputs.empty()) options_.inputs = placeholders_of(outputs);
    execute::Options how = options_of(options_);
    how.pipeline =
        with_tiles([this](const ir::kernel::Program& program, const std::vector<Tensor>& inputs) {
            return tile(program, inputs);
        });
    compiled_ = std::make_shared<execute::Compiled>(options_.name, options_.inputs,
                                                    std::move(outputs), how);
    // For the same structure with other values; by names, as its leaves are other nodes.
    execute_options_ = options_of(options_);
    execute_options_.pipeline =
        with_tiles([schema = *options_.schema, fuse = options_.fuse](ir::kernel::Program program,
                                                                     const std::vector<Tensor>&) {
            return tiled(std::move(program), schema, fuse);
        });
    list_kernels();
    list_buffers();
}

ir::kernel::Program Program::tile(const ir::kernel::Program& program,
                                  const std::vector<Tensor>& inputs) {
    const auto given = given_by(schema_for(program, options_), program, inputs);
    const auto views = transforms::propagate_tiles(program, given);
    Schema named;
    for (size_t b = 0; b < program.buffers.size(); ++b) {
        const Buffer& buffer = program.buffers[b];
        tiles_.push_back({buffer.name, buffer.kind, buffer.dtype, buffer.shape, views[b]});
        if (is_leaf(buffer)) named.tile(buffer.name, views[b]);
    }
    options_.schema = named;
    return transforms::apply_tiles(program, views, options_.fuse);
}

void Program::list_kernels() {
    const auto whole = std::make_shared<const ir::kernel::Program>(
        transforms::without_packs(compiled_->program()));
    const auto operand = [&](int number) {
        const Buffer& buffer = whole->buffers[static_cast<size_t>(number)];
        return Kernel::Operand{buffer.name, buffer.dtype, buffer.shape};
    };
    std::vector<OuterBuffers> outer = outer_buffers(*whole);
    for (size_t k = 0; k < whole->kernels.size(); ++k) {
        Kernel made;
        made.kernel_ = &whole->kernels[k];
        made.whole_ = whole;
        made.options_ = compiled_->options();
        made.options_.pipeline = nullptr;
        made.outer_ = std::move(outer[k]);
        for (int number : made.outer_.read) made.inputs_.push_back(operand(number));
        for (int number : made.outer_.written) made.outputs_.push_back(operand(number));
        kernels_.push_back(std::move(made));
    }
}

void Program::list_buffers() {
    const ir::kernel::Program& program = compiled_->program();
    for (const Buffer& buffer : program.buffers)
        buffers_.push_back({buffer.name, buffer.kind, buffer.dtype, buffer.shape, buffer.bytes,
                            buffer.kind == BufferKind::temporary ? buffer.arena_offset : -1});
    for (size_t k = 0; k < program.kernels.size(); ++k)
        for (const auto& numbers : {ir::kernel::buffers_read(program.kernels[k]),
                                    ir::kernel::buffers_written(program.kernels[k])})
            for (int number : numbers) {
                PlannedBuffer& buffer = buffers_[static_cast<size_t>(number)];
                if (buffer.first < 0) buffer.first = static_cast<int>(k);
                buffer.last = static_cast<int>(k);
            }
}

std::vector<PlannedBuffer> Program::buffers() const {
    std::vector<PlannedBuffer> found = buffers_;
    for (size_t b = 0; b < found.size(); ++b)
        found[b].is_in_memory = compiled_->program().buffers[b].is_in_memory();
    return found;
}

Memory Program::memory() const {
    Memory memory;
    memory.arena = compiled_->program().arena_bytes;
    const int64_t working = compiled_->executable().working_bytes(compiled_->options().threads);
    memory.scratch = std::max<int64_t>(0, working - memory.arena);
    for (const PlannedBuffer& buffer : buffers()) {
        if (!buffer.is_in_memory) continue;
        if (buffer.kind == BufferKind::input) memory.inputs += buffer.bytes;
        if (buffer.kind == BufferKind::output) memory.outputs += buffer.bytes;
        if (buffer.kind == BufferKind::constant) memory.constants += buffer.bytes;
        if (buffer.kind == BufferKind::packed) memory.packed += buffer.bytes;
    }
    return memory;
}

std::vector<Array> Program::operator()(const std::vector<Array>& arguments) const {
    return (*compiled_)(arguments);
}

std::vector<Array> Program::evaluate(const std::vector<std::pair<Tensor, Array>>& values) const {
    std::vector<Tensor> from, to;
    std::vector<Array> arguments(inputs().size());
    size_t bound = 0;
    bool are_placeholders = true;
    for (const auto& [tensor, value] : values) {
        user_check<KeyError>(ir::is_input(tensor.node()) || ir::is_constant(tensor.node()),
                             "evaluate: '", tensor.name(), "' is the result of ",
                             ir::label(tensor.node()),
                             ". A placeholder or a constant of the graph is required.");
        const auto place = std::find(inputs().begin(), inputs().end(), tensor);
        are_placeholders = are_placeholders && place != inputs().end();
        if (place != inputs().end()) {
            Array& argument = arguments[static_cast<size_t>(place - inputs().begin())];
            bound += argument.data() == nullptr ? 1 : 0;
            argument = value;
        }
        from.push_back(tensor);
        to.push_back(ir::constant(value, tensor.name()));
    }
    if (are_placeholders && bound == inputs().size()) return (*this)(arguments);
    const auto nodes = ir::topological_order(outputs());
    for (const Tensor& tensor : from)
        user_check<KeyError>(std::find(nodes.begin(), nodes.end(), &tensor.node()) != nodes.end(),
                             "evaluate: '", tensor.name(),
                             "' is not reached by the outputs. A leaf of the graph is required.");
    return execute::evaluate(ir::substitute(outputs(), from, to), execute_options_);
}

std::vector<Array> Program::evaluate(const std::vector<Tensor>& given) const {
    user_check(execute::signature_of(given).words == execute::signature_of(outputs()).words,
               "evaluate: the tensors have another structure than those that were compiled. Equal "
               "operations, shapes, dtypes and sharing are required.");
    return execute::evaluate(given, execute_options_);
}

namespace {

// One pipeline for each way to tile, so that execute's plans are found again.
class Pipelines {
  public:
    std::shared_ptr<const transforms::Pipeline> of(const Options& options) {
        const std::string text = options.schema ? options.schema->print() : "chosen";
        const std::string key = composit::text(options.fuse, options.target, options.threads, text);
        const std::lock_guard lock(mutex_);
        auto& found = made_[key];
        if (!found)
            found = with_tiles([options](ir::kernel::Program program, const std::vector<Tensor>&) {
                const Schema schema = schema_for(program, options);
                return tiled(std::move(program), schema, options.fuse);
            });
        return found;
    }

  private:
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<const transforms::Pipeline>> made_;
};

}  // namespace

std::vector<Array> evaluate(const std::vector<Tensor>& outputs, const Options& options) {
    static Pipelines& pipelines = *new Pipelines;
    execute::Options how = options_of(options);
    how.pipeline = pipelines.of(options);
    return execute::evaluate(outputs, how);
}

}  // namespace composit::mosaic

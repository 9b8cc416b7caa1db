// mosaic: a graph mapped to a back end in the open. Tiles, kernels, buffers, sources and times of
// the program can be looked at, and each kernel called on its own.
//
//   mosaic::Schema schema;
//   schema.tile(x, {{"l2", {64, 64}}, {"register", {16, 16}}});
//   mosaic::Program program({y}, {.schema = schema});
//   Array value = program({x_value})[0];
#pragma once

#include "composit/execute/execute.h"
#include "composit/mosaic/machine.h"
#include "composit/mosaic/schema.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace composit::mosaic {

using ir::Array;

struct Options {
    std::optional<Schema> schema;  // none: choose_schema's
    std::string target = "cpp";    // a back end's name
    bool reuse_buffers = true;     // temporaries whose lives do not overlap share memory
    bool fuse = true;              // false: a kernel for each operation, tilize and untilize ones
    bool whole_model = true;       // one generated function calls all kernels
    int threads = 0;               // 0: the default
    std::string cache_folder;      // empty: the default
    std::vector<Tensor> inputs;  // placeholders in calling order; empty: as the outputs reach them
    std::string name = "model";
    // Kernels that run elsewhere than on the target. Or devices besides it: choose_placement places
    // the kernels on all of them.
    execute::Placement placement = {};
    std::vector<std::string> devices = {};
};

// A tensor of the program, as it is stored.
struct TiledTensor {
    std::string name;
    ir::kernel::BufferKind kind;
    ir::DType dtype;
    ir::Shape shape;
    TileView view;  // empty: whole
};

// A buffer and when it is in use: from the first kernel that writes or reads it to the last.
struct PlannedBuffer {
    std::string name;
    ir::kernel::BufferKind kind;
    ir::DType dtype;
    ir::Shape shape;
    int64_t bytes = 0, offset = -1;  // offset in the arena; -1: memory of its own
    int first = -1, last = -1;       // numbers of kernels; -1: unused
    bool is_in_memory = true;        // a constant is not when its packed copy took its place
};

// What a call of the program takes, in bytes; known before the first.
struct Memory {
    int64_t arena = 0;    // temporaries
    int64_t scratch = 0;  // of kernels, for all threads
    int64_t outputs = 0;
    int64_t packed = 0;     // copies of constants in the order in which products read them
    int64_t constants = 0;  // as they were given, without those whose copies took their place
    int64_t inputs = 0;
    // Of which a call allocates: arena, scratch and outputs. Packed ones live with the program.
    int64_t peak() const { return arena + scratch + outputs + packed; }
};

// What a kernel takes and gives when it is called alone: buffer numbers. What it goes on from and
// writes is both: a loop's state, or a buffer of which other kernels wrote parts before it. `begun`
// are those it is the first of several to write.
struct OuterBuffers {
    std::vector<int> read, written, begun;
};
std::vector<OuterBuffers> outer_buffers(const ir::kernel::Program& program);  // of each kernel

// One kernel of a program, which can be called alone.
class Kernel {
  public:
    Kernel();
    struct Operand {
        std::string name;
        ir::DType dtype;
        ir::Shape shape;  // of the memory: tiles have more dimensions than tensors
    };

    const std::string& name() const { return kernel_->name; }
    std::string kind() const { return std::string(ir::kernel::kind_name(*kernel_)); }
    const std::string& comment() const { return kernel_->comment; }  // in the user's words
    const std::vector<std::string>& lines() const { return kernel_->lines; }
    const std::vector<Operand>& inputs() const { return inputs_; }
    const std::vector<Operand>& outputs() const { return outputs_; }
    std::string print() const;  // the loops
    // Generated text of this kernel alone; it is compiled at the first use of this or of a call.
    std::string source() const;
    // ValueError or TypeError when count, shape or dtype do not fit. Where the kernel writes a part
    // of a buffer the rest is what it was given, or zeros when the kernel is the first to write it.
    std::vector<Array> operator()(const std::vector<Array>& arguments) const;

  private:
    friend class Program;
    struct Alone;  // compiled
    const ir::kernel::Kernel* kernel_ = nullptr;
    std::shared_ptr<const ir::kernel::Program> whole_;
    execute::Options options_;
    OuterBuffers outer_;
    std::vector<Operand> inputs_, outputs_;
    std::shared_ptr<Alone> alone_;
};

class Program {
  public:
    // ValueError when the schema is impossible: it names tensor, dimension and reason.
    Program(std::vector<Tensor> outputs, Options options = {});

    const Options& options() const { return options_; }
    const Schema& schema() const { return *options_.schema; }  // by name, also when chosen
    const std::vector<TiledTensor>& tiles() const { return tiles_; }
    const std::vector<Kernel>& kernels() const { return kernels_; }  // without packing
    std::vector<runtime::SourceFile> sources() const { return compiled_->executable().sources(); }
    std::vector<PlannedBuffer> buffers() const;  // as they are at the moment
    Memory memory() const;
    std::string buffer_table() const { return compiled_->plan(); }
    // The arena as a picture, SVG: offset upwards, kernels to the right.
    std::string buffer_picture() const;

    // For arrays, one for each of inputs(), in order.
    std::vector<Array> operator()(const std::vector<Array>& arguments) const;
    // For values of placeholders, or of constants in place of their own. KeyError for what is no
    // leaf of the graph. When constants are among them the program is compiled once more, for
    // constants that change, which therefore are not packed.
    std::vector<Array> evaluate(const std::vector<std::pair<Tensor, Array>>& values) const;
    // For tensors of the same structure as those that were compiled (a training step made anew):
    // their leaves' values. ValueError when the structure differs.
    std::vector<Array> evaluate(const std::vector<Tensor>& outputs) const;

    // Each kernel's work, its limit on this machine (roofline), and, with arguments, the shortest
    // of some measured times.
    struct Explained {
        std::string name, kind;
        Roofline limit;
        double seconds = -1;  // -1: not measured
    };
    std::vector<Explained> explain(const std::vector<Array>* arguments = nullptr,
                                   int runs = 5) const;

    const std::vector<Tensor>& inputs() const { return compiled_->inputs(); }
    const std::vector<Tensor>& outputs() const { return compiled_->outputs(); }
    const execute::Compiled& compiled() const { return *compiled_; }

  private:
    ir::kernel::Program tile(const ir::kernel::Program& program, const std::vector<Tensor>& inputs);
    void list_kernels();
    void list_buffers();

    Options options_;
    execute::Options execute_options_;  // for tensors that are made anew
    std::vector<TiledTensor> tiles_;
    std::vector<Kernel> kernels_;
    std::vector<PlannedBuffer> buffers_;
    std::shared_ptr<execute::Compiled> compiled_;
};

// Work, limits and times of kernels as a table with their totals, a line each; shares of the limit
// where all were measured.
[[nodiscard]] std::string table(const std::vector<Program::Explained>& kernels);

// Whether a schema may give the buffer tiles: an input or a constant.
bool is_leaf(const ir::kernel::Buffer& buffer);

// The tiles that a program runs fastest with, by the sum of its kernels' rooflines: of no tiles and
// of square ones from the width of a vector to what the level-1 cache holds. `program` before
// schedules.
Schema choose_schema(const ir::kernel::Program& program, const Machine& machine, bool fuse);

// The values of the tensors, by a program that is made once for each structure: what
// nn::optimize takes in place of evaluate.
std::vector<Array> evaluate(const std::vector<Tensor>& outputs, const Options& options = {});

}  // namespace composit::mosaic

// Reductions. Where rounding, or the sign of a zero, depends on the order of elements, that is what
// the kernel language says: 32 lanes within blocks of 4096.
#include "composit/backends/c_family/combining.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"
#include "composit/exporters/plain/kernel_text.h"

namespace composit::plain {
namespace {

using c_family::Combining;
using c_family::LoopNest;
using ir::kernel::Access;
using ir::kernel::Combiner;
using ir::kernel::Extents;
using ir::kernel::Reduce;

constexpr int64_t lane_count = 32, elements_of_block = 4096;

// The loops around in the order of the output's memory, and those within as few as they can be.
struct ReduceLoops {
    Extents kept, ordered, all;
    std::vector<Access> inputs;
    Access output;

    explicit ReduceLoops(const Reduce& reduce) {
        const size_t outer = reduce.kept.size();
        LoopNest around{reduce.kept, {reduce.output}}, inside{reduce.reduced, {}};
        for (const Access& input : reduce.inputs) {
            around.accesses.push_back(part_of(input, 0, outer));
            inside.accesses.push_back(part_of(input, outer, reduce.reduced.size()));
        }
        around = in_memory_order(around, 0);
        inside = c_family::merge_loops(std::move(inside));
        kept = around.extents;
        ordered = inside.extents;
        all = ir::kernel::concatenate({kept, ordered});
        output = around.accesses[0];
        for (size_t k = 0; k < reduce.inputs.size(); ++k) {
            inputs.push_back(around.accesses[k + 1]);
            const auto& strides = inside.accesses[k].strides;
            inputs.back().strides.insert(inputs.back().strides.end(), strides.begin(),
                                         strides.end());
        }
    }

    std::vector<ir::kernel::AccessInLoops> accesses() const {
        std::vector<ir::kernel::AccessInLoops> result;
        for (const Access& input : inputs) result.push_back({input, all});
        result.push_back({output, kept});
        return result;
    }
};

class ReducePrinter {
  public:
    ReducePrinter(const Printing& printing, const Reduce& reduce)
        : reduce_(reduce),
          loops_(reduce),
          text_(printing.begin(loops_.accesses())),
          count_(ir::element_count(loops_.ordered)),
          dtype_(reduce.value.dtype()),
          type_(c_family::type_name(dtype_)),
          suffix_(composit::text("_", dtype_)) {}

    KernelText print() {
        kept_ = text_.claim_indices(loops_.kept.size(), "ijklmn");
        ordered_ = text_.claim_indices(loops_.ordered.size(), "rstuvw");
        text_.open(text_.headers(kept_, loops_.kept));
        const bool is_any = reduce_.combiner == Combiner::any || reduce_.combiner == Combiner::all;
        if (ir::is_floating(dtype_) && !is_any && !ir::kernel::finds_position(reduce_.combiner))
            print_in_lanes();
        else
            print_along();
        text_.close(loops_.kept.size());
        return std::move(text_);
    }

  private:
    c_family::Lines& code() { return text_.code; }
    std::string result() const { return text_.element(loops_.output, loops_.kept, kept_); }

    c_family::ComputedValues value(const std::vector<std::string>& ordered) const {
        std::vector<std::string> indices = kept_;
        indices.insert(indices.end(), ordered.begin(), ordered.end());
        return text_.compute({reduce_.value}, loops_.inputs, loops_.all, indices);
    }

    // One element after the other.
    void print_along() {
        const Combining c(text_.spelling(), reduce_.combiner, dtype_, text_.index(), 0);
        const auto state = c.claim(text_.names);
        for (const std::string& line : c.declare(state)) code().add(line);
        if (count_ > 0) {
            text_.open(text_.headers(ordered_, loops_.ordered));
            const auto computed = value(ordered_);
            for (const std::string& line : computed.lines) code().add(line);
            const std::string place = flat(ordered_);
            for (const std::string& line : c.add(state, computed.results[0], place, computed.names))
                code().add(line);
            text_.close(loops_.ordered.size());
        }
        const std::string type = c_family::type_name(loops_.output.dtype);
        const std::string found = c.result(state);
        const std::string from = c.finds_position() ? c.position_type() : c.type();
        code().add(result() + " = " +
                   (type == from ? found : converted(text_.language(), type, found)) + ";");
    }

    std::string flat(const std::vector<std::string>& ordered) const {
        Access access;
        access.strides = ir::row_major_strides(loops_.ordered);
        return c_family::address_text(access, ordered);
    }

    // ----- lanes

    std::string name() const { return std::string(ir::kernel::name(reduce_.combiner)); }
    // What changes no value that it is combined with.
    std::string nothing() const {
        const Combining c(text_.spelling(), reduce_.combiner, dtype_, "", 0);
        const std::string line = c.declare({"x", ""})[0];  // "float x = -0.0f;"
        const size_t begin = line.find("= ") + 2;
        return line.substr(begin, line.size() - 1 - begin);
    }
    std::string combine(const std::string& state, const std::string& value) const {
        switch (reduce_.combiner) {
            case Combiner::sum: return state + " += " + value + ";";
            case Combiner::product: return state + " *= " + value + ";";
            case Combiner::maximum:
                return composit::text(state, " = larger", suffix_, "(", state, ", ", value, ");");
            default:
                return composit::text(state, " = smaller", suffix_, "(", state, ", ", value, ");");
        }
    }

    void print_in_lanes() {
        if (count_ == 0) {
            code().add(result() + (reduce_.combiner == Combiner::sum ? " = 0;" : " = 1;"));
        } else if (count_ <= lane_count) {
            print_few();
        } else if (count_ <= elements_of_block) {
            const std::string lanes = declare_lanes();
            print_block(lanes, "0", composit::text(count_), count_);
            code().add(composit::text(result(), " = ", name(), "_of_lanes", suffix_, "(", lanes,
                                      ", ", lane_count, ");"));
        } else {
            print_blocks();
        }
    }

    // A lane has one element.
    void print_few() {
        if (count_ == 1) {
            const auto computed = value(std::vector<std::string>(ordered_.size(), "0"));
            for (const std::string& line : computed.lines) code().add(line);
            code().add(result() + " = " + computed.results[0] + ";");
            return;
        }
        const std::string values = text_.names.claim("values");
        code().add(composit::text(type_, " ", values, "[", count_, "];"));
        const auto computed = value(ordered_);
        std::vector<std::string> body = computed.lines;
        body.push_back(
            composit::text(values, "[", flat(ordered_), "] = ", computed.results[0], ";"));
        code().nest(text_.headers(ordered_, loops_.ordered), body);
        code().add(composit::text(result(), " = ", name(), "_of_lanes", suffix_, "(", values, ", ",
                                  count_, ");"));
    }

    std::string declare_lanes() {
        const std::string lanes = text_.names.claim("lanes");
        code().add(composit::text(type_, " ", lanes, "[", lane_count, "];"));
        const std::string lane = text_.names.claim("lane");
        lane_ = lane;
        code().nest({text_.header(lane, lane_count)},
                    {composit::text(lanes, "[", lane, "] = ", nothing(), ";")});
        return lanes;
    }

    // Elements `begin` to `end` of all, combined into the lanes. `count`: how many these are at
    // most; `begin` is a multiple of 32.
    void print_block(const std::string& lanes, const std::string& begin, const std::string& end,
                     int64_t count) {
        if (loops_.ordered.size() == 1) {
            const std::string first = ordered_[0];
            const bool is_even = count_ % lane_count == 0;
            const std::string inner =
                is_even ? text_.header(lane_, lane_count)
                        : composit::text("for (", text_.index(), " ", lane_, " = 0; ", lane_, " < ",
                                         lane_count, " && ", first, " + ", lane_, " < ", end,
                                         "; ++", lane_, ")");
            const auto computed = value({"(" + first + " + " + lane_ + ")"});
            std::vector<std::string> body = computed.lines;
            body.push_back(combine(lanes + "[" + lane_ + "]", computed.results[0]));
            code().nest({text_.header(first, begin, end, lane_count), inner}, body);
        } else if (count == count_) {
            const auto computed = value(ordered_);
            std::vector<std::string> body = computed.lines;
            body.push_back(combine(lanes + "[(" + flat(ordered_) + ") % 32]", computed.results[0]));
            code().nest(text_.headers(ordered_, loops_.ordered), body);
        } else {
            const std::string e = text_.names.claim("e");
            code().open(text_.header(e, begin, end));
            code().add(text_.taken_apart(e, ordered_, loops_.ordered));
            const auto computed = value(ordered_);
            for (const std::string& line : computed.lines) code().add(line);
            code().add(combine(lanes + "[" + e + " % 32]", computed.results[0]));
            code().close();
        }
    }

    void print_blocks() {
        const int64_t count = (count_ + elements_of_block - 1) / elements_of_block;
        const std::string blocks = text_.names.claim("blocks"), block = text_.names.claim("block");
        code().add(composit::text(type_, " ", blocks, "[", count, "];"));
        code().open(text_.header(block, count));
        const std::string begin = text_.names.claim("begin");
        code().add(composit::text("const ", text_.index(), " ", begin, " = ", block, " * ",
                                  elements_of_block, ";"));
        std::string end = begin + composit::text(" + ", elements_of_block);
        if (count_ % elements_of_block != 0) {
            const std::string name = text_.names.claim("end");
            code().add(composit::text("const ", text_.index(), " ", name, " = ", end, " < ", count_,
                                      " ? ", end, " : ", count_, ";"));
            end = name;
        }
        const std::string lanes = declare_lanes();
        print_block(lanes, begin, end, elements_of_block);
        code().add(composit::text(blocks, "[", block, "] = ", name(), "_of_lanes", suffix_, "(",
                                  lanes, ", ", lane_count, ");"));
        code().close();
        code().add(composit::text(result(), " = ", name(), "_of_blocks", suffix_, "(", blocks, ", ",
                                  count, ");"));
    }

    const Reduce& reduce_;
    ReduceLoops loops_;
    KernelText text_;
    int64_t count_;
    ir::DType dtype_;
    std::string type_, suffix_, lane_;
    std::vector<std::string> kept_, ordered_;
};

}  // namespace

MaybeText print_body(const Printing& printing, const Reduce& reduce) {
    if (ir::element_count(reduce.kept) == 0) return {};
    return ReducePrinter(printing, reduce).print();
}

}  // namespace composit::plain

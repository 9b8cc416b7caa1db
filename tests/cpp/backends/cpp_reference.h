// What kernels mean, spelled out: one element at a time, in the order that kernel.h gives.
#pragma once

#include "composit/runtime/foreign.h"
#include "composit/runtime/procedure_call.h"
#include "tests/cpp/backends/cpp_programs.h"

#include <map>

namespace composit::tests {

using ir::scalar::Bits;

class Reference {
  public:
    Reference(const Program& program, const std::vector<Array>& inputs) : program_(program) {
        for (const auto& buffer : program.buffers)
            memory_.emplace_back(static_cast<size_t>(std::max<int64_t>(buffer.bytes, 1)));
        // Temporaries that share a place in the arena share nothing here: kernels must not notice.
        for (size_t k = 0; k < inputs.size(); ++k) fill(program.inputs[k], inputs[k]);
        for (size_t b = 0; b < program.buffers.size(); ++b)
            if (program.buffers[b].value)
                fill(static_cast<int>(b), program.buffers[b].value.value());
    }

    std::vector<Array> run() {
        for (const Kernel& kernel : program_.kernels)
            std::visit([&](const auto& body) { run_body(body); }, kernel.body);
        std::vector<Array> outputs;
        for (int number : program_.outputs) {
            const auto& buffer = program_.buffers[static_cast<size_t>(number)];
            Array output(buffer.dtype, buffer.shape);
            std::memcpy(output.mutable_data(), memory_[static_cast<size_t>(number)].data(),
                        static_cast<size_t>(output.bytes()));
            outputs.push_back(output);
        }
        return outputs;
    }

  private:
    using Index = std::vector<int64_t>;

    void fill(int number, const Array& value) {
        std::memcpy(memory_[static_cast<size_t>(number)].data(), value.data(),
                    static_cast<size_t>(value.bytes()));
    }

    template <class Visit>
    static void each(const Extents& extents, const Visit& visit) {
        int64_t count = ir::element_count(extents);
        for (int64_t flat = 0; flat < count; ++flat) {
            Index index(extents.size());
            int64_t rest = flat;
            for (size_t d = extents.size(); d-- > 0; rest /= extents[d])
                index[d] = rest % extents[d];
            visit(index);
        }
    }
    static Index join(std::initializer_list<Index> parts) { return ir::kernel::concatenate(parts); }
    static int64_t address(const Access& access, const Index& index) {
        int64_t at = access.offset;
        for (size_t d = 0; d < index.size(); ++d) at += access.strides.at(d) * index[d];
        return at;
    }
    char* place(const Access& access, const Index& index, int64_t more = 0) {
        int64_t at = address(access, index) + more;
        return memory_[static_cast<size_t>(access.buffer)].data() + at * ir::size_of(access.dtype);
    }
    Bits load(const Access& access, const Index& index, int64_t more = 0) {
        if (access.buffer == Access::position)
            return {static_cast<uint64_t>(address(access, index)), 0};
        Bits bits{};
        std::memcpy(bits.data(), place(access, index, more),
                    static_cast<size_t>(ir::size_of(access.dtype)));
        return bits;
    }
    void store(const Access& access, const Index& index, Bits bits, int64_t more = 0) {
        std::memcpy(place(access, index, more), bits.data(),
                    static_cast<size_t>(ir::size_of(access.dtype)));
    }
    std::vector<Bits> arguments(const std::vector<Access>& inputs, const Index& index) {
        std::vector<Bits> result;
        for (const Access& input : inputs) result.push_back(load(input, index));
        return result;
    }

    static Bits value_of(ir::scalar::Op op, DType dtype, Bits a, Bits b) {
        static std::map<std::pair<ir::scalar::Op, DType>, ir::scalar::Evaluator> made;
        auto known = made.find({op, dtype});
        if (known == made.end()) {
            const Expr expr = Expr::make(op, {Expr::argument(0, dtype), Expr::argument(1, dtype)});
            known = made.emplace(std::pair{op, dtype}, ir::scalar::Evaluator({expr})).first;
        }
        return known->second({a, b})[0];
    }
    static Bits apply(ir::scalar::Op op, DType dtype, Bits a, Bits b) {
        using ir::scalar::Op;
        if (dtype == DType::boolean && op == Op::add) op = Op::bit_or;
        if (dtype == DType::boolean && op == Op::multiply) op = Op::bit_and;
        return value_of(op, dtype, a, b);
    }
    static bool holds(ir::scalar::Op op, DType dtype, Bits a, Bits b) {
        return (value_of(op, dtype, a, b)[0] & 1) != 0;
    }
    static bool is_nan(DType dtype, Bits a) {
        return holds(ir::scalar::Op::not_equal, dtype, a, a);
    }
    static Bits combine(Combiner combiner, DType dtype, Bits a, Bits b) {
        using ir::scalar::Op;
        switch (combiner) {
            case Combiner::sum: return apply(Op::add, dtype, a, b);
            case Combiner::product: return apply(Op::multiply, dtype, a, b);
            case Combiner::any: return apply(Op::bit_or, dtype, a, b);
            case Combiner::all: return apply(Op::bit_and, dtype, a, b);
            default: break;
        }
        bool wants_larger = combiner == Combiner::maximum || combiner == Combiner::argmax;
        Op op = wants_larger ? Op::greater_equal : Op::less_equal;
        if (dtype == DType::boolean) {
            return wants_larger ? apply(Op::bit_or, dtype, a, b) : apply(Op::bit_and, dtype, a, b);
        }
        return is_nan(dtype, a) || holds(op, dtype, a, b) ? a : b;
    }

    // Blocks of 4096, lanes of 32, halving, pairs of neighbours.
    static Bits reduce(Combiner combiner, DType dtype, const std::vector<Bits>& x) {
        auto op = [&](Bits a, Bits b) { return combine(combiner, dtype, a, b); };
        std::vector<Bits> blocks;
        for (size_t start = 0; start < x.size(); start += 4096) {
            size_t end = std::min(start + 4096, x.size());
            std::vector<Bits> lanes(
                x.begin() + static_cast<std::ptrdiff_t>(start),
                x.begin() + static_cast<std::ptrdiff_t>(std::min(start + 32, end)));
            for (size_t e = start + 32; e < end; ++e)
                lanes[(e - start) % 32] = op(lanes[(e - start) % 32], x[e]);
            for (size_t half = 16; half >= 1; half /= 2) {
                for (size_t j = 0; j + half < lanes.size() && j < half; ++j)
                    lanes[j] = op(lanes[j], lanes[j + half]);
                lanes.resize(std::min(lanes.size(), half));
            }
            blocks.push_back(lanes[0]);
        }
        if (blocks.empty()) {
            bool is_one = combiner == Combiner::product || combiner == Combiner::all;
            return dtype == DType::boolean ? Bits{is_one, 0} : ir::scalar::bits_of(dtype, is_one);
        }
        while (blocks.size() > 1) {
            std::vector<Bits> next;
            for (size_t i = 0; i < blocks.size(); i += 2)
                next.push_back(i + 1 < blocks.size() ? op(blocks[i], blocks[i + 1]) : blocks[i]);
            blocks = next;
        }
        return blocks[0];
    }
    static Bits position_of(Combiner combiner, DType dtype, const std::vector<Bits>& x) {
        using ir::scalar::Op;
        Op op = combiner == Combiner::argmax ? Op::greater : Op::less;
        size_t best = 0;
        for (size_t i = 1; i < x.size() && !is_nan(dtype, x[best]); ++i)
            if (is_nan(dtype, x[i]) || holds(op, dtype, x[i], x[best])) best = i;
        return {best, 0};
    }

    static Bits fused(DType dtype, Bits x, Bits y, Bits z) {
        auto value = [&](Bits bits) { return ir::scalar::value_of(dtype, bits); };
        if (dtype == DType::float64)
            return ir::scalar::bits_of(dtype, std::fma(value(x), value(y), value(z)));
        return ir::scalar::bits_of(
            dtype, std::fmaf(static_cast<float>(value(x)), static_cast<float>(value(y)),
                             static_cast<float>(value(z))));
    }

    void run_body(const ir::kernel::Map& map) {
        const ir::scalar::Evaluator values(map.values);
        each(map.extents, [&](const Index& index) {
            std::vector<Bits> results = values(arguments(map.inputs, index));
            for (size_t j = 0; j < results.size(); ++j) store(map.outputs[j], index, results[j]);
        });
    }
    void run_body(const ir::kernel::Reduce& r) {
        const ir::scalar::Evaluator value({r.value});
        each(r.kept, [&](const Index& kept) {
            std::vector<Bits> elements;
            each(r.reduced, [&](const Index& reduced) {
                elements.push_back(value(arguments(r.inputs, join({kept, reduced})))[0]);
            });
            bool by_position = r.combiner == Combiner::argmax || r.combiner == Combiner::argmin;
            DType dtype = r.value.dtype();
            store(r.output, kept,
                  by_position ? position_of(r.combiner, dtype, elements)
                              : reduce(r.combiner, dtype, elements));
        });
    }
    void run_body(const ir::kernel::Scan& scan) {
        const ir::scalar::Evaluator value({scan.value});
        Extents outer(scan.extents.begin(), scan.extents.end() - 1);
        each(outer, [&](const Index& index) {
            Bits carry{};
            for (int64_t j = 0; j < scan.extents.back(); ++j) {
                Index at = join({index, {j}});
                Bits x = value(arguments(scan.inputs, at))[0];
                carry = j == 0 ? x : combine(scan.combiner, scan.value.dtype(), carry, x);
                store(scan.output, at, carry);
            }
        });
    }
    void run_body(const ir::kernel::Contract& c) {
        using ir::scalar::Op;
        const DType dtype = c.output.dtype;
        each(ir::kernel::concatenate({c.batch, c.rows, c.columns}), [&](const Index& out) {
            auto cut = [&](size_t from, size_t count) {
                auto start = out.begin() + static_cast<std::ptrdiff_t>(from);
                return Index(start, start + static_cast<std::ptrdiff_t>(count));
            };
            Index b = cut(0, c.batch.size()), m = cut(c.batch.size(), c.rows.size());
            Index n = cut(c.batch.size() + c.rows.size(), c.columns.size());
            Bits total{}, sum{};
            int64_t k = 0;
            each(c.depth, [&](const Index& depth) {
                Bits x = c.left_is_packed ? load_packed(c.left, c.rows, m, c.depth, depth)
                                          : load(c.left, join({b, m, depth}));
                Bits y = c.right_is_packed ? load_packed(c.right, c.columns, n, c.depth, depth)
                                           : load(c.right, join({b, depth, n}));
                if (!ir::is_floating(dtype)) {
                    total = apply(Op::add, dtype, total, apply(Op::multiply, dtype, x, y));
                    return;
                }
                if (k == 256)
                    total = sum;
                else if (k % 256 == 0 && k > 0)
                    total = apply(Op::add, dtype, total, sum);
                if (k % 256 == 0) sum = Bits{};
                sum = fused(dtype, x, y, sum);
                ++k;
            });
            if (ir::is_floating(dtype)) total = k <= 256 ? sum : apply(Op::add, dtype, total, sum);
            store(c.output, out, total);
        });
        if (!c.finish.values.empty()) run_body(ir::kernel::finishing_map(c));
    }
    template <class Indexed>
    int64_t selected(const Indexed& body, const Index& outer) {
        int64_t at = 0;
        for (size_t j = 0; j < body.indices.size(); ++j) {
            auto index = static_cast<int64_t>(load(body.indices[j], outer)[0]);
            at += (index < 0 ? index + body.axis_lengths[j] : index) * body.axis_strides[j];
        }
        return at;
    }
    void run_body(const ir::kernel::Gather& g) {
        each(g.outer, [&](const Index& outer) {
            int64_t at = selected(g, outer);
            each(g.inner, [&](const Index& inner) {
                store(g.output, join({outer, inner}), load(g.data, inner, at));
            });
        });
    }
    void run_body(const ir::kernel::Scatter& s) {
        each(s.outer, [&](const Index& outer) {
            int64_t at = selected(s, outer);
            each(s.inner, [&](const Index& inner) {
                Bits update = load(s.update, join({outer, inner}));
                if (s.add)
                    update =
                        apply(ir::scalar::Op::add, s.data.dtype, load(s.data, inner, at), update);
                store(s.data, inner, update, at);
            });
        });
    }
    void run_body(const ir::kernel::Fold& f) {
        each(f.outer, [&](const Index& outer) {
            each(f.positions, [&](const Index& p) {
                Bits sum{};
                each(f.window, [&](const Index& w) {
                    Index q(p.size());
                    bool falls_on_it = true;
                    for (size_t d = 0; d < p.size(); ++d) {
                        int64_t rest = p[d] - w[d] * f.dilations[d];
                        q[d] = rest / f.steps[d];
                        falls_on_it &= rest >= 0 && rest % f.steps[d] == 0 && q[d] < f.counts[d];
                    }
                    if (falls_on_it)
                        sum = apply(ir::scalar::Op::add, f.output.dtype, sum,
                                    load(f.input, join({outer, q, w})));
                });
                store(f.output, join({outer, p}), sum);
            });
        });
    }

    static bool comes_before(DType dtype, Bits a, Bits b) {
        if (dtype == DType::boolean) return a[0] < b[0];
        return holds(ir::scalar::Op::less, dtype, a, b) ||
               (ir::is_floating(dtype) && is_nan(dtype, b) && !is_nan(dtype, a));
    }
    // Each element takes the place that as many come before.
    void run_body(const ir::kernel::Sort& s) {
        const int64_t length = s.extents.back();
        each({s.extents.begin(), s.extents.end() - 1}, [&](const Index& row) {
            std::vector<Bits> values;
            for (int64_t i = 0; i < length; ++i) values.push_back(load(s.input, join({row, {i}})));
            for (size_t i = 0; i < values.size(); ++i) {
                int64_t before = 0;
                for (size_t j = 0; j < values.size(); ++j)
                    before += comes_before(s.input.dtype, values[j], values[i]) ||
                              (j < i && !comes_before(s.input.dtype, values[i], values[j]));
                store(s.output, join({row, {before}}),
                      s.gives_values ? values[i] : Bits{static_cast<uint64_t>(i), 0});
            }
        });
    }

    void run_body(const ir::kernel::Search& s) {
        each(s.extents, [&](const Index& at) {
            const DType dtype = s.values.dtype;
            const Bits value = load(s.values, at);
            int64_t low = 0, high = s.row[0];
            while (low < high) {
                const int64_t middle = (low + high) / 2;
                const Bits element = load(s.sorted, join({at, {middle}}));
                const bool comes_first = s.is_right ? !comes_before(dtype, value, element)
                                                    : comes_before(dtype, element, value);
                if (comes_first)
                    low = middle + 1;
                else
                    high = middle;
            }
            store(s.output, at, {static_cast<uint64_t>(low), 0});
        });
    }

    // A packed operand lies row by row here, over the whole depth.
    static int64_t flat(const Extents& extents, const Index& index) {
        int64_t result = 0;
        for (size_t d = 0; d < extents.size(); ++d) result = result * extents[d] + index[d];
        return result;
    }
    Bits load_packed(const Access& access, const Extents& across, const Index& i,
                     const Extents& depth, const Index& k) {
        return load({access.buffer, access.dtype, 0, {ir::element_count(depth), 1}},
                    {flat(across, i), flat(depth, k)});
    }
    // Panels of a width that the kernel names lie as it says.
    void run_body(const ir::kernel::Pack& p) {
        const int64_t depth = ir::element_count(p.depth), width = p.panel_width;
        each(p.across, [&](const Index& i) {
            each(p.depth, [&](const Index& k) {
                const int64_t row = flat(p.across, i), at = flat(p.depth, k);
                const Bits element = load(p.from, join({i, k}));
                if (width == 0) return store(p.to, {row, at}, element);
                const Access to{p.to.buffer, p.to.dtype, 0, {width * depth, width, 1}};
                store(to, {row / width, at, row % width}, element);
            });
        });
    }
    // Each factor is computed anew for each element.
    void run_body(const ir::kernel::DecodedContract& c) {
        using ir::scalar::Op;
        const ir::scalar::Evaluator value({c.value});
        const size_t rows = c.rows.size();
        each(ir::kernel::concatenate({c.rows, c.columns}), [&](const Index& out) {
            const auto middle = out.begin() + static_cast<std::ptrdiff_t>(rows);
            const Index m(out.begin(), middle), n(middle, out.end());
            const int64_t width = ir::element_count(c.columns) / c.columns[0];
            const Index inside(n.begin() + 1, n.end());
            const Extents tile(c.columns.begin() + 1, c.columns.end());
            if (n[0] == c.columns[0] - 1 && flat(tile, inside) >= c.last_columns) return;
            Bits total{}, sum{};
            int64_t k = 0;
            each(c.depth, [&](const Index& depth) {
                if (k % 256 == 0 && k > 0)
                    total = k == 256 ? sum : apply(Op::add, DType::float32, total, sum);
                if (k % 256 == 0) sum = Bits{};
                const Bits factor = value(arguments(c.inputs, join({depth, n})))[0];
                sum = fused(DType::float32, load(c.left, join({m, depth})), factor, sum);
                ++k;
            });
            EXPECT_LE(c.last_columns, width);
            store(c.output, out, k <= 256 ? sum : apply(Op::add, DType::float32, total, sum));
        });
    }
    // A packed operand: its number across, and a position of the depth, in panels.
    Bits load_packed(const ir::kernel::ByteContract& c, const Access& operand, int64_t panel,
                     int64_t across, int64_t k) {
        constexpr int64_t fours = ir::kernel::ByteContract::together;
        const int64_t groups = ir::element_count(c.depth) / fours;
        const Access packed{
            operand.buffer, operand.dtype, 0, {panel * fours * groups, panel * fours, 1}};
        return load(packed, {across / panel, k / fours, across % panel * fours + k % fours});
    }
    void run_body(const ir::kernel::ByteContract& c) {
        using ir::kernel::ByteContract;
        const size_t b = c.batch.size(), m = c.rows.size();
        const ir::scalar::Evaluator values(c.finish.values);
        each(ir::kernel::concatenate({c.batch, c.rows, c.columns}), [&](const Index& out) {
            const auto at = [&](size_t place) {
                return out.begin() + static_cast<std::ptrdiff_t>(place);
            };
            const Index batch(out.begin(), at(b)), row(at(b), at(b + m));
            const Index column(at(b + m), out.end());
            uint32_t sum = 0;
            each(c.depth, [&](const Index& depth) {
                const auto factor = [](const Access& access, Bits bits) {
                    const auto byte = static_cast<uint8_t>(bits[0]);
                    return access.dtype == DType::int8
                               ? static_cast<uint32_t>(static_cast<int8_t>(byte))
                               : uint32_t{byte};
                };
                const int64_t k = flat(c.depth, depth);
                const Bits left =
                    c.left_is_packed
                        ? load_packed(c, c.left, ByteContract::panel_rows, flat(c.rows, row), k)
                        : load(c.left, join({batch, row, depth}));
                const Bits right = c.right_is_packed
                                       ? load_packed(c, c.right, ByteContract::panel_columns,
                                                     flat(c.columns, column), k)
                                       : load(c.right, join({batch, depth, column}));
                sum += factor(c.left, left) * factor(c.right, right);
            });
            if (c.finish.values.empty()) return store(c.output, out, {sum, 0});
            std::vector<Bits> given = arguments(c.finish.inputs, out);
            given.insert(given.begin(), Bits{sum, 0});
            const std::vector<Bits> results = values(given);
            for (size_t j = 0; j < results.size(); ++j)
                store(j == 0 ? c.output : c.finish.outputs[j - 1], out, results[j]);
        });
    }
    void run_body(const ir::kernel::Fused& f) {
        each(f.pieces, [&](const Index& piece) {
            for (ir::kernel::Member member : f.members) {
                const auto moved = ir::kernel::accesses(member.kernel.body);
                for (size_t a = 0; a < moved.size(); ++a)
                    for (size_t d = 0; d < piece.size(); ++d)
                        moved[a]->offset += member.steps[a][d] * piece[d];
                std::visit([&](const auto& body) { run_body(body); }, member.kernel.body);
            }
        });
    }
    void run_body(const ir::kernel::Repeat& r) {
        for (int64_t i = r.begin; i < r.end; ++i) {
            if (r.counter.buffer != Access::position) store(r.counter, {}, Bits{uint64_t(i), 0});
            for (const Kernel& kernel : r.kernels)
                std::visit([&](const auto& body) { run_body(body); }, kernel.body);
        }
    }

    void run_body(const ir::kernel::Foreign& f) {
        runtime::ForeignKernel(f).run(operands_of(f).data());
    }
    void run_body(const ir::kernel::Call& c) {
        runtime::ProcedureCall(c).run(operands_of(c).data(), {});
    }
    template <class Kind>
    std::vector<void*> operands_of(const Kind& kernel) {
        std::vector<void*> at;
        for (const auto* operands : {&kernel.inputs, &kernel.outputs})
            for (const auto& operand : *operands)
                at.push_back(memory_[static_cast<size_t>(operand.access.buffer)].data());
        return at;
    }

    const Program& program_;
    std::vector<std::vector<char>> memory_;
};

}  // namespace composit::tests

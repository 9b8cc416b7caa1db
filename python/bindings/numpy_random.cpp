// composit/numpy/random.h.
#include "casters.h"
#include "composit/base/error.h"
#include "composit/numpy/random.h"
#include "interpreter_lock.h"
#include "location.h"
#include "numpy.h"
#include "values.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

namespace composit::python {
namespace {

using namespace numpy::random;
using ir::DType;
using Words = std::vector<uint64_t>;
using GivenSize = std::optional<ir::Shape>;

// Where a draw takes longer than giving the interpreter's lock away and taking it back.
constexpr int64_t many = 1024;

// A bit generator of NumPy's interface that another library made, and Python's lock for it.
class ForeignGenerator : public BitGenerator {
  public:
    ForeignGenerator(nb::object capsule, const nb::object& lock)
        : capsule_(std::move(capsule)),
          acquire_(lock.attr("acquire")),
          release_(lock.attr("release")) {
        void* pointer = PyCapsule_GetPointer(capsule_.ptr(), "BitGenerator");
        if (!pointer) throw nb::python_error();
        bits_ = *static_cast<const Bits*>(pointer);
    }
    ~ForeignGenerator() override {
        const Acquired acquired;
        capsule_.reset();
        acquire_.reset();
        release_.reset();
    }
    [[nodiscard]] Words state() const override { refuse(); }
    void set_state(const Words&) override { refuse(); }
    void lock() override {
        const Acquired acquired;
        acquire_();
    }
    bool try_lock() override {
        const Acquired acquired;
        return acquire_(false).is(nb::handle(Py_True));
    }
    void unlock() override {
        const Acquired acquired;
        release_();
    }

  private:
    [[noreturn]] static void refuse() {
        fail<NotSupported>("state: the bit generator belongs to another library. Ask it.");
    }
    nb::object capsule_, acquire_, release_;
};

// The stream of the functions of numpy.random, for programs that draw from NumPy's functions, too,
// as other libraries do. They share NumPy's bit generator. The second of a pair of normal numbers
// is NumPy's to keep, so that its function makes them.
class SharedRandomState : public RandomState {
  public:
    using RandomState::RandomState;
    void run(Draw& draw) override {
        if (!draw.draws_pairs()) return RandomState::run(draw);
        const Acquired acquired;
        draw.run_elsewhere([](std::string_view name, const std::vector<ir::Array>& parameters,
                              const ir::Shape& shape) {
            const nb::object function = numpy_attribute("random").attr(std::string(name).c_str());
            nb::list arguments;  // numbers as such: NumPy takes them in half the time
            for (const ir::Array& parameter : parameters)
                arguments.append(parameter.shape().empty() && parameter.dtype() == DType::float64
                                     ? nb::object(nb::float_(*parameter.data_as<double>()))
                                     : ndarray_from(parameter));
            return array_from(function(*arguments, nb::arg("size") = tuple_from(shape)));
        });
    }
};

// The generator's lock. Who waits for it gives the interpreter's lock away: who holds it may need
// that one.
class Guarded {
  public:
    explicit Guarded(BitGenerator& bits) : bits_(bits) { acquire(bits); }
    ~Guarded() { bits_.unlock(); }
    Guarded(const Guarded&) = delete;
    static void acquire(BitGenerator& bits) {
        if (bits.try_lock()) return;
        const Released released;
        bits.lock();
    }

  private:
    BitGenerator& bits_;
};

template <class Function>
auto guarded(Stream& stream, const Function& function) {
    const Located located;
    const Guarded lock(*stream.bit_generator());
    return function();
}

Tensor drawn(Stream& stream, const Distribution& distribution, const GivenSize& size,
             const nb::args& parameters) {
    const Located located;
    std::vector<Tensor> tensors;
    tensors.reserve(parameters.size());
    for (const nb::handle parameter : parameters) tensors.push_back(tensor_from(parameter));
    Draw draw(distribution, tensors, size);
    const Guarded lock(*stream.bit_generator());
    if (draw.size() < many) {
        stream.run(draw);
    } else {
        const Released released;
        stream.run(draw);
    }
    return draw.result();
}

// Python's integers may be wider than 64 bits.
int128 wide_integer(nb::handle value) {
    int overflow = 0;
    const long long narrow = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (!overflow) {
        if (narrow == -1 && PyErr_Occurred()) throw nb::python_error();
        return narrow;
    }
    const nb::object upper = value >> nb::int_(64);
    const long long high = PyLong_AsLongLongAndOverflow(upper.ptr(), &overflow);
    constexpr int128 farthest = int128{1} << 100;
    if (overflow) return overflow > 0 ? farthest : -farthest;
    const nb::object lower = value & nb::int_(~uint64_t{0});
    return (int128{high} << 64) + static_cast<int128>(PyLong_AsUnsignedLongLong(lower.ptr()));
}

Tensor integers(Stream& stream, const std::string& function, nb::object low, nb::object high,
                const GivenSize& size, DType dtype, bool is_closed, bool is_masked) {
    const Located located;
    const Bounding bounding = is_masked ? Bounding::mask : Bounding::product;
    const bool are_scalars = PyLong_CheckExact(low.ptr()) && PyLong_CheckExact(high.ptr());
    const Tensor first = are_scalars ? Tensor() : tensor_from(low);
    const Tensor last = are_scalars ? Tensor() : tensor_from(high);
    int128 least = 0, greatest = 0;
    if (are_scalars) {
        least = wide_integer(low);
        greatest = wide_integer(high) - (is_closed ? 0 : 1);
    }
    const auto draw = [&] {
        return are_scalars
                   ? stream.between(function, least, greatest, size.value_or(ir::Shape{}), dtype,
                                    bounding)
                   : stream.between(function, first, last, is_closed, size, dtype, bounding);
    };
    const Guarded lock(*stream.bit_generator());
    ir::Array numbers;
    if (!size || ir::element_count(*size) < many) {
        numbers = draw();
    } else {
        const Released released;
        numbers = draw();
    }
    const auto shown = [](nb::handle value) {
        const bool is_short = PyLong_CheckExact(value.ptr()) && nb::len(nb::str(value)) <= 5;
        return is_short ? std::string(nb::str(value).c_str()) : "...";
    };
    std::string name = function + "(" + shown(low) + ", " + shown(high);
    if (size) name += ", " + tuple_text(*size);
    if (dtype != DType::int64) name += text(", dtype=", dtype);
    return ir::constant(std::move(numbers), name + ")");
}

nb::object raw(BitGenerator& bits, const GivenSize& size) {
    const Guarded lock(bits);
    const Bits& functions = bits.bits();
    if (!size) return nb::int_(functions.next_raw(functions.state));
    check_size("random_raw", *size);
    ir::Array words(DType::uint64, *size);
    auto* out = static_cast<uint64_t*>(words.mutable_data());
    for (int64_t i = 0; i < words.size(); ++i) out[i] = functions.next_raw(functions.state);
    return ndarray_from(std::move(words));
}

void bind_bit_generators(nb::module_& module) {
    nb::class_<BitGenerator>(module, "BitGenerator", "A stream of bits with a state.")
        .def("state", &BitGenerator::state)
        .def("set_state", &BitGenerator::set_state)
        .def("raw", raw, nb::arg("size").none())
        .def("acquire", &Guarded::acquire)
        .def("release", &BitGenerator::unlock)
        .def_prop_ro("capsule",
                     [](const BitGenerator& self) {
                         return nb::steal(PyCapsule_New(const_cast<Bits*>(&self.bits()),
                                                        "BitGenerator", nullptr));
                     })
        .def_prop_ro("addresses", [](const BitGenerator& self) {
            const Bits& bits = self.bits();
            const auto address = [](auto pointer) { return reinterpret_cast<uintptr_t>(pointer); };
            return nb::make_tuple(address(&bits), address(bits.state), address(bits.next_uint64),
                                  address(bits.next_uint32), address(bits.next_double));
        });
    nb::class_<ForeignGenerator, BitGenerator>(module, "ForeignGenerator")
        .def(nb::init<nb::object, const nb::object&>());
    nb::class_<Pcg, BitGenerator>(module, "Pcg")
        .def("advance", [](Pcg& self, uint64_t upper, uint64_t lower) {
            self.advance(uint128{upper} << 64 | lower);
        });
    nb::class_<PCG64, Pcg>(module, "PCG64").def(nb::init<const Words&>());
    nb::class_<PCG64DXSM, Pcg>(module, "PCG64DXSM").def(nb::init<const Words&>());
    nb::class_<SFC64, BitGenerator>(module, "SFC64").def(nb::init<const Words&>());
    nb::class_<Philox, BitGenerator>(module, "Philox")
        .def(nb::init<const Words&, const Words&>())
        .def("advance", [](Philox& self, const Words& blocks) {
            self.advance({blocks.at(0), blocks.at(1), blocks.at(2), blocks.at(3)});
        });
    nb::class_<MT19937, BitGenerator>(module, "MT19937")
        .def(nb::init<const std::vector<uint32_t>&>())
        .def("seed", nb::overload_cast<uint32_t>(&MT19937::seed))
        .def("seed", nb::overload_cast<const std::vector<uint32_t>&>(&MT19937::seed))
        .def("jump", &MT19937::jump, nb::call_guard<Released>());
    module.def("seed_pool",
               [](std::vector<uint32_t> entropy, std::vector<uint32_t> key, int64_t pool_size) {
                   return SeedSequence(std::move(entropy), std::move(key), pool_size).pool();
               });
    module.def("seed_words", [](std::vector<uint32_t> entropy, std::vector<uint32_t> key,
                                int64_t pool_size, int64_t words) {
        return SeedSequence(std::move(entropy), std::move(key), pool_size).generate_state(words);
    });
}

void bind_distributions(nb::module_& module) {
    nb::class_<Distribution>(module, "Distribution");
    const auto add = [&](const char* family, const Distribution& distribution, const char* name) {
        if (!nb::hasattr(module, family)) module.attr(family) = nb::dict();
        module.attr(family)[name] = nb::cast(&distribution, nb::rv_policy::reference);
    };
#define MODERN(name) add("modern", modern::name, #name)
#define LEGACY(name) add("legacy", legacy::name, #name)
#define BOTH(name) MODERN(name), LEGACY(name)
    MODERN(random_float32), MODERN(standard_normal_float32), MODERN(standard_exponential_float32);
    MODERN(standard_exponential_inv), MODERN(standard_exponential_inv_float32);
    MODERN(standard_gamma_float32), LEGACY(tomaxint);
    BOTH(random), BOTH(standard_normal), BOTH(standard_exponential), BOTH(standard_gamma);
    BOTH(beta), BOTH(chisquare), BOTH(exponential), BOTH(f), BOTH(gamma), BOTH(gumbel);
    BOTH(laplace), BOTH(logistic), BOTH(lognormal), BOTH(noncentral_chisquare);
    BOTH(noncentral_f), BOTH(normal), BOTH(pareto), BOTH(power), BOTH(rayleigh);
    BOTH(standard_cauchy), BOTH(standard_t), BOTH(triangular), BOTH(uniform), BOTH(vonmises);
    BOTH(wald), BOTH(weibull), BOTH(binomial), BOTH(geometric), BOTH(hypergeometric);
    BOTH(logseries), BOTH(negative_binomial), BOTH(poisson), BOTH(zipf);
#undef BOTH
#undef LEGACY
#undef MODERN
}

}  // namespace

void bind_numpy_random(nb::module_& module) {
    bind_bit_generators(module);
    bind_numpy_random_values(module);
    bind_distributions(module);
    nb::class_<Stream>(module, "Stream", "Draws from a bit generator.")
        .def("draw", drawn, nb::arg("distribution"), nb::arg("size").none(), nb::arg("parameters"))
        .def("integers", integers, nb::arg("function"), nb::arg("low"), nb::arg("high"),
             nb::arg("size").none(), nb::arg("dtype"), nb::arg("is_closed"), nb::arg("is_masked"))
        .def(
            "multinomial",
            [](Stream& self, const Tensor& n, const Tensor& p, const GivenSize& size) {
                return guarded(self, [&] {
                    return ir::constant(self.multinomial(n, p, size),
                                        call_text("multinomial", {n, p}, size));
                });
            },
            nb::arg("n"), nb::arg("p"), nb::arg("size").none());
    nb::class_<Generator, Stream>(module, "Generator")
        .def(nb::init<std::shared_ptr<BitGenerator>>())
        .def(
            "multivariate_hypergeometric",
            [](Generator& self, const Tensor& colors, int64_t n, const GivenSize& size,
               const std::string& method) {
                return guarded(self, [&] {
                    return self.multivariate_hypergeometric(colors, n, size, method);
                });
            },
            nb::arg("colors"), nb::arg("nsample"), nb::arg("size").none(), nb::arg("method"))
        .def(
            "dirichlet",
            [](Generator& self, const Tensor& alpha, const GivenSize& size) {
                return guarded(self, [&] { return self.dirichlet(alpha, size); });
            },
            nb::arg("alpha"), nb::arg("size").none())
        .def(
            "choice",
            [](Generator& self, int64_t population, const GivenSize& size, bool replace,
               const MaybeOperand& p, bool shuffle) {
                return guarded(self,
                               [&] { return self.choice(population, size, replace, p, shuffle); });
            },
            nb::arg("population"), nb::arg("size").none(), nb::arg("replace"), nb::arg("p").none(),
            nb::arg("shuffle"))
        .def("permutation",
             [](Generator& self, int64_t n) {
                 return guarded(self, [&] { return self.permutation(n); });
             })
        .def(
            "permuted",
            [](Generator& self, const Tensor& x, std::optional<int64_t> axis) {
                return guarded(self, [&] { return self.permuted(x, axis); });
            },
            nb::arg("x"), nb::arg("axis").none());
    nb::class_<RandomState, Stream>(module, "RandomState")
        .def(nb::init<std::shared_ptr<BitGenerator>>())
        .def("rand",
             [](RandomState& self, const ir::Shape& size) {
                 return guarded(self, [&] { return self.rand(size); });
             })
        .def("randn",
             [](RandomState& self, const ir::Shape& size) {
                 return guarded(self, [&] { return self.randn(size); });
             })
        .def(
            "dirichlet",
            [](RandomState& self, const Tensor& alpha, const GivenSize& size) {
                return guarded(self, [&] { return self.dirichlet(alpha, size); });
            },
            nb::arg("alpha"), nb::arg("size").none())
        .def(
            "choice",
            [](RandomState& self, int64_t population, const GivenSize& size, bool replace,
               const MaybeOperand& p) {
                return guarded(self, [&] { return self.choice(population, size, replace, p); });
            },
            nb::arg("population"), nb::arg("size").none(), nb::arg("replace"), nb::arg("p").none())
        .def("permutation",
             [](RandomState& self, int64_t n) {
                 return guarded(self, [&] { return self.permutation(n); });
             })
        .def("gauss",
             [](const RandomState& self) { return std::pair(self.has_gauss(), self.gauss()); })
        .def("set_gauss", &RandomState::set_gauss);
    nb::class_<SharedRandomState, RandomState>(module, "SharedRandomState")
        .def(nb::init<std::shared_ptr<BitGenerator>>());
}

}  // namespace composit::python

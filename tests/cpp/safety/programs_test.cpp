// Programs of strangers in StableHLO's text: thousands with words, numbers and lines changed are
// read and built. Nothing dies, errors are the reader's, with the place in the text, and no memory
// is taken that a text does not justify.
//
// COMPOSIT_MUTANTS is how many (1000 unless it is given), COMPOSIT_SEED the first one's.
#include "composit/base/error.h"
#include "composit/mlir/loaded_module.h"
#include "tests/cpp/safety/mutants.h"
#include "tests/cpp/safety/process.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>

namespace composit::tests {
namespace {

#if defined(__SANITIZE_ADDRESS__)  // which keeps what is freed for a while
constexpr int64_t most_memory = int64_t{1} << 30;
#else
constexpr int64_t most_memory = int64_t{256} << 20;
#endif

const std::vector<std::string>& programs() {
    static const std::vector<std::string> all = {
        R"(module @layers attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%x: tensor<2x6x6x3xf32>, %w: tensor<3x3x3x4xf32>) -> (tensor<2x36xf32>
      {jax.result_info = "a"}, tensor<2x6x6x4xf32>) {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1,
        1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<2x6x6x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x6x6x4xf32>
    %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = "stablehlo.reduce_window"(%0, %c) <{base_dilations = array<i64: 1, 1, 1, 1>, padding =
        dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides =
        array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<2x6x6x4xf32>, tensor<f32>) -> tensor<2x3x3x4xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %2 = "stablehlo.select_and_scatter"(%0, %1, %z) <{window_dimensions = array<i64: 1, 2, 2, 1>,
        window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %g = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %g : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %g = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %g : tensor<f32>
    }) : (tensor<2x6x6x4xf32>, tensor<2x3x3x4xf32>, tensor<f32>) -> tensor<2x6x6x4xf32>
    %3 = stablehlo.reshape %1 : (tensor<2x3x3x4xf32>) -> tensor<2x36xf32>
    %4 = stablehlo.pad %3, %z, low = [0, -1], high = [0, 3], interior = [0, 0] :
        (tensor<2x36xf32>, tensor<f32>) -> tensor<2x38xf32>
    %5 = stablehlo.slice %4 [0:2, 1:37] : (tensor<2x38xf32>) -> tensor<2x36xf32>
    %6 = stablehlo.dot_general %5, %5, batching_dims = [0] x [0], contracting_dims = [1] x [1] :
        (tensor<2x36xf32>, tensor<2x36xf32>) -> tensor<2xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<2xf32>) -> tensor<2x36xf32>
    %8 = chlo.erf %7 : tensor<2x36xf32> -> tensor<2x36xf32>
    return %8, %2 : tensor<2x36xf32>, tensor<2x6x6x4xf32>
  }
})",
        R"(module @orders {
  func.func public @main(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) -> (tensor<4x5xf32>,
      tensor<3x5xf32>, tensor<4x5xf32>, tensor<5xi64>, tensor<4x2xf32>) {
    %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %l = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) : (tensor<4x5xf32>) -> tensor<4x5xf32>
    %1 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
        collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
        indices_are_sorted = false, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>,
        tensor<3x1xi32>) -> tensor<3x5xf32>
    %2 = "stablehlo.scatter"(%x, %i, %1) <{scatter_dimension_numbers =
        #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.multiply %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<3x5xf32>) -> tensor<4x5xf32>
    %p = stablehlo.iota dim = 0 : tensor<4x5xi64>
    %n = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z = stablehlo.constant dense<0> : tensor<i64>
    %3:2 = stablehlo.reduce(%x init: %n), (%p init: %z) across dimensions = [0] :
        (tensor<4x5xf32>, tensor<4x5xi64>, tensor<f32>, tensor<i64>) -> (tensor<5xf32>,
        tensor<5xi64>)
     reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<i64>, %d: tensor<i64>)  {
      %g = stablehlo.compare GT, %a, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %v = stablehlo.select %g, %a, %c : tensor<i1>, tensor<f32>
      %w = stablehlo.select %g, %b, %d : tensor<i1>, tensor<i64>
      stablehlo.return %v, %w : tensor<f32>, tensor<i64>
    }
    %values, %indices = chlo.top_k(%x, k = 2) : tensor<4x5xf32> -> (tensor<4x2xf32>,
        tensor<4x2xi32>)
    %q = stablehlo.concatenate %values, %values, dim = 0 : (tensor<4x2xf32>, tensor<4x2xf32>) ->
        tensor<8x2xf32>
    %r = stablehlo.transpose %q, dims = [1, 0] : (tensor<8x2xf32>) -> tensor<2x8xf32>
    %s = stablehlo.reverse %r, dims = [0] : tensor<2x8xf32>
    return %0, %1, %2, %3#1, %values : tensor<4x5xf32>, tensor<3x5xf32>, tensor<4x5xf32>,
        tensor<5xi64>, tensor<4x2xf32>
  }
})",
        R"(#loc1 = loc("model.py":3:0)
module @control {
  func.func public @main(%x: tensor<3xf32>, %n: tensor<i32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %e = stablehlo.constant dense<5> : tensor<i32>
    %0:2 = stablehlo.while(%k = %c, %s = %x) : tensor<i32>, tensor<3xf32>
    cond {
      %l = stablehlo.compare LT, %k, %e, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    } do {
      %o = stablehlo.constant dense<1> : tensor<i32>
      %m = stablehlo.add %k, %o : tensor<i32>
      %t = func.call @twice(%s) : (tensor<3xf32>) -> tensor<3xf32>
      stablehlo.return %m, %t : tensor<i32>, tensor<3xf32>
    }
    %1 = "stablehlo.case"(%n) ({
      stablehlo.return %x : tensor<3xf32>
    }, {
      %y = stablehlo.cosine %x : tensor<3xf32>
      stablehlo.return %y : tensor<3xf32>
    }) : (tensor<i32>) -> tensor<3xf32> loc(#loc1)
    %2 = stablehlo.tuple %0#1, %1 : tuple<tensor<3xf32>, tensor<3xf32>>
    %3 = stablehlo.get_tuple_element %2[1] : (tuple<tensor<3xf32>, tensor<3xf32>>) ->
        tensor<3xf32>
    %4 = stablehlo.dynamic_slice %x, %n, sizes = [2] : (tensor<3xf32>, tensor<i32>) ->
        tensor<2xf32>
    %5 = stablehlo.dynamic_update_slice %x, %4, %n : (tensor<3xf32>, tensor<2xf32>, tensor<i32>)
        -> tensor<3xf32>
    return %3, %5 : tensor<3xf32>, tensor<3xf32>
  }
  func.func private @twice(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.add %x, %x : tensor<3xf32>
    %1 = stablehlo.composite "composit.log2" %0 {decomposition = @logarithm} : (tensor<3xf32>) ->
        tensor<3xf32>
    return %1 : tensor<3xf32>
  }
  func.func private @logarithm(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.log %x : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
})",
        R"("builtin.module"() <{sym_name = "constants"}> ({
  "func.func"() <{function_type = (tensor<2xcomplex<f32>>) -> (tensor<2xcomplex<f32>>,
      tensor<4x2xf32>, tensor<2x2xbf16>), sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2xcomplex<f32>>):
    %0 = "stablehlo.constant"() <{value = dense<[(1.0, -2.5), (0.0, 1.0e+30)]> :
        tensor<2xcomplex<f32>>}> : () -> tensor<2xcomplex<f32>>
    %1 = "stablehlo.multiply"(%0, %arg0) : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) ->
        tensor<2xcomplex<f32>>
    %2 = "stablehlo.constant"() <{value = dense<"0x0000803F000000400000404000008040"> :
        tensor<4xf32>}> : () -> tensor<4xf32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64: 0>}> :
        (tensor<4xf32>) -> tensor<4x2xf32>
    %4 = "stablehlo.constant"() <{value = dense<[[1.5, 2.0], [0x7FC0, -0.0]]> :
        tensor<2x2xbf16>}> : () -> tensor<2x2xbf16>
    %5 = "stablehlo.cholesky"(%3) <{lower = true}> : (tensor<4x2xf32>) -> tensor<4x2xf32>
    "func.return"(%1, %3, %4) : (tensor<2xcomplex<f32>>, tensor<4x2xf32>, tensor<2x2xbf16>) -> ()
  }) : () -> ()
}) : () -> ()
)",
    };
    return all;
}

// Whether a text is read and its graph is built; it is an error of the library's otherwise.
bool is_built(const std::string& content, std::string* said = nullptr) {
    try {
        const mlir::LoadedModule module = mlir::load_text(content);
        std::vector<ir::Tensor> inputs;
        for (const auto& each : module.main().inputs)
            inputs.push_back(ir::input(each.name, each.type.dtype, each.type.shape));
        (void)module(inputs);
        return true;
    } catch (const std::exception& error) {
        EXPECT_NE(dynamic_cast<const Error*>(&error), nullptr) << error.what() << "\n" << content;
        EXPECT_EQ(std::string(error.what()).find("internal error"), std::string::npos)
            << error.what() << "\n"
            << content;
        if (said) *said = error.what();
        return false;
    }
}

TEST(MutantPrograms, AreReadOrRefusedWithoutMuchMemory) {
    std::string said;
    for (size_t k = 0; k < 3; ++k) ASSERT_TRUE(is_built(programs()[k], &said)) << said;
    EXPECT_FALSE(is_built(programs()[3], &said));  // of matrices that are not square
    EXPECT_EQ(said.rfind("mlir.load: line 15, column 10: stablehlo.cholesky: ", 0), 0u) << said;
    const std::string last = testing::TempDir() + "mutant_program";
    const size_t count = from_environment("COMPOSIT_MUTANTS", 1000);
    Mutator mutator(programs(), from_environment("COMPOSIT_SEED", 1));
    const int64_t before = most_bytes_so_far();
    size_t taken = 0;
    for (size_t i = 0; i < count; ++i) {
        const std::string content = mutator.next();
        std::ofstream(last, std::ios::binary) << content;  // there if it kills the process
        taken += is_built(content) ? 1 : 0;
    }
    std::filesystem::remove(last);
    EXPECT_LT(most_bytes_so_far() - before, most_memory);
    EXPECT_GT(taken, count / 100);
    EXPECT_LT(taken, count);
    std::cout << taken << " of " << count << " mutants were taken\n";
}

TEST(MutantPrograms, EveryCutIsAnError) {
    for (const std::string& program : programs())
        for (size_t length = 0; length + 1 < program.size(); length += 7)
            EXPECT_FALSE(is_built(program.substr(0, length))) << length;
}

}  // namespace
}  // namespace composit::tests

// Made by composit VERSION from the graph of gradient:
//
//     composit graph 1
//     %0 = input{dtype=float32, shape=[8, 16]} : float32[8, 16] "x" at "models.py:51"
//     %1 = input{dtype=float32, shape=[16, 4]} : float32[16, 4] "w" at "models.py:51"
//     %2 = contract(%0, %1){batch_a=[], batch_b=[], contracted_a=[1], contracted_b=[0]} : float32[8, 4] at "models.py:19"
//     %3 = input{dtype=float32, shape=[4]} : float32[4] "b" at "models.py:51"
//     %4 = map(%2, %3){row=row("add")} : float32[8, 4] at "models.py:19"
//     %5 = map(%4){row=row("relu")} : float32[8, 4] at "models.py:19"
//     %6 = constant{value=float32[]{0.0}} : float32[] "scalar_0.0" at "models.py:19"
//     %7 = map(%5, %6){row=row("less_equal")} : bool[8, 4] at "models.py:19"
//     %8 = constant{value=float32[]{0.0}} : float32[] "scalar_0.0" at "models.py:19"
//     %9 = constant{value=float32[]{1.0}} : float32[] at "models.py:51"
//     %10 = constant{value=float32[]{1.0}} : float32[] "scalar_1.0" at "models.py:19"
//     %11 = constant{value=int64[]{32}, weak=true} : weak int64[] "scalar_32" at "models.py:19"
//     %12 = astype(%11){dtype=float32} : float32[] at "models.py:19"
//     %13 = map(%10, %12){row=row("divide")} : float32[] at "models.py:19"
//     %14 = map(%9, %13){row=row("multiply")} : float32[] at "models.py:19"
//     %15 = reshape(%14){shape=[1, 1]} : float32[1, 1] at "models.py:19"
//     %16 = broadcast_to(%15){shape=[8, 4]} : float32[8, 4] at "models.py:19"
//     %17 = input{dtype=float32, shape=[8, 4]} : float32[8, 4] "t" at "models.py:51"
//     %18 = map(%5, %17){row=row("subtract")} : float32[8, 4] at "models.py:19"
//     %19 = map(%16, %18){row=row("multiply")} : float32[8, 4] at "models.py:19"
//     %20 = map(%16, %18){row=row("multiply")} : float32[8, 4] at "models.py:19"
//     %21 = map(%19, %20){row=row("add")} : float32[8, 4] at "models.py:19"
//     %22 = map(%7, %8, %21){row=row("where")} : float32[8, 4] at "models.py:19"
//     %23 = contract(%0, %22){batch_a=[], batch_b=[], contracted_a=[0], contracted_b=[0]} : float32[16, 4] at "models.py:19"
//     %24 = transpose(%23){axes=[0, 1]} : float32[16, 4] at "models.py:19"
//     return %24
//
// From models.py:19
//
// Declares the functions of network.cpp.
#pragma once
// Sources ask for this number: those of another export do not compile.
#define COMPOSIT_EXPORT_network 0x4955082055d88112u

#include <cstdint>
#include <string>

namespace network {

// Reads the pointers to const, writes the others; none of the written ones may overlap another.
// `threads` changes the time, never the bits.
void gradient(const float* x /* [8, 16] */,
              const float* w /* [16, 4] */,
              const float* b /* [4] */,
              const float* t /* [8, 4] */,
              float* contract_4 /* [16, 4] */,
              int threads = 1);

// Reads the pointers to const, writes the others; none of the written ones may overlap another.
// `threads` changes the time, never the bits.
void loss(const float* x /* [8, 16] */,
          const float* w /* [16, 4] */,
          const float* b /* [4] */,
          const float* t /* [8, 4] */,
          float* divide /* [] */,
          int threads = 1);

}  // namespace network

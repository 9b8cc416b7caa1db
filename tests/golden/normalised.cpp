// sum  [models.py:35]
// x: float32[300, 400] -> sum: float32[300, 1]
static void sum_2(int64_t begin, int64_t end, const float* __restrict x, float* __restrict sum) {
    for (int64_t i = begin; i < end; ++i) {
        sum[i] = reduce_row<Sum>(x + i * 400, 400);
    }
}

// subtract  [models.py:35]
// sum: float32[300, 1] -> subtract: float32[300, 1]
static void divide(const float* __restrict sum, float* __restrict subtract) {
    for (int64_t i = 0; i < 300; ++i)
        subtract[i] = sum[i] / float(400ll);
}

// subtract  [models.py:35]
// x: float32[300, 400], subtract_2: float32[300, 1] -> subtract_3: float32[300, 400]
static void subtract_4(int64_t begin, int64_t end, const float* __restrict x,
                       const float* __restrict subtract_2, float* __restrict subtract_3) {
    for (int64_t i = begin; i < end; ++i)
        for (int64_t j = 0; j < 400; ++j)
            subtract_3[i * 400 + j] = x[i * 400 + j] - subtract_2[i];
}

// sum  [models.py:35]
// subtract_3: float32[300, 400] -> sum_3: float32[300, 1]
static void sum_multiply(int64_t begin, int64_t end, const float* __restrict subtract_3,
                         float* __restrict sum_3) {
    for (int64_t i = begin; i < end; ++i) {
        float chunk[400];
        for (int64_t r = 0; r < 400; ++r) {
            const float subtract_3_value = subtract_3[i * 400 + r];
            chunk[r] = subtract_3_value * subtract_3_value;
        }
        sum_3[i] = reduce_row<Sum>(chunk, 400);
    }
}

// divide  [models.py:35]
// sum_3: float32[300, 1] -> divide_3: float32[300, 1]
static void divide_sqrt(const float* __restrict sum_3, float* __restrict divide_3) {
    for (int64_t i = 0; i < 300; ++i)
        divide_3[i] = square_root(sum_3[i] / float(400.0));
}

// divide  [models.py:35]
// x: float32[300, 400], subtract: float32[300, 1], divide_3: float32[300, 1] -> divide_4:
//   float32[300, 400]
static void subtract_divide(int64_t begin, int64_t end, const float* __restrict x,
                            const float* __restrict subtract, const float* __restrict divide_3,
                            float* __restrict divide_4) {
    for (int64_t i = begin; i < end; ++i)
        for (int64_t j = 0; j < 400; ++j)
            divide_4[i * 400 + j] = (x[i * 400 + j] - subtract[i]) / divide_3[i];
}

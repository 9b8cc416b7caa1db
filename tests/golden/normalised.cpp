// sum  [models.py:35]
// x: float32[300, 400] -> sum: float32[15]
static void sum_2(const float* __restrict x, float* __restrict sum) {
    for (int64_t i = 0; i < 15; ++i) {
        sum[i] = reduce_row<Sum>(x + i * 400, 400);
    }
}

// subtract; subtract  [models.py:35]
// sum: float32[15] -> subtract: float32[15], subtract_2: float32[15]
static void divide_2(const float* __restrict sum, float* __restrict subtract,
                     float* __restrict subtract_2) {
    for (int64_t i = 0; i < 15; ++i) {
        const float sum_value = sum[i];
        subtract[i] = sum_value / float(400ll);
        subtract_2[i] = sum_value / float(400ll);
    }
}

// sum  [models.py:35]
// x: float32[300, 400], subtract_2: float32[15] -> sum_3: float32[15]
static void sum_subtract_multiply(const float* __restrict x, const float* __restrict subtract_2,
                                  float* __restrict sum_3) {
    for (int64_t i = 0; i < 15; ++i) {
        float chunk[400];
        for (int64_t r = 0; r < 400; ++r) {
            const float t = x[i * 400 + r] - subtract_2[i];
            chunk[r] = t * t;
        }
        sum_3[i] = reduce_row<Sum>(chunk, 400);
    }
}

// divide  [models.py:35]
// sum_3: float32[15] -> divide_3: float32[15]
static void divide_sqrt(const float* __restrict sum_3, float* __restrict divide_3) {
    for (int64_t i = 0; i < 15; ++i)
        divide_3[i] = square_root(sum_3[i] / float(400.0));
}

// divide  [models.py:35]
// x: float32[300, 400], subtract: float32[15], divide_3: float32[15] -> divide_4: float32[300, 400]
static void subtract_divide(int64_t begin, int64_t end, const float* __restrict x,
                            const float* __restrict subtract, const float* __restrict divide_3,
                            float* __restrict divide_4) {
    for (int64_t i = 0; i < 15; ++i)
        for (int64_t j = begin; j < end; ++j)
            divide_4[i * 400 + j] = (x[i * 400 + j] - subtract[i]) / divide_3[i];
}

// sum; subtract; subtract; sum; divide; divide  [models.py:35]
// x: float32[300, 400] -> divide_4: float32[300, 400]
static void fused_sum_2_to_subtract_divide(int64_t begin, int64_t end, const float* __restrict x,
                                           float* __restrict divide_4, void* scratch) {
    float* const sum = reinterpret_cast<float*>(static_cast<char*>(scratch));
    float* const subtract = reinterpret_cast<float*>(static_cast<char*>(scratch) + 64);
    float* const subtract_2 = reinterpret_cast<float*>(static_cast<char*>(scratch) + 64 + 64);
    float* const sum_3 = reinterpret_cast<float*>(static_cast<char*>(scratch) + 64 + 64 + 64);
    float* const divide_3 = reinterpret_cast<float*>(static_cast<char*>(scratch) + 64 + 64 + 64 + 64);
    for (int64_t piece = begin; piece < end; ++piece) {
        sum_2(x + piece * 6000, sum);
        divide_2(sum, subtract, subtract_2);
        sum_subtract_multiply(x + piece * 6000, subtract_2, sum_3);
        divide_sqrt(sum_3, divide_3);
        subtract_divide(0, 400, x + piece * 6000, subtract, divide_3, divide_4 + piece * 6000);
    }
}

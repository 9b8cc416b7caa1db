// add  [models.py:14]
// x: float32[300, 400], b: float32[400] -> add: float32[300, 400]
static void multiply_add_(int64_t begin, int64_t end, const float* __restrict x,
                          const float* __restrict b, float* __restrict add) {
    for (int64_t i = begin; i < end; ++i)
        for (int64_t j = 0; j < 400; ++j)
            add[i * 400 + j] = float(2ll) * x[i * 400 + j] + b[j];
}

// where  [models.py:15]
// add: float32[300, 400], x: float32[300, 400] -> where: float32[300, 400]
static void greater_exp_and_more_where(int64_t begin, int64_t end, const float* __restrict add,
                                       const float* __restrict x, float* __restrict where) {
    for (int64_t i = begin; i < end; ++i) {
        const float add_value = add[i];
        where[i] = add_value > float(1ll) ? exp_float32(add_value) : tanh_float32(x[i]);
    }
}

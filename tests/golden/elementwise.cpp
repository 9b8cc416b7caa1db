// where  [models.py:15]
// x: float32[300, 400], b: float32[400] -> where: float32[300, 400]
COMPOSIT_IN_VECTORS
static void multiply_add_and_more_where(int64_t begin, int64_t end, const float* __restrict x,
                                        const float* __restrict b, float* __restrict where) {
    for (int64_t i = begin; i < end; ++i)
        COMPOSIT_IN_TURNS for (int64_t j = 0; j < 400; ++j) {
            const float x_value = x[i * 400 + j];
            const float b_value = b[j];
            const float t = float(2ll) * x_value + b_value;
            const float t_2 = exp_float32(t);
            const float t_3 = tanh_float32(x_value);
            where[i * 400 + j] = t > float(1ll) ? t_2 : t_3;
        }
}

// running_sum  [models.py:43]
// x: float32[300, 400] -> running_sum: float32[300, 400]
static void running_sum_square(int64_t begin, int64_t end, const float* __restrict x,
                               float* __restrict running_sum) {
    for (int64_t i = begin; i < end; ++i) {
        float carry = 0;
        float chunk[400];
        for (int64_t c = 0; c < 400; ++c)
            chunk[c] = x[i * 400 + c] * x[i * 400 + c];
        scan_row<Sum>(chunk, 400, carry, true, running_sum + i * 400, 1);
    }
}

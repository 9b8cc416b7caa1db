polar_results polar(double x, double y) {
    const double r = hypot_float64(x, y);  // kernels.py:54
    const double theta = arctan2_float64(y, x);  // kernels.py:55
    return {r, theta};  // kernels.py:56
}

polar_vjp_results polar_vjp(double x, double y, double dr, double dtheta) {
    const double r = hypot_float64(x, y), dr_dx = x / r, dr_dy = y / r;  // kernels.py:54
    // kernels.py:55
    const double t = multiply_add(y, y, x * x), dtheta_dx = t == 0.0 ? 0.0 : -y / t;
    const double t_2 = multiply_add(y, y, x * x), dtheta_dy = t_2 == 0.0 ? 0.0 : x / t_2;
    // kernels.py:56
    return {rounded(scaled_slope(dr, dr_dx)) + dtheta * dtheta_dx,
            scaled_slope(dr, dr_dy) + dtheta * dtheta_dy};
}

polar_jvp_results polar_jvp(double x, double y, double dx, double dy) {
    // kernels.py:54
    const double r = hypot_float64(x, y), dr = scaled_slope(dx, x / r) + scaled_slope(dy, y / r);
    const double t = multiply_add(y, y, x * x);  // kernels.py:55
    const bool t_2 = t == 0.0;
    const double dtheta = rounded(scaled_slope(dy, t_2 ? 0.0 : x / t))
            + scaled_slope(dx, t_2 ? 0.0 : -y / t);
    return {dr, dtheta};  // kernels.py:56
}

polar_results polar(double x, double y) {
    const double r = hypot_float64(x, y);  // kernels.py:54
    const double theta = arctan2_float64(y, x);  // kernels.py:55
    return {r, theta};  // kernels.py:56
}

polar_vjp_results polar_vjp(double x, double y, double dr, double dtheta) {
    const double r = hypot_float64(x, y), dr_dx = x / (r == 0.0 ? 1.0 : r);  // kernels.py:54
    const double dr_dy = y / (r == 0.0 ? 1.0 : r), t = multiply_add(y, y, x * x);
    // kernels.py:55
    const double dtheta_dx = t == 0.0 ? 0.0 : -y / t, t_2 = multiply_add(y, y, x * x);
    const double dtheta_dy = t_2 == 0.0 ? 0.0 : x / t_2;
    // kernels.py:56
    return {rounded(dr * dr_dx) + dtheta * dtheta_dx, dr * dr_dy + dtheta * dtheta_dy};
}

polar_jvp_results polar_jvp(double x, double y, double dx, double dy) {
    // kernels.py:54
    const double r = hypot_float64(x, y), t = r == 0.0 ? 1.0 : r, t_2 = multiply_add(y, y, x * x);
    const double dr = scaled_slope(dx, x / t) + scaled_slope(dy, y / t);
    const bool t_3 = t_2 == 0.0;  // kernels.py:55
    const double dtheta = rounded(scaled_slope(dy, t_3 ? 0.0 : x / t_2))
            + scaled_slope(dx, t_3 ? 0.0 : -y / t_2);
    return {dr, dtheta};  // kernels.py:56
}

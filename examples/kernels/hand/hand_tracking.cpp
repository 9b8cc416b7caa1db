// The hand tracking of hand_tracking.py and its Jacobian, written by hand.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

struct Affine {
    double at[3][4];
};

// a b, of which the last row is 0 0 0 1, or 0 0 0 0 for derivatives.
Affine product(const Affine& a, const Affine& b, double last) {
    Affine made;
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 4; ++c)
            made.at[r][c] = a.at[r][0] * b.at[0][c] + a.at[r][1] * b.at[1][c] +
                            a.at[r][2] * b.at[2][c] + (c == 3 ? last * a.at[r][3] : 0);
    return made;
}

Affine loaded(const double* from) {
    Affine made;
    std::copy_n(from, 12, &made.at[0][0]);
    return made;
}

// The bone's own place in its parent, and its derivatives by the two angles.
Affine bent(const Affine& base, double cx, double sx, double cz, double sz, double last) {
    Affine made;
    for (int r = 0; r < 3; ++r) {
        const double u = base.at[r][0], v = base.at[r][1], w = base.at[r][2];
        const double turned = v * cz - u * sz;
        made.at[r][0] = u * cz + v * sz;
        made.at[r][1] = turned * cx + w * sx;
        made.at[r][2] = w * cx - turned * sx;
        made.at[r][3] = last * base.at[r][3];
    }
    return made;
}

constexpr int64_t bone_count = 22;

struct Pose {
    Affine local[bone_count];      // of points at rest, before the whole hand turns
    Affine slopes[bone_count][4];  // of these, by the four angles of the bone's finger
    double whole[3][3];            // the rotation of the hand, mirrored
    double turns[3][3][3];         // its derivatives

    Pose(const double* theta, const int64_t* parents, const double* base, const double* inverse,
         double mirror, bool has_slopes) {
        turn(theta, mirror, has_slopes);
        Affine place[bone_count], moved[bone_count][4];
        for (int64_t j = 0; j < bone_count; ++j) {
            const int64_t k = (j - 2) % 4;  // which bone of its finger
            const double* angles = theta + 6 + 4 * ((j - 2) / 4);
            const bool is_bent = j >= 2 && k < 3;
            const double bend = !is_bent ? 0 : k == 0 ? angles[0] : angles[k + 1];
            const double spread = is_bent && k == 0 ? angles[1] : 0;
            const double cx = std::cos(bend), sx = std::sin(bend);
            const double cz = std::cos(spread), sz = std::sin(spread);
            const Affine start = loaded(base + 12 * j), back = loaded(inverse + 12 * j);
            const Affine own = bent(start, cx, sx, cz, sz, 1);
            const int64_t parent = parents[j];
            place[j] = parent < 0 ? own : product(place[parent], own, 1);
            local[j] = product(place[j], back, 1);
            if (!has_slopes || j < 2) continue;
            for (int64_t a = 0; a < 4; ++a) {
                Affine& slope = moved[j][a];
                slope = {};
                if (k > 0) slope = product(moved[parent][a], own, 1);
                if (is_bent && (k == 0 ? a < 2 : a == k + 1)) {
                    Affine own_slope =
                        a == 1 ? bent(start, cx, sx, -sz, cz, 0) : bent(start, -sx, cx, cz, sz, 0);
                    for (auto& row : own_slope.at) {
                        // What the angle does not turn stays where it is.
                        if (a != 1) row[0] = 0;
                    }
                    if (a == 1)
                        for (int r = 0; r < 3; ++r) {
                            const double t = -start.at[r][1] * sz - start.at[r][0] * cz;
                            own_slope.at[r][1] = t * cx;
                            own_slope.at[r][2] = -t * sx;
                        }
                    slope = product(place[parent], own_slope, 0);
                }
                slopes[j][a] = product(slope, back, 1);
            }
        }
    }

    void turn(const double* theta, double mirror, bool has_slopes) {
        const double x[3] = {theta[0], theta[1], theta[2]};
        const double square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], angle = std::sqrt(square);
        const bool is_turned = square > 0;
        const double cosine = is_turned ? std::cos(angle) : 1;
        const double sine = is_turned ? std::sin(angle) / angle : 1;
        const double versine = is_turned ? (1 - cosine) / square : 0.5;
        const double skew[3][3] = {{0, -x[2], x[1]}, {x[2], 0, -x[0]}, {-x[1], x[0], 0}};
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c)
                whole[r][c] = ((r == c ? cosine : 0) + x[r] * x[c] * versine + skew[r][c] * sine) *
                              (c == 0 ? mirror : 1);
        if (!has_slopes) return;
        // Of sine and versine, by the square of the angle, times 2.
        const double dsine = is_turned ? (cosine - sine) / square : 0;
        const double dversine = is_turned ? (sine - 2 * versine) / square : 0;
        for (int k = 0; k < 3; ++k) {
            const double unit[3] = {k == 0 ? 1.0 : 0, k == 1 ? 1.0 : 0, k == 2 ? 1.0 : 0};
            const double own[3][3] = {
                {0, -unit[2], unit[1]}, {unit[2], 0, -unit[0]}, {-unit[1], unit[0], 0}};
            for (int r = 0; r < 3; ++r)
                for (int c = 0; c < 3; ++c)
                    turns[k][r][c] =
                        ((r == c ? -sine * x[k] : 0) + (unit[r] * x[c] + x[r] * unit[c]) * versine +
                         x[r] * x[c] * dversine * x[k] + own[r][c] * sine +
                         skew[r][c] * dsine * x[k]) *
                        (c == 0 ? mirror : 1);
        }
    }
};

// A vertex under a bone's map.
void add(const Affine& map, const double* rest, double weight, double* to) {
    for (int r = 0; r < 3; ++r)
        to[r] += weight * (map.at[r][0] * rest[0] + map.at[r][1] * rest[1] +
                           map.at[r][2] * rest[2] + map.at[r][3]);
}

}  // namespace

extern "C" void hand_tracking(const double* theta, const int64_t* parents, const double* base,
                              const double* inverse, double mirror, const double* rest,
                              const int64_t* bones, const double* weights, const int64_t* triangles,
                              const double* us, const double* points, int64_t count,
                              double* errors) {
    const Pose pose(theta, parents, base, inverse, mirror, false);
    for (int64_t i = 0; i < count; ++i) {
        const double u = us[2 * i], v = us[2 * i + 1], shares[3] = {u, v, 1 - u - v};
        double place[3] = {};
        for (int corner = 0; corner < 3; ++corner) {
            const int64_t vertex = triangles[3 * i + corner];
            for (int64_t k = 4 * vertex; k < 4 * vertex + 4; ++k)
                add(pose.local[bones[k]], rest + 3 * vertex, shares[corner] * weights[k], place);
        }
        for (int r = 0; r < 3; ++r)
            errors[3 * i + r] = points[3 * i + r] - theta[3 + r] -
                                (pose.whole[r][0] * place[0] + pose.whole[r][1] * place[1] +
                                 pose.whole[r][2] * place[2]);
    }
}

extern "C" void hand_tracking_jacobian(const double* theta, const int64_t* parents,
                                       const double* base, const double* inverse, double mirror,
                                       const double* rest, const int64_t* bones,
                                       const double* weights, const int64_t* triangles,
                                       const double* us, int64_t count, double* values) {
    const Pose pose(theta, parents, base, inverse, mirror, true);
    for (int64_t i = 0; i < count; ++i) {
        const double u = us[2 * i], v = us[2 * i + 1], shares[3] = {u, v, 1 - u - v};
        double place[3][3] = {}, moved[20][3] = {}, sum[3];
        for (int corner = 0; corner < 3; ++corner) {
            const int64_t vertex = triangles[3 * i + corner];
            for (int64_t k = 4 * vertex; k < 4 * vertex + 4; ++k) {
                const int64_t bone = bones[k];
                add(pose.local[bone], rest + 3 * vertex, weights[k], place[corner]);
                if (bone < 2) continue;
                for (int64_t a = 0; a < 4; ++a)
                    add(pose.slopes[bone][a], rest + 3 * vertex, shares[corner] * weights[k],
                        moved[(bone - 2) / 4 * 4 + a]);
            }
        }
        for (int r = 0; r < 3; ++r)
            sum[r] = u * place[0][r] + v * place[1][r] + shares[2] * place[2][r];
        for (int r = 0; r < 3; ++r) {
            double* row = values + (3 * i + r) * 28;
            const auto turned = [](const double* by, const double* p) {
                return by[0] * p[0] + by[1] * p[1] + by[2] * p[2];
            };
            for (int k = 0; k < 2; ++k) {
                row[k] = turned(pose.whole[r], place[2]) - turned(pose.whole[r], place[k]);
            }
            for (int k = 0; k < 3; ++k) {
                row[2 + k] = -turned(pose.turns[k][r], sum);
                row[5 + k] = k == r ? -1 : 0;
            }
            for (int k = 0; k < 20; ++k) row[8 + k] = -turned(pose.whole[r], moved[k]);
        }
    }
}

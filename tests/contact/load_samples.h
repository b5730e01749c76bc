#pragma once

#include "contact/load_sums.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace pliant::test {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// A field by two functions in double precision, answers rounded once.
class FunctionField final : public DistanceField {
public:
    FunctionField(std::function<double(const Vector3d&)> value,
                  std::function<Vector3d(const Vector3d&)> gradient)
        : value_(std::move(value)), gradient_(std::move(gradient)) {}
    void distances(const PointBatch& p, float* distance) const noexcept override {
        for (int i = 0; i < p.count; ++i)
            distance[i] = static_cast<float>(value_(Vector3d(p.x[i], p.y[i], p.z[i])));
    }
    void samples(const PointBatch& p, const SampleBatch& out) const noexcept override {
        distances(p, out.distance);
        for (int i = 0; i < p.count; ++i) {
            const Vector3d g = gradient_(Vector3d(p.x[i], p.y[i], p.z[i]));
            out.gx[i] = static_cast<float>(g.x());
            out.gy[i] = static_cast<float>(g.y());
            out.gz[i] = static_cast<float>(g.z());
        }
    }
    const Box& bounds() const noexcept override { return box_; }
    CullingMargin margin() const noexcept override { return {}; }
    double resolution() const noexcept override { return 0; }

private:
    std::function<double(const Vector3d&)> value_;
    std::function<Vector3d(const Vector3d&)> gradient_;
    Box box_;
};
/// Solid below a plane through the origin.
inline FunctionField half_space(const Vector3d& outward = Vector3d::UnitZ()) {
    const Vector3d n = outward.normalized();
    return {[n](const Vector3d& x) { return n.dot(x); }, [n](const Vector3d&) { return n; }};
}
inline FunctionField ball(double radius) {
    return {[=](const Vector3d& x) { return x.norm() - radius; },
            [](const Vector3d& x) { return Vector3d(x.normalized()); }};
}

/// A shell in the layout of PointTree, with one node for each point.
struct HandShell {
    std::vector<Vector3d> points, normals;  ///< inward
    std::vector<MatrixXd> U, normal_modes;  ///< 3 × r
    int r = 0, stride = 4;
    std::vector<float> rows, normal_rows;

    /// Rounds everything to single precision and fills the rows.
    void finish() {
        stride = r == 0 ? 4 : (4 * (r + 1) + 15) / 16 * 16;
        const std::size_t n = points.size(), s = static_cast<std::size_t>(stride);
        rows.assign(n * s, 0.0f);
        normal_rows.assign(n * s, 0.0f);
        const auto put = [](const Vector3d& v, float* out) {
            for (int c = 0; c < 3; ++c) out[c] = static_cast<float>(v[c]);
        };
        for (std::size_t i = 0; i < n; ++i) {
            float *a = rows.data() + i * s, *b = normal_rows.data() + i * s;
            for (int j = 0; j < r; ++j) {
                put(U[i].col(j), a + 4 * j);
                a[4 * j + 3] = 100.0f;  // a radius: must not enter
                put(normal_modes[i].col(j), b + 4 * j);
            }
            put(points[i], a + 4 * r);
            a[4 * r + 3] = 100.0f;
            put(normals[i], b + 4 * r);
        }
    }
    [[nodiscard]] ShellRows view() const {
        return {r, stride, static_cast<int>(points.size()), rows.data(), normal_rows.data()};
    }
    [[nodiscard]] Vector3d position(std::size_t i, const VectorXd& q) const {
        return r == 0 ? points[i] : Vector3d(points[i] + U[i] * q);
    }
    [[nodiscard]] Vector3d normal(std::size_t i, const VectorXd& q) const {
        return (r == 0 ? normals[i] : Vector3d(normals[i] + normal_modes[i] * q)).normalized();
    }
};

inline Vector3d random_vector(std::mt19937& random, double size = 1) {
    std::uniform_real_distribution<double> uniform(-size, size);
    const double x = uniform(random), y = uniform(random), z = uniform(random);
    return {x, y, z};
}
inline Quaternion random_rotation(std::mt19937& random) {
    return rotation_from_vector(random_vector(random, 2.0));
}
inline Pose random_pose(std::mt19937& random) {
    const Vector3d position = random_vector(random);
    return {position, random_rotation(random)};
}

/// Points on a lump of size 0.1 m below and around the origin, random normals upwards, random
/// modes.
inline HandShell random_shell(int num_points, int r, unsigned seed) {
    std::mt19937 random(seed);
    HandShell shell;
    shell.r = r;
    for (int i = 0; i < num_points; ++i) {
        shell.points.push_back(random_vector(random, 0.05) - Vector3d(0, 0, 0.08));
        shell.normals.push_back((Vector3d(0, 0, 1) + random_vector(random, 0.8))
                                    .normalized()
                                    .cast<float>()
                                    .cast<double>());
        MatrixXd U(3, r), N(3, r);
        for (int j = 0; j < r; ++j) {
            U.col(j) = random_vector(random);
            N.col(j) = random_vector(random, 3.0);
        }
        shell.U.push_back(U);
        shell.normal_modes.push_back(N);
    }
    shell.finish();
    return shell;
}

/// All points that are inside, one by one.
inline ContactPoints find_contacts(const HandShell& shell, const DistanceField& field,
                                   const Pose& shell_to_field, const VectorXd& q = {}) {
    ContactPoints all;
    for (std::size_t i = 0; i < shell.points.size(); ++i) {
        const Eigen::Vector3f x = shell_to_field.to_world(shell.position(i, q)).cast<float>();
        float d = 0;
        field.distances({&x.x(), &x.y(), &x.z(), 1}, &d);
        if (!(d < 0)) continue;
        all.node.push_back(static_cast<int>(i));
        all.point.push_back(static_cast<int>(i));
        all.x.push_back(x.x());
        all.y.push_back(x.y());
        all.z.push_back(x.z());
        all.distance.push_back(d);
        ++all.count;
    }
    return all;
}

/// Loads of a hand-made pair.
struct Pair {
    Pair(const HandShell& s, const DistanceField& f, const ContactLoadOptions& options,
         const DeformedField* deformed = nullptr)
        : shell(&s), field(&f), sums(s.view(), deformed, options) {
        loads.shell_load = sums.shell_load;
        loads.shell_reduced_stiffness = sums.shell_stiffness;
        loads.field_load = sums.proxies.load;
        loads.field_reduced_stiffness = sums.proxies.stiffness;
    }
    const ContactLoads& update(const ContactFrames& frames, const VectorXd& q = {}) {
        contacts = find_contacts(*shell, *field, frames.field.inverse() * frames.shell, q);
        status = sum_contacts(contacts, *field, frames,
                              {q.data(), static_cast<std::size_t>(q.size())}, sums);
        assemble_loads(sums, frames, loads);
        return loads;
    }
    const HandShell* shell;
    const DistanceField* field;
    LoadSums sums;
    ContactPoints contacts;
    ContactLoads loads;
    StepStatus status = StepStatus::Ok;
};

/// Moves a body by a shift and a turn about its centre, which goes along.
inline void move_body(Pose& pose, Vector3d& centre, const Vector3d& shift, const Vector3d& turn) {
    const Quaternion rotation = rotation_from_vector(turn);
    pose.position = centre + shift + rotation * (pose.position - centre);
    pose.rotation = rotation * pose.rotation;
    centre += shift;
}

inline Eigen::Matrix<double, 6, 1> stacked(const Wrench& w) {
    Eigen::Matrix<double, 6, 1> v;
    v << w.force, w.torque;
    return v;
}

}  // namespace pliant::test

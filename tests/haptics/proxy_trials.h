#pragma once

#include "pliant/contact/moving_surface.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/haptics/virtual_proxy.h"

#include <cmath>
#include <numbers>
#include <optional>
#include <random>

/// Surfaces that move and deform by formula around a proxy, and whether it ended up inside.
namespace pliant::test {

inline constexpr double kPi = std::numbers::pi;

/// A ball with bumps of this relative height; longitude–latitude mesh.
inline SurfaceMesh bumpy_ball(double radius, double bumps, int rings, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> phase(0, 2 * kPi);
    std::array<double, 6> phases;
    for (double& p : phases) p = phase(random);
    const auto at = [&](double theta, double phi) -> Eigen::Vector3d {
        const Eigen::Vector3d u(std::sin(theta) * std::cos(phi), std::sin(theta) * std::sin(phi),
                                std::cos(theta));
        const double wave = std::sin(5 * u.x() + phases[0]) * std::sin(6 * u.y() + phases[1]) +
                            std::sin(7 * u.z() + phases[2]) * std::cos(9 * u.x() + phases[3]) +
                            std::sin(11 * u.y() + phases[4]) * std::cos(8 * u.z() + phases[5]);
        return radius * (1 + bumps * wave / 1.5) * u;
    };
    SurfaceMesh mesh;
    const int segments = 2 * rings;
    mesh.vertices.push_back(at(0, 0));
    for (int i = 1; i < rings; ++i)
        for (int j = 0; j < segments; ++j)
            mesh.vertices.push_back(at(kPi * i / rings, 2 * kPi * j / segments));
    mesh.vertices.push_back(at(kPi, 0));
    const int last = mesh.num_vertices() - 1;
    const auto id = [&](int i, int j) { return 1 + (i - 1) * segments + j % segments; };
    for (int j = 0; j < segments; ++j) {
        mesh.triangles.push_back({0, id(1, j), id(1, j + 1)});
        mesh.triangles.push_back({last, id(rings - 1, j + 1), id(rings - 1, j)});
        for (int i = 1; i < rings - 1; ++i) {
            mesh.triangles.push_back({id(i, j), id(i + 1, j), id(i + 1, j + 1)});
            mesh.triangles.push_back({id(i, j), id(i + 1, j + 1), id(i, j + 1)});
        }
    }
    return mesh;
}

/// n × n squares in the plane z = 0, one face up.
inline SurfaceMesh flat_sheet(double size, int n) {
    SurfaceMesh mesh;
    for (int i = 0; i <= n; ++i)
        for (int j = 0; j <= n; ++j)
            mesh.vertices.emplace_back(size * (double(j) / n - 0.5), size * (double(i) / n - 0.5),
                                       0.0);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const int a = i * (n + 1) + j, b = a + 1, c = a + n + 2, d = a + n + 1;
            mesh.triangles.push_back({a, b, c});
            mesh.triangles.push_back({a, c, d});
        }
    return mesh;
}

/// A closed plate of n × n squares on both faces.
inline SurfaceMesh thin_plate(double size, double thickness, int n) {
    SurfaceMesh mesh = flat_sheet(size, n);
    const int top = mesh.num_vertices();
    SurfaceMesh below = mesh;
    for (auto& v : mesh.vertices) v.z() = 0.5 * thickness;
    for (auto& v : below.vertices) v.z() = -0.5 * thickness;
    mesh.vertices.insert(mesh.vertices.end(), below.vertices.begin(), below.vertices.end());
    for (const Triangle& t : below.triangles)
        mesh.triangles.push_back({t[0] + top, t[2] + top, t[1] + top});
    const auto wall = [&](int a, int b) {
        mesh.triangles.push_back({a, a + top, b + top});
        mesh.triangles.push_back({a, b + top, b});
    };
    const int row = n + 1;
    for (int k = 0; k < n; ++k) {
        wall(k, k + 1);
        wall(k * row + n, (k + 1) * row + n);
        wall(n * row + k + 1, n * row + k);
        wall((k + 1) * row, k * row);
    }
    return mesh;
}

enum class MotionKind { Inflate, Translate, Rotate, Bend, Shear, Wave, Mixed };
inline constexpr int kNumMotions = 6;  // Mixed is for reduced surfaces

/// x = R (S X + (κ X_x² + a sin(k X_x − φ)) e_z) + b with parameters that grow with `t`.
struct FormulaMotion {
    MotionKind kind = MotionKind::Translate;
    Eigen::Vector3d direction = Eigen::Vector3d::UnitZ();
    Eigen::Matrix3d frame = Eigen::Matrix3d::Identity();
    double size = 0.1, sign = 1;
    double spin = 0;  ///< of Mixed about `direction` [rad per t]

    [[nodiscard]] double wave(double x, double t) const {
        return 0.15 * size * std::sin(t) * std::sin(6 * x / size - sign * t);
    }
    [[nodiscard]] Eigen::Vector3d operator()(const Eigen::Vector3d& rest, double t) const {
        Eigen::Vector3d X = frame.transpose() * rest;
        switch (kind) {
            case MotionKind::Inflate: return rest * (1 + 0.6 * std::sin(sign * t));
            case MotionKind::Translate: return rest + sign * t * size * direction;
            case MotionKind::Rotate: return Eigen::AngleAxisd(sign * t, direction) * rest;
            case MotionKind::Bend: X.z() += sign * std::sin(t) * X.x() * X.x() / size; break;
            case MotionKind::Shear: X.z() += sign * std::sin(t) * X.x(); break;
            case MotionKind::Wave: X.z() += wave(X.x(), t); break;
            case MotionKind::Mixed:
                X.z() += 0.4 * sign * std::sin(t) * X.x() * (X.x() / size + 1) + wave(X.x(), t);
                return Eigen::AngleAxisd(spin * t, direction) * (frame * X);
        }
        return frame * X;
    }
};

inline double winding_number(const SurfaceMesh& mesh, const Eigen::Vector3d& p) {
    double sum = 0;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Eigen::Vector3d a = mesh.corner(t, 0) - p, b = mesh.corner(t, 1) - p,
                              c = mesh.corner(t, 2) - p;
        const double la = a.norm(), lb = b.norm(), lc = c.norm();
        sum += 2 * std::atan2(a.dot(b.cross(c)),
                              la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb);
    }
    return sum / (4 * kPi);
}

/// How often the ray along +x crosses outwards minus inwards: 1 inside. Quick; rays through edges
/// may err.
inline int crossing_number(const SurfaceMesh& mesh, const Eigen::Vector3d& p) {
    int sum = 0;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Eigen::Vector3d &a = mesh.corner(t, 0), &b = mesh.corner(t, 1),
                              &c = mesh.corner(t, 2);
        if (a.x() < p.x() && b.x() < p.x() && c.x() < p.x()) continue;
        const auto side = [&](const Eigen::Vector3d& u, const Eigen::Vector3d& v) {
            return (u.y() - p.y()) * (v.z() - p.z()) - (u.z() - p.z()) * (v.y() - p.y());
        };
        const double wa = side(b, c), wb = side(c, a), wc = side(a, b);
        const bool up = wa > 0 && wb > 0 && wc > 0, down = wa < 0 && wb < 0 && wc < 0;
        if (!up && !down) continue;
        if ((wa * a.x() + wb * b.x() + wc * c.x()) / (wa + wb + wc) > p.x()) sum += up ? 1 : -1;
    }
    return sum;
}

inline bool is_inside(const SurfaceMesh& mesh, const Eigen::Vector3d& p) {
    return crossing_number(mesh, p) != 0 && std::abs(winding_number(mesh, p)) > 0.5;
}

/// Set positions of the mesh and of the surface, which has floats.
inline void place(const SurfaceMesh& rest, const FormulaMotion& motion, double t,
                  VertexSurface& surface, SurfaceMesh& now, std::vector<float>& x) {
    x.clear();
    for (std::size_t v = 0; v < rest.vertices.size(); ++v) {
        const Eigen::Vector3f y = motion(rest.vertices[v], t).cast<float>();
        now.vertices[v] = y.cast<double>();
        x.insert(x.end(), {y.x(), y.y(), y.z()});
    }
    surface.set_positions(x);
}

/// Shapes from a formula: Ū of vertex v and column j.
template <class Shape>
SurfaceShapes make_shapes(const SurfaceMesh& mesh, int rank, const Shape& shape) {
    struct Data {
        std::vector<float> rest, rows;
        std::vector<int> triangles;
    };
    const auto data = std::make_shared<Data>();
    for (const Eigen::Vector3d& v : mesh.vertices)
        for (int k = 0; k < 3; ++k) {
            data->rest.push_back(static_cast<float>(v[k]));
            for (int j = 0; j < rank; ++j)
                data->rows.push_back(static_cast<float>(Eigen::Vector3d(shape(v, j))[k]));
        }
    for (const Triangle& t : mesh.triangles)
        data->triangles.insert(data->triangles.end(), t.begin(), t.end());
    return SurfaceShapes({.r = rank,
                          .storage = ShapeStorage::Float32,
                          .rest = data->rest,
                          .triangles = data->triangles,
                          .rows32 = data->rows,
                          .rows16 = {},
                          .scales = {}},
                         data);
}

/// The motions above as a pose and 13 reduced coordinates: inflation, and in each of three frames
/// bending, shear and two phases of a wave.
class FormulaShapes {
public:
    static constexpr int kFrames = 3, kRank = 1 + 4 * kFrames;
    FormulaShapes(const SurfaceMesh& mesh, double size, bool is_sheet)
        : frames_(make_frames(is_sheet)),
          shapes_(make_shapes(mesh, kRank,
                              [&](const Eigen::Vector3d& v, int j) { return column(v, j, size); })),
          x_(3 * mesh.vertices.size()) {}

    [[nodiscard]] const SurfaceShapes& shapes() const { return shapes_; }
    [[nodiscard]] const Eigen::Matrix3d& frame(std::size_t i) const { return frames_[i]; }

    /// Sets the motion of the surface and all positions of the mesh; `frame` is that of the motion.
    void place(const FormulaMotion& motion, std::size_t frame, double t, ReducedSurface& surface,
               SurfaceMesh& now) {
        const double bent = motion.sign * std::sin(t), s = std::sin(t);
        std::array<double, kRank> q = {};
        double* const z = &q[1 + 4 * frame];
        Pose pose;
        const auto turn = [&](double angle) {
            pose.rotation = Eigen::AngleAxisd(angle, motion.direction);
        };
        const auto wave = [&] {
            z[2] = s * std::cos(motion.sign * t);
            z[3] = -s * std::sin(motion.sign * t);
        };
        switch (motion.kind) {
            case MotionKind::Inflate: q[0] = 0.6 * std::sin(motion.sign * t); break;
            case MotionKind::Translate:
                pose.position = motion.sign * t * motion.size * motion.direction;
                break;
            case MotionKind::Rotate: turn(motion.sign * t); break;
            case MotionKind::Bend: z[0] = bent; break;
            case MotionKind::Shear: z[1] = bent; break;
            case MotionKind::Wave: wave(); break;
            case MotionKind::Mixed:
                z[0] = z[1] = 0.4 * bent;
                wave();
                turn(motion.spin * t);
                break;
        }
        surface.set_motion(pose, q);
        std::array<float, kRank> q32;
        for (std::size_t j = 0; j < q.size(); ++j) q32[j] = static_cast<float>(q[j]);
        shapes_.positions(q32, x_);
        for (std::size_t v = 0; v < now.vertices.size(); ++v)
            now.vertices[v] =
                pose.position +
                pose.rotation *
                    Eigen::Vector3f(x_[3 * v], x_[3 * v + 1], x_[3 * v + 2]).cast<double>();
    }

private:
    /// A sheet bends along its x alone.
    static std::array<Eigen::Matrix3d, kFrames> make_frames(bool is_sheet) {
        std::array<Eigen::Matrix3d, kFrames> frames;
        frames.fill(Eigen::Matrix3d::Identity());
        if (is_sheet) return frames;
        std::mt19937 random(9);
        std::normal_distribution<double> normal;
        for (Eigen::Matrix3d& frame : frames) {
            Eigen::Quaterniond turn;
            for (double& c : turn.coeffs()) c = normal(random);
            frame = turn.normalized().toRotationMatrix();
        }
        return frames;
    }
    [[nodiscard]] Eigen::Vector3d column(const Eigen::Vector3d& v, int j, double size) const {
        if (j == 0) return v;
        const Eigen::Matrix3d& frame = frames_[static_cast<std::size_t>((j - 1) / 4)];
        const double x = frame.col(0).dot(v);
        const std::array<double, 4> height = {x * x / size, x, 0.15 * size * std::sin(6 * x / size),
                                              0.15 * size * std::cos(6 * x / size)};
        return height[static_cast<std::size_t>((j - 1) % 4)] * frame.col(2);
    }

    std::array<Eigen::Matrix3d, kFrames> frames_;
    SurfaceShapes shapes_;
    std::vector<float> x_;
};

/// What moves in trials.
enum class TrialSurface { Vertices, Reduced };

struct TrialTotals {
    int trials = 0, losses = 0, steps = 0, squeezed = 0, cut_short = 0, carried = 0;
    double least_clearance = 1;  ///< in radii, of steps that were not squeezed
};

/// Proxies that start apart from or in contact with a mesh that moves, hands that rest, wander or
/// push inside.
class ProxyTrials {
public:
    /// `is_sheet`: thin in z; losses are changes of side as well.
    ProxyTrials(SurfaceMesh mesh, bool is_sheet, const ProxyOptions& options = {},
                TrialSurface kind = TrialSurface::Vertices)
        : rest_(std::move(mesh)),
          now_(rest_),
          is_sheet_(is_sheet),
          options_(options),
          size_(bounding_box(rest_.vertices).sizes().maxCoeff() / 2) {
        if (kind == TrialSurface::Reduced) {
            shapes_.emplace(rest_, size_, is_sheet);
            reduced_ = std::make_unique<ReducedSurface>(shapes_->shapes());
        } else {
            vertices_ = std::make_unique<VertexSurface>(rest_);
        }
        proxy_ = std::make_unique<VirtualProxy>(std::vector{&surface()}, options);
    }

    /// As many as asked for: where one finds no place to start, another takes its turn.
    void run(int trials, unsigned seed, TrialTotals& totals, int steps = 40,
             double least_step = 2e-5, double most_step = 1e-2) {
        constexpr unsigned kOthers = 10'000'019;
        for (int i = 0; i < trials; ++i)
            for (unsigned k = 0; k < 20; ++k)
                if (run_one(seed + static_cast<unsigned>(i) + k * kOthers, totals, steps,
                            least_step, most_step))
                    break;
    }

private:
    [[nodiscard]] MovingSurface& surface() {
        return reduced_ ? static_cast<MovingSurface&>(*reduced_) : *vertices_;
    }
    void put(const FormulaMotion& motion, std::size_t frame, double t) {
        if (reduced_)
            shapes_->place(motion, frame, t, *reduced_, now_);
        else
            place(rest_, motion, t, *vertices_, now_, x_);
    }
    [[nodiscard]] double uniform(double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random_);
    }
    [[nodiscard]] Eigen::Vector3d unit() {
        std::normal_distribution<double> normal;
        return Eigen::Vector3d(normal(random_), normal(random_), normal(random_)).normalized();
    }

    /// False: no place to start.
    bool run_one(unsigned seed, TrialTotals& totals, int steps, double least_step,
                 double most_step) {
        random_.seed(seed);
        const double r = options_.sphere.radius;
        FormulaMotion motion;
        motion.kind = static_cast<MotionKind>(random_() % (kNumMotions + (reduced_ ? 1 : 0)));
        motion.direction = unit();
        motion.frame = Eigen::AngleAxisd(uniform(0, 2 * kPi), unit()).toRotationMatrix();
        if (is_sheet_) motion.frame.setIdentity();
        motion.size = size_;
        motion.sign = random_() % 2 ? 1 : -1;
        std::size_t frame = 0;
        if (reduced_) {
            frame = random_() % FormulaShapes::kFrames;
            motion.frame = shapes_->frame(frame);
            motion.spin = is_sheet_ ? 0 : uniform(-1, 1);
        }
        const double step = least_step * std::pow(most_step / least_step, uniform(0, 1));
        double fastest = 0;
        for (const Eigen::Vector3d& v : rest_.vertices)
            fastest = std::max(fastest, (motion(v, 1e-4) - motion(v, -1e-4)).norm() / 2e-4);
        const double rate = step / std::max(fastest, 1e-9);

        double t = uniform(0, 1);
        put(motion, frame, t);
        Eigen::Vector3d p;
        if (!find_start(uniform(0, 1) < 0.5 ? 1e-4 * r : uniform(0, 3) * r, p)) return false;
        proxy_->reset(p);
        const double side = side_of(motion, t, p);
        const int hand = static_cast<int>(random_() % 3);
        Eigen::Vector3d goal = p;
        totals.trials += 1;
        for (int i = 0; i < steps; ++i) {
            t += rate;
            put(motion, frame, t);
            if (hand == 1) goal += uniform(0, 0.6) * r * unit();
            if (hand == 2) goal = inner_point(motion, t, side);
            const ProxyState& state = proxy_->tick(goal);
            totals.steps += 1;
            totals.squeezed += state.is_squeezed;
            totals.cut_short += !state.has_arrived;
            totals.carried += state.carry == CarryEvent::Face;
            // beyond the border, either side is right
            if (is_sheet_ &&
                sheet_place(motion, t, state.position).head<2>().cwiseAbs().maxCoeff() >
                    0.9 * size_)
                break;
            const bool is_lost = is_inside(now_, state.position) ||
                                 (is_sheet_ && side_of(motion, t, state.position) * side < 0);
            if (!is_lost) continue;
            totals.losses += 1;
            break;
        }
        return true;
    }

    bool find_start(double gap, Eigen::Vector3d& p) {
        const double r = options_.sphere.radius;
        for (int attempt = 0; attempt < 50; ++attempt) {
            const auto i = static_cast<int>(random_() % rest_.triangles.size());
            const Eigen::Vector3d a = now_.corner(i, 0), b = now_.corner(i, 1),
                                  c = now_.corner(i, 2);
            const Eigen::Vector3d middle = (a + b + c) / 3, n = (b - a).cross(c - a).normalized();
            // proxies at the border of a sheet may go round it
            const Eigen::Vector3d rest_middle =
                (rest_.corner(i, 0) + rest_.corner(i, 1) + rest_.corner(i, 2)) / 3;
            if (is_sheet_ && rest_middle.head<2>().cwiseAbs().maxCoeff() > 0.5 * size_) continue;
            p = middle + (r + gap) * n;
            SurfaceNeighbourhood near({&surface()});
            surface().restart();
            near.require(p, r, 0);
            if (near.clearance(p) < 0.9999 * r) continue;
            if (is_inside(now_, p)) continue;
            return true;
        }
        return false;
    }

    /// Where a place is in the axes of a sheet at rest, as far as that is simple: bent ones keep x
    /// and y, and z is the height above the mesh, which is flat between vertices.
    Eigen::Vector3d sheet_place(const FormulaMotion& motion, double t,
                                const Eigen::Vector3d& x) const {
        switch (motion.kind) {
            case MotionKind::Inflate: return x / motion(Eigen::Vector3d::UnitX(), t).x();
            case MotionKind::Translate: return x - motion(Eigen::Vector3d::Zero(), t);
            case MotionKind::Rotate:
                return Eigen::AngleAxisd(-motion.sign * t, motion.direction) * x;
            default: return {x.x(), x.y(), x.z() - height_at(x)};
        }
    }
    double side_of(const FormulaMotion& motion, double t, const Eigen::Vector3d& x) const {
        return sheet_place(motion, t, x).z() > 0 ? 1 : -1;
    }
    /// Of the mesh now, whose vertices kept x and y.
    double height_at(const Eigen::Vector3d& foot) const {
        for (std::size_t t = 0; t < rest_.triangles.size(); ++t) {
            const auto i = static_cast<int>(t);
            const Eigen::Vector3d a = now_.corner(i, 0), b = now_.corner(i, 1),
                                  c = now_.corner(i, 2);
            const Eigen::Vector3d n = (b - a).cross(c - a);
            if (!(n.z() > 0)) continue;
            const auto w = [&](const Eigen::Vector3d& u, const Eigen::Vector3d& v) {
                return (v.x() - u.x()) * (foot.y() - u.y()) - (v.y() - u.y()) * (foot.x() - u.x());
            };
            if (w(a, b) < -1e-12 || w(b, c) < -1e-12 || w(c, a) < -1e-12) continue;
            return a.z() - (n.x() * (foot.x() - a.x()) + n.y() * (foot.y() - a.y())) / n.z();
        }
        return 0;
    }

    /// Deep inside, or well beyond a sheet.
    Eigen::Vector3d inner_point(const FormulaMotion& motion, double t, double side) const {
        if (!is_sheet_) return motion(Eigen::Vector3d::Zero(), t);
        return motion(Eigen::Vector3d(0, 0, -side * 2 * options_.sphere.radius), t);
    }

    SurfaceMesh rest_, now_;
    bool is_sheet_;
    ProxyOptions options_;
    double size_;
    std::unique_ptr<VertexSurface> vertices_;  // one of the two
    std::unique_ptr<ReducedSurface> reduced_;
    std::optional<FormulaShapes> shapes_;  // of reduced ones
    std::unique_ptr<VirtualProxy> proxy_;
    std::vector<float> x_;
    std::mt19937 random_;
};

}  // namespace pliant::test

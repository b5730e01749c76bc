#pragma once

/// Kernels of contact loads, compiled for each instruction set; docs/contact.md eq. (10)–(19).
/// Each contact is treated in single precision, as it was found; sums over contacts are in double
/// precision, except the r × r products, which are so from batch to batch.
namespace pliant {

/// Contacts taken at a time.
inline constexpr int kLoadBatch = 64;
inline constexpr int kNumStiffnessSums = 21;
inline constexpr int kNumForceSums = 12;
inline constexpr int kNumGradientSums = 36;

/// Directions at points and what acts along them, eq. (13). Places beyond `count` are zeros.
struct alignas(64) LoadRows {
    float x[kLoadBatch], y[kLoadBatch], z[kLoadBatch];     ///< p, from the reference point [m]
    float dx[kLoadBatch], dy[kLoadBatch], dz[kLoadBatch];  ///< v
    float stiffness[kLoadBatch];                           ///< s [N/m]
    float load[kLoadBatch];                                ///< c: the force is c v [N]
    int node[kLoadBatch];                                  ///< of the tree
    int count = 0;
};

/// Unit normals N + ΔN q of the points listed, turned by the 3 × 3 `rotation` (by rows): n_x, n_y,
/// n_z apart. `q_groups` has `stride` entries: (q_j q_j q_j 0) of each j, (1 1 1 0), zeros. Zero
/// where the length vanishes.
void contact_normals(const float* normal_rows, int stride, const float* q_groups, const int* points,
                     int count, const float* rotation, float* nx, float* ny, float* nz) noexcept;
/// Makes unit vectors of others, in place; zero where the length vanishes.
void normalize_vectors(int count, float* x, float* y, float* z) noexcept;
/// moments += Σ n nᵀ: xx, xy, xz, yy, yz, zz.
void add_normal_moments(const float* nx, const float* ny, const float* nz, int count,
                        double* moments) noexcept;

struct NormalLaw {
    float stiffness = 0;      ///< k_C times the weight that all contacts share
    float scaling_count = 0;  ///< L; 0: no weight per direction
    float moments[6] = {};    ///< of add_normal_moments
    float cap_depth = 0;      ///< 0: none
    float cap_stiffness = 0;  ///< added beyond it
};
/// Stiffness and load of rows along the normals from signed distances d < 0, eq. (10)–(12a).
/// Returns Σ ½ k d² [J], with a cap what it adds to it too.
double weigh_rows(const NormalLaw& law, const float* distance, LoadRows& rows) noexcept;

/// sums += Σ s J Jᵀ with J = (v, p × v), upper triangle by rows, eq. (14).
void add_stiffness_sums(const LoadRows& rows, double* sums) noexcept;
/// sums += Σ c v (3 places), then Σ c v pᵀ by rows.
void add_force_sums(const LoadRows& rows, double* sums) noexcept;
/// sums += Σ s (v, p × v)(g, p × g)ᵀ by rows.
void add_gradient_sums(const LoadRows& rows, const float* gx, const float* gy, const float* gz,
                       double* sums) noexcept;
/// The force of each row turned by `rotation`, added to (x, y, z) of force[at_row].
void add_point_forces(const LoadRows& rows, const int* at, const float* rotation,
                      float* force) noexcept;

/// Rows of a tree as PointTree::row gives them, r > 0.
struct ModeRows {
    const float* rows;
    int stride, r;
};
/// r rounded up to whole tiles: length of the arrays below.
[[nodiscard]] constexpr int padded_rank(int r) noexcept { return (r + 16) / 16 * 16; }
/// load += Σ c w, stiffness += Σ s w wᵀ (upper triangle) with w = Uᵀ T v, T = `rotation`, eq. (18).
/// `load` has padded_rank entries, `stiffness` its square, `products` kLoadBatch times as many
/// floats, 64-byte aligned; entries beyond r are meaningless.
void add_reduced_sums(const LoadRows& rows, const float* rotation, const ModeRows& modes,
                      float* products, double* load, double* stiffness) noexcept;

}  // namespace pliant

#pragma once

/// Kernels of deformed fields, compiled for each instruction set; docs/field.md eq. (11)–(13).
namespace pliant {

inline constexpr int kMinNeighbours = 3, kMaxNeighbours = 8;
inline constexpr int kMaxProxyPoints = 64;  ///< in one call
inline constexpr int kMaxLookUps = kMaxNeighbours - 1;

/// Of the bound inside of itself, so that it takes no depth from the solid, eq. (12a).
inline constexpr float kCoverSteepness = 8;

/// Length of a row of `count` proxies: whole vectors, so that entries beyond `count` may be read.
[[nodiscard]] constexpr int padded_proxies(int count) noexcept { return (count + 15) / 16 * 16; }

/// Proxies of one domain in one shape. Rows of `stride` numbers, one of each proxy: deformed
/// positions p (3 rows), then a (3) and B = F⁻¹ by rows (9): a point x of its neighbourhood was at
/// X = a + B x. Then rest positions P (3).
struct ProxyTable {
    static constexpr int kRows = 18;
    const float* rows;
    int stride, count;      ///< stride = padded_proxies of the domain's
    int num_neighbours;     ///< k ≤ count, kMinNeighbours … kMaxNeighbours
    float low[3], high[3];  ///< box of the rest field
    float boundary;         ///< least distance on its faces
    float reach;            ///< farther from its P at rest, a proxy knows nothing of the solid
    float cover;            ///< c of eq. (12a): no point of the solid is farther from all p
};

/// Where to ask the rest field for n points: k − 1 places each (the k-th neighbour has no weight),
/// place j of point i at j n + i.
struct ProxyPlaces {
    float *x, *y, *z;  ///< in the box
    float* weight;     ///< of a point they sum to one
    float* outside;    ///< how far out of the box the place really is [m]
    int* proxy;
    float* nearest;  ///< distance from the nearest proxy, one for each point [m]
};

/// The nearest proxies of n points, their weights and the points pulled back by them, eq. (11) and
/// (12). Coordinates are finite and below 1e13.
void find_places(const ProxyTable& table, const float* x, const float* y, const float* z, int n,
                 const ProxyPlaces& places) noexcept;
/// weight ← weight · √((|g|² + ε²) / (|Bᵀg|² + ε²)), eq. (13), of `count` places, where g is the
/// gradient of the rest field from its values at four corners of a cube of half side `half` about
/// each place: at + + +, + − −, − + −, − − +.
void stretch_weights(const ProxyTable& table, int count, const float* const corners[4], float half,
                     const int* proxy, float* weight) noexcept;
/// distance_i ← min(distance_i, max(Σ_j weight · value, b_i)) of n points, with the values at
/// places outside the box replaced by lower bounds and b of eq. (12a).
void blend_places(const ProxyTable& table, int n, const float* values, const ProxyPlaces& places,
                  float* distance) noexcept;

/// The nearest of `count` proxies at rows p (3 rows of `stride` numbers) for each of n points; of
/// equally near ones the lower index.
void find_nearest_proxies(const float* p, int stride, int count, const float* x, const float* y,
                          const float* z, int n, int* proxy) noexcept;

/// Balls of the rest shape whose material does not count, one for each point [m].
struct BallRows {
    const float *x, *y, *z, *radius;
};
/// distance_i ← Σ_j weight · max(value, radius_i − |place − centre_i|, |place − P| − reach) of n
/// points, values as in blend_places, docs/contact.md eq. (33).
void blend_outside_balls(const ProxyTable& table, int n, const float* values,
                         const ProxyPlaces& places, const BallRows& balls,
                         float* distance) noexcept;

}  // namespace pliant

#include "benchmarks/wavelet_rabbit.h"

#include "pliant/geometry/shapes.h"
#include "pliant/greens/hierarchical_greens.h"
#include "pliant/greens/wavelet_greens.h"

namespace pliant::bench {
namespace {

constexpr int kLevels = 4, kCoarsest = 2;

ReferenceProblem compressed_columns(const GreensModel& model, int bits) {
    ReferenceProblem reference = model.reference;
    reference.functions =
        compress_greens(dynamic_cast<const DenseGreensFunctions&>(*model.reference.functions),
                        model.surface, reference.kinds, reference.areas, {.bits = bits});
    return reference;
}

WaveletRabbit make_rabbit() {
    const SemiRegularMesh surface = make_semi_regular("rabbit", kLevels);
    GreensBuildOptions options;
    options.youngs_modulus = 1e4;
    options.fixed = shape_support("rabbit", surface);
    options.cache = default_cache_folder();
    WaveletRabbit rabbit;
    rabbit.dense = with_coarser_columns(build_greens_model(surface, options), kCoarsest);
    rabbit.compressed_16 = compressed_columns(rabbit.dense, 16);
    rabbit.compressed_32 = compressed_columns(rabbit.dense, 32);
    return rabbit;
}

}  // namespace

const WaveletRabbit& wavelet_rabbit() {
    static const WaveletRabbit rabbit = make_rabbit();
    return rabbit;
}

}  // namespace pliant::bench

#include "reduction/material_chunks.h"

#include "pliant/core/error.h"

#include <algorithm>

namespace pliant {
namespace {

constexpr int kConstants = 4, kAnisotropic = 36 + 6 + 6;

}  // namespace

MaterialChunks material_chunks(const std::vector<Material>& materials) {
    MaterialChunks chunks;
    for (const Material& material : materials) {
        chunks.laws.push_back(static_cast<int>(material.law));
        chunks.laws.push_back(material.anisotropy ? 1 : 0);
        chunks.constants.insert(chunks.constants.end(), {material.density, material.lambda,
                                                         material.mu, material.viscosity});
        if (!material.anisotropy) continue;
        const Anisotropy& a = *material.anisotropy;
        auto& out = chunks.anisotropic;
        out.insert(out.end(), a.stiffness.data(), a.stiffness.data() + 36);
        out.insert(out.end(), a.initial_strain.data(), a.initial_strain.data() + 6);
        out.insert(out.end(), a.initial_stress.data(), a.initial_stress.data() + 6);
    }
    return chunks;
}

MaterialChunks add_materials(ArchiveWriter& writer, const std::vector<Material>& materials) {
    MaterialChunks chunks = material_chunks(materials);
    const auto count = static_cast<std::uint64_t>(materials.size());
    writer.add<int>("materials/laws", chunks.laws, {count, 2});
    writer.add<double>("materials/constants", chunks.constants, {count, kConstants});
    writer.add<double>("materials/anisotropic", chunks.anisotropic,
                       {chunks.anisotropic.size() / kAnisotropic, kAnisotropic});
    return chunks;
}

std::vector<Material> read_materials(const Archive& archive, const std::string& name) {
    const auto laws = archive.get<int>("materials/laws");
    const auto constants = archive.get<double>("materials/constants");
    const auto anisotropic = archive.get<double>("materials/anisotropic");
    const std::size_t count = laws.size() / 2;
    std::size_t num_anisotropic = 0;
    for (std::size_t g = 0; g < count; ++g) {
        const int law = laws[2 * g], is_anisotropic = laws[2 * g + 1];
        if (law < 0 || law > static_cast<int>(Law::Corotational) || is_anisotropic < 0 ||
            is_anisotropic > 1)
            throw InputError(name, "materials/laws[" + std::to_string(g) + "]",
                             std::to_string(law) + ", " + std::to_string(is_anisotropic),
                             "a law from 0 to 3, then 0 or 1");
        num_anisotropic += static_cast<std::size_t>(is_anisotropic);
    }
    if (laws.size() % 2 != 0 || constants.size() != kConstants * count ||
        anisotropic.size() != kAnisotropic * num_anisotropic)
        throw InputError(name, "materials/constants, length", std::to_string(constants.size()),
                         std::to_string(kConstants * count) + ", four for each material");

    std::vector<Material> materials(count);
    const double* next = anisotropic.data();
    for (std::size_t g = 0; g < count; ++g) {
        Material& material = materials[g];
        material.law = static_cast<Law>(laws[2 * g]);
        material.density = constants[kConstants * g];
        material.lambda = constants[kConstants * g + 1];
        material.mu = constants[kConstants * g + 2];
        material.viscosity = constants[kConstants * g + 3];
        if (laws[2 * g + 1] == 0) continue;
        Anisotropy& a = material.anisotropy.emplace();
        std::copy_n(next, 36, a.stiffness.data());
        std::copy_n(next + 36, 6, a.initial_strain.data());
        std::copy_n(next + 42, 6, a.initial_stress.data());
        next += kAnisotropic;
    }
    return materials;
}

}  // namespace pliant

#include "input_error.h"
#include "pliant/fem/material.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using test::input_error;

TEST(MaterialPreset, EveryNameGivesAUsableMaterialSoftestFirst) {
    double previous = 0;
    for (const std::string& name : material_names()) {
        const Material m = material_preset(name);
        EXPECT_NO_THROW(check_material(m)) << name;
        EXPECT_GE(m.youngs_modulus(), previous) << name;
        EXPECT_EQ(m.anisotropy.has_value(), name == "wood");
        EXPECT_GE(m.density, 10) << name;
        EXPECT_LE(m.density, 10000) << name;
        previous = m.youngs_modulus();
        if (name != "wood") {
            EXPECT_EQ(material_preset(name, Law::NeoHookean).law, Law::NeoHookean);
        }
    }
    EXPECT_NEAR(material_preset("steel").youngs_modulus(), 200e9, 1);
}

TEST(MaterialPreset, UnknownNamesAreRefusedWithASuggestion) {
    const auto error = [](const std::string& name) {
        return input_error([&] { (void)material_preset(name); });
    };
    EXPECT_EQ(error("ruber").find("material = 'ruber' (expected one of brain, fat"), 0u);
    EXPECT_NE(error("ruber").find("did you mean 'rubber'?"), std::string::npos);
    EXPECT_NE(error("Steel").find("did you mean 'steel'?"), std::string::npos);
    EXPECT_EQ(error("unobtainium").find("did you mean"), std::string::npos);
    EXPECT_NE(input_error([] {
                  (void)material_preset("wood", Law::Corotational);
              }).find("for an anisotropic material"),
              std::string::npos);
}

}  // namespace
}  // namespace pliant

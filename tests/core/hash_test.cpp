#include "pliant/core/hash.h"

#include <gtest/gtest.h>

#include <vector>

namespace pliant {
namespace {

/// The pseudo-random buffer on which the authors of XXH3 publish their test values.
std::vector<unsigned char> sanity_buffer() {
    std::vector<unsigned char> buffer(2367);
    std::uint64_t state = 2654435761u;
    for (unsigned char& byte : buffer) {
        byte = static_cast<unsigned char>(state >> 56);
        state *= 11400714785074694797u;
    }
    return buffer;
}

TEST(HashBytes, MatchesPublishedValuesAtEveryCodePath) {
    // one length for each branch of the algorithm: 1–3, 4–8, 9–16, 17–128, 129–240, blocks
    const struct {
        std::size_t size;
        std::uint64_t hash;
    } published[] = {
        {0, 0x2D06800538D394C2u},   {1, 0xC44BDFF4074EECDBu},    {6, 0x27B56A84CD2D7325u},
        {12, 0xA713DAF0DFBB77E7u},  {24, 0xA3FE70BF9D3510EBu},   {48, 0x397DA259ECBA1F11u},
        {80, 0xBCDEFBBB2C47C90Au},  {195, 0xCD94217EE362EC3Au},  {403, 0xCDEB804D65C6DEA4u},
        {512, 0x617E49599013CB6Bu}, {2048, 0xDD59E2C3A5F038E0u}, {2240, 0x6E73A90539CF2948u},
        {2367, 0xCB37AEB9E5D361EDu}};
    const auto buffer = sanity_buffer();
    for (const auto& [size, hash] : published)
        EXPECT_EQ(hash_bytes(buffer.data(), size), hash) << size << " bytes";
}

TEST(HashBytes, SeedChangesTheHash) {
    EXPECT_EQ(hash_bytes(nullptr, 0, 0x9E3779B185EBCA8Du), 0xA8A6B918B2F0364Au);
    const auto buffer = sanity_buffer();
    EXPECT_NE(hash_bytes(buffer.data(), 100, 1), hash_bytes(buffer.data(), 100, 2));
}

TEST(HashText, IsSixteenHexadecimalDigits) {
    EXPECT_EQ(hash_text(0), "0000000000000000");
    EXPECT_EQ(hash_text(0x0123456789abcdefu), "0123456789abcdef");
    EXPECT_EQ(hash_text(0xffffffffffffffffu), "ffffffffffffffff");
}

}  // namespace
}  // namespace pliant

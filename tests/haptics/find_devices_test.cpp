#include "pliant/haptics/find_devices.h"

#include <gtest/gtest.h>

namespace {

using namespace pliant;

TEST(FindDevices, SaysOfEveryKindWhatIsThereOrMissing) {
    DeviceSearch search;
    search.network.port = 0;
    search.haply.url = "ws://127.0.0.1:9";
    search.force_dimension.library = PLIANT_FAKE_DHD;
    search.open_haptics.library = "/nowhere/libHD.so";
    search.wait = 0.1;
    const std::vector<FoundDevices> found = find_devices(search);
    ASSERT_EQ(found.size(), std::variant_size_v<DeviceDescription>);
    const char* const kinds[] = {"simulated", "scripted",        "recorded",    "network",
                                 "haply",     "force-dimension", "openhaptics", "external"};
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].kind, kinds[i]);
    EXPECT_TRUE(found[0].is_ready);
    EXPECT_TRUE(found[3].is_ready);
    EXPECT_NE(found[3].what.find("is free for a driver, by UDP or WebSocket"), std::string::npos);
    EXPECT_FALSE(found[4].is_ready);
    EXPECT_EQ(found[4].what,
              "nobody answers at ws://127.0.0.1:9; install and start the Haply Inverse Service "
              "(https://docs.haply.co)");
    EXPECT_TRUE(found[5].is_ready);
    EXPECT_EQ(found[5].what, PLIANT_FAKE_DHD ", version 3.7.1; 1 device");
    EXPECT_FALSE(found[6].is_ready);
    EXPECT_NE(found[6].what.find("looked for /nowhere/libHD.so"), std::string::npos);
}

TEST(FindDevices, APortThatIsTakenIsNotReady) {
    NetworkDescription any;
    any.port = 0;
    const NetworkDevice device(any);
    DeviceSearch search;
    search.network.port = device.port();
    search.wait = 0;
    const FoundDevices network = find_devices(search)[3];
    EXPECT_FALSE(network.is_ready);
    EXPECT_EQ(network.what, "UDP port " + std::to_string(device.port()) +
                                " of 127.0.0.1 is in use by another program; choose another port, "
                                "or 0 for any free one");
}

}  // namespace

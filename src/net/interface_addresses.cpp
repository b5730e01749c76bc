#include "net/interface_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <array>

namespace pliant {

std::vector<std::string> interface_addresses() {
    std::vector<std::string> v4, v6;
    ifaddrs* first = nullptr;
    if (::getifaddrs(&first) != 0) return v4;
    for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
        const bool is_used = (entry->ifa_flags & IFF_UP) != 0 &&
                             (entry->ifa_flags & IFF_LOOPBACK) == 0 && entry->ifa_addr != nullptr;
        if (!is_used) continue;
        std::array<char, INET6_ADDRSTRLEN> text{};
        if (entry->ifa_addr->sa_family == AF_INET) {
            const auto* place = reinterpret_cast<const sockaddr_in*>(entry->ifa_addr);
            if (::inet_ntop(AF_INET, &place->sin_addr, text.data(), text.size()) != nullptr)
                v4.emplace_back(text.data());
        } else if (entry->ifa_addr->sa_family == AF_INET6) {
            const auto* place = reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr);
            if (!IN6_IS_ADDR_LINKLOCAL(&place->sin6_addr) &&
                ::inet_ntop(AF_INET6, &place->sin6_addr, text.data(), text.size()) != nullptr)
                v6.emplace_back(text.data());
        }
    }
    ::freeifaddrs(first);
    v4.insert(v4.end(), v6.begin(), v6.end());
    return v4;
}

}  // namespace pliant

#include "pliant/net/web_server.h"

#include <sys/random.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace pliant {

std::string random_token() {
    std::array<unsigned char, 16> bytes{};
    // up to 256 bytes come whole; a signal may only interrupt the wait for the first entropy
    ssize_t got = -1;
    do {
        got = ::getrandom(bytes.data(), bytes.size(), 0);
    } while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(bytes.size()))
        throw std::system_error(errno, std::generic_category(),
                                "no random numbers from the system");
    constexpr char kDigits[] = "0123456789abcdef";
    std::string token;
    for (const unsigned char byte : bytes) {
        token += kDigits[byte >> 4];
        token += kDigits[byte & 15];
    }
    return token;
}

}  // namespace pliant

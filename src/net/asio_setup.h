#pragma once

/// What every file that includes Boost.Asio must define before it does.
#define BOOST_ASIO_NO_DEPRECATED
#define BOOST_ASIO_DISABLE_CO_AWAIT
#define BOOST_BEAST_USE_STD_STRING_VIEW
#if defined(__SANITIZE_THREAD__)
// the sanitizer does not know fences; one thread runs all handlers, and posting takes a lock
#define BOOST_ASIO_DISABLE_FENCED_BLOCK
#endif

#include "pliant/core/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <regex>
#include <thread>
#include <vector>

#include "pliant/core/parallel.h"

namespace pliant {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

void sleep_ms(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// A stream that keeps what is written to it.
class Capture {
public:
    Capture() : stream_(open_memstream(&text_, &size_)) {}
    ~Capture() {
        std::fclose(stream_);
        std::free(text_);
    }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;

    [[nodiscard]] std::FILE* stream() const { return stream_; }
    [[nodiscard]] std::string text() const {
        std::fflush(stream_);
        return {text_, size_};
    }

private:
    char* text_ = nullptr;
    std::size_t size_ = 0;
    std::FILE* stream_;
};

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

TEST(Progress, FractionFollowsTheUnitsDone) {
    Progress progress;
    progress.stage("work", 8);
    EXPECT_EQ(progress.fraction(), 0.0);
    progress.advance(2);
    EXPECT_EQ(progress.fraction(), 0.25);
    progress.advance(100);
    EXPECT_EQ(progress.fraction(), 1.0) << "never above one";
    progress.stage("nothing to do", 0);
    EXPECT_EQ(progress.fraction(), 1.0);
}

TEST(Progress, TimeLeftIsExtrapolatedFromTheRateSoFar) {
    Progress progress;
    const auto start = std::chrono::steady_clock::now();
    progress.stage("work", 100);
    EXPECT_LT(progress.remaining_seconds(), 0.0) << "unknown before the first unit";
    sleep_ms(40);
    progress.advance(20);
    const double left = progress.remaining_seconds();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    EXPECT_GE(left, 0.040 * 4);
    EXPECT_LE(left, elapsed.count() * 4);
    progress.advance(80);
    EXPECT_EQ(progress.remaining_seconds(), 0.0);
}

TEST(Progress, UnitsFromManyThreadsAddUp) {
    Progress progress;
    progress.stage("work", 100000);
    parallel_for(50000, 100, [&](std::size_t) { progress.advance(); });
    EXPECT_EQ(progress.fraction(), 0.5);
}

TEST(Progress, SilentStylePrintsNothing) {
    const Capture capture;
    {
        Progress progress(ProgressStyle::Silent, capture.stream());
        progress.stage("work", 1);
        progress.advance();
        progress.finish();
    }
    EXPECT_EQ(capture.text(), "");
}

TEST(Progress, BarIsRedrawnInPlaceAndEndsWithTheTimeOfTheStage) {
    const Capture capture;
    Progress progress(ProgressStyle::Bar, capture.stream());
    progress.stage("mesh: filling", 100);
    EXPECT_THAT(capture.text(), StartsWith("\rmesh: filling  ░░░░"));
    EXPECT_THAT(capture.text(), HasSubstr("    0 %"));
    sleep_ms(130);
    progress.advance(63);
    EXPECT_TRUE(std::regex_search(capture.text(), std::regex("█(░)+   63 %  0:0[1-9] left")))
        << capture.text();
    EXPECT_EQ(capture.text().find('\n'), std::string::npos);
    progress.finish();
    EXPECT_TRUE(std::regex_search(capture.text(), std::regex("█  100 %  [0-9]+\\.[0-9] s")))
        << capture.text();
    EXPECT_THAT(capture.text(), EndsWith("\n"));
    EXPECT_EQ(count_of(capture.text(), "\n"), 1u);
}

TEST(Progress, BarIsDrawnAtMostTenTimesASecond) {
    const Capture capture;
    Progress progress(ProgressStyle::Bar, capture.stream());
    progress.stage("work", 1000000);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 100000; ++i) progress.advance();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    // one at the start of the stage, and one of margin for the coarse clock
    EXPECT_LE(static_cast<double>(count_of(capture.text(), "\r")), 2 + 10 * elapsed.count());
}

/// What a terminal of the given width shows for one long-named stage.
std::string text_on_terminal(int width) {
    int controller = -1, terminal = -1;
    winsize size{};
    size.ws_col = static_cast<unsigned short>(width);
    size.ws_row = 24;
    if (openpty(&controller, &terminal, nullptr, nullptr, &size) != 0) return "";
    std::FILE* out = fdopen(terminal, "w");
    {
        Progress progress(ProgressStyle::Auto, out);
        progress.stage("ein sehr ausführlicher Name für einen Schritt", 4);
        progress.advance();
    }
    std::string text(4096, '\0');
    text.resize(
        static_cast<std::size_t>(std::max<ssize_t>(0, read(controller, text.data(), text.size()))));
    std::fclose(out);
    close(controller);
    return text;
}

TEST(Progress, BarFitsTheTerminal) {
    for (const int width : {10, 20, 30, 40, 60, 80, 200}) {
        const std::string text = text_on_terminal(width);
        if (text.empty()) GTEST_SKIP() << "no pseudo-terminal here";
        const std::size_t begin = text.find('\r') + 1, end = text.find("\x1b[K");
        ASSERT_NE(end, std::string::npos) << text;
        const std::string line = text.substr(begin, end - begin);
        const auto num_columns = std::count_if(line.begin(), line.end(), [](char byte) {
            return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
        });
        // below 20 columns the percentage stays whole, whatever the terminal makes of it
        EXPECT_LT(num_columns, std::max(width, 20)) << line;
        EXPECT_THAT(line, HasSubstr("%"));
    }
}

TEST(Progress, LinesComeAtTheEndOfStagesAndEveryTwoSeconds) {
    const Capture capture;
    Progress progress(ProgressStyle::Auto, capture.stream());  // not a terminal
    progress.stage("reading", 4);
    progress.advance();
    EXPECT_EQ(capture.text(), "") << "too early";
    sleep_ms(2030);
    progress.advance();
    EXPECT_TRUE(std::regex_match(capture.text(), std::regex("reading  50 %  0:0[3-9] left\n")))
        << capture.text();
    progress.advance();
    EXPECT_EQ(count_of(capture.text(), "\n"), 1u);
    progress.stage("writing");
    EXPECT_TRUE(std::regex_search(capture.text(), std::regex("\nreading  [2-9]\\.[0-9] s\n$")))
        << capture.text();
    progress.finish();
    progress.finish();
    EXPECT_THAT(capture.text(), EndsWith("\nwriting  0.0 s\n"));
    EXPECT_EQ(count_of(capture.text(), "\n"), 3u);
}

TEST(Progress, ANoteFollowsTheStageUntilTheNext) {
    const Capture capture;
    Progress progress(ProgressStyle::Lines, capture.stream());
    progress.stage("solving", 2);
    progress.note("residual 0.1");
    progress.note("residual 0.01");
    progress.advance(2);
    progress.stage("writing");
    progress.finish();
    EXPECT_TRUE(std::regex_match(capture.text(),
                                 std::regex("solving, residual 0.01  [0-9.]+ s\nwriting  [0-9.]+ "
                                            "s\n")))
        << capture.text();
    const Capture json;
    Progress lines(ProgressStyle::Json, json.stream());
    lines.stage("solving", 2);
    lines.note("residual 0.1");
    lines.finish();
    EXPECT_NE(json.text().find("\"note\":\"residual 0.1\"}"), std::string::npos) << json.text();
}

TEST(Progress, JsonLinesMarkStartAndEndOfEachStage) {
    const Capture capture;
    Progress progress(ProgressStyle::Json, capture.stream());
    progress.stage("say \"hi\"", 4);
    sleep_ms(130);
    progress.advance();
    progress.finish();
    const std::regex expected(
        "\\{\"stage\":\"say \\\\\"hi\\\\\"\",\"fraction\":0,\"elapsed_s\":[0-9.e-]+,"
        "\"remaining_s\":null\\}\n"
        "\\{\"stage\":\"say \\\\\"hi\\\\\"\",\"fraction\":0.25,\"elapsed_s\":[0-9.]+,"
        "\"remaining_s\":[0-9.]+\\}\n"
        "\\{\"stage\":\"say \\\\\"hi\\\\\"\",\"fraction\":1,\"elapsed_s\":[0-9.]+,"
        "\"remaining_s\":0\\}\n");
    EXPECT_TRUE(std::regex_match(capture.text(), expected)) << capture.text();
}

TEST(Progress, AnUnfinishedBarLeavesTheCursorOnAFreshLine) {
    const Capture capture;
    {
        Progress progress(ProgressStyle::Bar, capture.stream());
        progress.stage("work", 4);
        progress.advance();
    }
    EXPECT_THAT(capture.text(), EndsWith("\n"));
    EXPECT_THAT(capture.text(), Not(HasSubstr("100 %"))) << "it did not get that far";
}

TEST(Progress, CancelStopsTheWorkInEveryThread) {
    Progress progress;
    progress.stage("work", 1000);
    EXPECT_FALSE(progress.is_cancelled());
    std::thread other([&] { progress.cancel(); });
    other.join();
    EXPECT_TRUE(progress.is_cancelled());
    EXPECT_THROW(progress.advance(), Cancelled);
    EXPECT_THROW(progress.stage("next"), Cancelled);
    EXPECT_THROW(parallel_for(100, 1, [&](std::size_t) { progress.advance(); }), Cancelled);
    EXPECT_NO_THROW(progress.finish());
    EXPECT_STREQ(Cancelled().what(), "interrupted; no file is half-written");
}

TEST(Progress, TheSharedSilentInstanceDoesNotThrow) {
    Progress& none = Progress::none();
    EXPECT_EQ(&none, &Progress::none());
    EXPECT_NO_THROW(none.stage("work", 10));
    EXPECT_NO_THROW(none.advance());
    EXPECT_FALSE(none.is_cancelled());
}

class CancelOnInterruptTest : public testing::Test {
protected:
    // test runners started in the background ignore SIGINT, those of nohup SIGHUP, and their
    // children inherit that
    void SetUp() override {
        outer_ = signal(SIGINT, SIG_DFL);
        outer_hangup_ = signal(SIGHUP, SIG_DFL);
    }
    void TearDown() override {
        signal(SIGINT, outer_);
        signal(SIGHUP, outer_hangup_);
    }

private:
    void (*outer_)(int) = nullptr;
    void (*outer_hangup_)(int) = nullptr;
};

TEST_F(CancelOnInterruptTest, InterruptCancelsEveryProgressUntilTheScopeEnds) {
    Progress progress;
    {
        const CancelOnInterrupt scope;
        progress.stage("work", 10);
        raise(SIGINT);
        EXPECT_TRUE(progress.is_cancelled());
        EXPECT_TRUE(Progress::none().is_cancelled());
        EXPECT_THROW(progress.advance(), Cancelled);
        EXPECT_THROW(Progress::none().advance(), Cancelled);
    }
    EXPECT_FALSE(progress.is_cancelled());
    EXPECT_NO_THROW(Progress::none().advance());
}

TEST_F(CancelOnInterruptTest, SoDoOtherSignalsThatEndAProgram) {
    for (const int signal : {SIGTERM, SIGHUP}) {
        {
            const CancelOnInterrupt scope;
            raise(signal);
            EXPECT_TRUE(Progress::none().is_cancelled()) << signal;
            // of a terminal that is closed, kernel and shell both send one
            if (signal == SIGHUP) raise(signal);
        }
        EXPECT_FALSE(Progress::none().is_cancelled()) << signal;
    }
}

TEST_F(CancelOnInterruptTest, AHangupThatIsIgnoredStaysIgnored) {
    signal(SIGHUP, SIG_IGN);
    const CancelOnInterrupt scope;
    raise(SIGHUP);
    EXPECT_FALSE(Progress::none().is_cancelled());
}

TEST_F(CancelOnInterruptTest, NestedScopesEndWithTheLast) {
    CancelOnInterrupt* outer = new CancelOnInterrupt;
    {
        const CancelOnInterrupt inner;
        raise(SIGINT);
    }
    EXPECT_TRUE(Progress::none().is_cancelled()) << "still inside the outer scope";
    delete outer;
    EXPECT_FALSE(Progress::none().is_cancelled());
}

volatile sig_atomic_t num_outer_signals = 0;

TEST_F(CancelOnInterruptTest, RestoresTheHandlerFoundAtTheStart) {
    signal(SIGINT, [](int) { num_outer_signals = num_outer_signals + 1; });
    {
        const CancelOnInterrupt scope;
        raise(SIGINT);
    }
    EXPECT_EQ(num_outer_signals, 0);
    raise(SIGINT);
    EXPECT_EQ(num_outer_signals, 1);
}

TEST_F(CancelOnInterruptTest, IgnoredSignalStaysIgnored) {
    signal(SIGINT, SIG_IGN);
    const CancelOnInterrupt scope;
    raise(SIGINT);
    EXPECT_FALSE(Progress::none().is_cancelled());
}

using CancelOnInterruptDeathTest = CancelOnInterruptTest;

TEST_F(CancelOnInterruptDeathTest, SecondInterruptEndsTheProcess) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_EXIT(
        {
            const CancelOnInterrupt scope;
            raise(SIGINT);
            raise(SIGINT);
        },
        testing::KilledBySignal(SIGINT), "");
}

TEST_F(CancelOnInterruptDeathTest, WithoutAScopeInterruptEndsTheProcess) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_EXIT(
        {
            { const CancelOnInterrupt scope; }
            raise(SIGINT);
        },
        testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace pliant

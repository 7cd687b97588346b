// Messages, progress and the rules for colour.
#include "support/catch.h"

#include <fmt/format.h>

#include "frame/messages.h"
#include "frame/progress.h"
#include "frame/terminal.h"
#include "support/program/run_program.h"

namespace msdump::cli {
namespace {

struct Screen {
  MemoryFile file;
  Console console{file.fd()};
  Messages messages{console};
};

TEST_CASE("names in lines of another tool's format do not drive a terminal, and the lines stay lines") {
  CHECK(lines_for_terminal("a,b\n\x1b[2J,c\r\n") == "a,b\n\\x1b[2J,c\n");
  CHECK(lines_for_terminal("no end") == "no end");
  CHECK(lines_for_terminal("\n\n") == "\n\n");
  CHECK(lines_for_terminal("").empty());
}

TEST_CASE("an error names file, tensor and offset, escapes names, and gives its hint once") {
  Screen screen;
  const auto error = [](const char* path) {
    return make_error(ErrorCode::kTruncated, "needs 576 bytes, {} present", 100)
        .with_path(path)
        .with_tensor("output:0")
        .with_offset(128)
        .with_hint("still being written?");
  };
  screen.messages.error(error("a\x1b[2Jb"));
  screen.messages.error(error("c"));
  CHECK(screen.file.text() ==
        "msdump: error: a\\x1b[2Jb: output:0: at byte 128: needs 576 bytes, 100 present\n  hint: still being written?\n"
        "msdump: error: c: output:0: at byte 128: needs 576 bytes, 100 present\n");
}

TEST_CASE("a path that is longer than any file's is cut in a message") {
  Screen screen;
  screen.messages.error(make_error(ErrorCode::kNotFound, "none").with_path(std::string(4096, 'p')));
  CHECK(screen.file.text() == "msdump: error: " + std::string(4096, 'p') + ": none\n");
  Screen cut;
  cut.messages.error(make_error(ErrorCode::kNotFound, "none").with_path(std::string(4097, 'p')));
  CHECK(cut.file.text() == "msdump: error: " + std::string(60, 'p') + "...: none\n");
}

TEST_CASE("warnings of one cause are folded, errors never") {
  Screen screen;
  for (int i = 0; i < 10; ++i) {
    const std::string name = "f" + std::to_string(i);
    screen.messages.warning(
        make_error(ErrorCode::kUnsupportedFormat, "kept in {}, slot '{}'", i, name).with_path(name));
    screen.messages.error(make_error(ErrorCode::kTruncated, "{} bytes", i).with_path(name));
  }
  screen.messages.finish();
  const std::string text = screen.file.text();
  CHECK(text.find("msdump: warning: f2: kept in 2, slot 'f2'\n") != std::string::npos);
  CHECK(text.find("f3: kept") == std::string::npos);
  CHECK(text.find("msdump: error: f9: 9 bytes\n") != std::string::npos);
  CHECK(text.ends_with("msdump: warning: kept in 0, slot 'f0' (and 7 more like this; -v names them all)\n"));
}

TEST_CASE("an apostrophe does not hide the rest of a message, so that different causes stay apart") {
  Screen screen;
  for (const char* const what : {"the header", "the shape", "the dtype", "the padding"})
    screen.messages.warning(fmt::format("MindSpore's {} is odd", what));
  for (const char* const name : {"it's", "a", "b", "c"}) screen.messages.warning(fmt::format("no key '{}' here", name));
  screen.messages.warning("an open ' quote: one");
  screen.messages.warning("an open ' quote: two");
  screen.messages.finish();
  const std::string text = screen.file.text();
  CHECK(text.find("the padding is odd") != std::string::npos);
  CHECK(text.find("'c'") == std::string::npos);
  CHECK(text.find("no key 'it's' here (and 1 more like this") != std::string::npos);
  CHECK(text.find("quote: two") != std::string::npos);
}

TEST_CASE("with -v nothing is folded") {
  Screen screen;
  screen.messages.configure({false, 1, false});
  for (int i = 0; i < 5; ++i) screen.messages.warning("w");
  screen.messages.finish();
  CHECK(screen.file.text() ==
        "msdump: warning: w\nmsdump: warning: w\nmsdump: warning: w\nmsdump: warning: w\nmsdump: warning: w\n");
}

TEST_CASE("the progress line waits, is drawn at most six times a second, and leaves no trace") {
  Screen screen;
  Progress::Clock::time_point now;
  {
    Progress progress(screen.console, [&] { return now; });
    progress.enable(true, 80);
    progress.start(10, 4096);
    progress.add_bytes(1024);
    CHECK(screen.file.text().empty());
    now += std::chrono::milliseconds(510);
    progress.unit_done("MatMul\n");
    const std::string first = screen.file.text();
    CHECK(first == "\r\x1b[K1/10  25%  1.0 KiB  2.0 KiB/s  0:02 left  MatMul\\n");
    progress.add_bytes(1);
    now += std::chrono::milliseconds(100);
    progress.add_bytes(1);
    CHECK(screen.file.text() == first);
    now += std::chrono::milliseconds(100);
    progress.add_bytes(1);
    CHECK(screen.file.text() != first);
    screen.messages.note("in between");
    CHECK(screen.file.text().ends_with("\r\x1b[Kmsdump: note: in between\n"));
    now += std::chrono::seconds(1);
    progress.unit_done("x");
  }
  CHECK(screen.file.text().ends_with("\r\x1b[K"));
}

TEST_CASE("work that starts while other work runs is added to its line, which stays until both have ended") {
  Screen screen;
  Progress::Clock::time_point now;
  Progress progress(screen.console, [&] { return now; });
  progress.enable(true, 80);
  progress.start(10, 1024);
  progress.start(5, 1024);
  now += std::chrono::seconds(1);
  progress.add_bytes(1024);
  CHECK(screen.file.text().find("0/15  50%") != std::string::npos);
  progress.stop();
  CHECK(!screen.file.text().ends_with("\r\x1b[K"));
  progress.stop();
  CHECK(screen.file.text().ends_with("\r\x1b[K"));
  progress.start(3, 0);
  now += std::chrono::seconds(2);
  progress.unit_done("x");
  CHECK(screen.file.text().find("1/3 ") != std::string::npos);
  progress.start(4, 0);
  progress.finish();
  CHECK(screen.file.text().ends_with("\r\x1b[K"));
  progress.start(6, 0);
  now += std::chrono::seconds(2);
  progress.unit_done("y");
  CHECK(screen.file.text().find("1/6 ") != std::string::npos);
}

TEST_CASE("the progress line never wraps") {
  Screen screen;
  Progress::Clock::time_point now;
  Progress progress(screen.console, [&] { return now; });
  progress.enable(true, 40);
  progress.start(10, 4096);
  now += std::chrono::seconds(1);
  progress.unit_done(std::string(100, 'x'));
  CHECK(screen.file.text().size() == std::string_view("\r\x1b[K").size() + 39);
}

TEST_CASE("colour: terminal, TERM, NO_COLOR; an explicit choice wins") {
  TerminalFacts facts;
  CHECK(use_color(When::kAuto, true, facts));
  CHECK_FALSE(use_color(When::kAuto, false, facts));
  CHECK(use_color(When::kAlways, false, facts));
  facts.no_color = true;
  CHECK_FALSE(use_color(When::kAuto, true, facts));
  CHECK(use_color(When::kAlways, true, facts));
  facts = {};
  facts.dumb = true;
  CHECK_FALSE(use_color(When::kAuto, true, facts));
}

TEST_CASE("progress: on a terminal, not with -q, not in CI; an explicit choice wins") {
  TerminalFacts facts;
  facts.err_tty = true;
  CHECK(use_progress(When::kAuto, false, facts));
  CHECK_FALSE(use_progress(When::kAuto, true, facts));
  CHECK_FALSE(use_progress(When::kNever, false, facts));
  facts.ci = true;
  CHECK_FALSE(use_progress(When::kAuto, false, facts));
  CHECK(use_progress(When::kAlways, true, facts));
}

}  // namespace
}  // namespace msdump::cli

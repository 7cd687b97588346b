#include "tables/csv_records.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;

constexpr size_t kMaxLine = LineReader::kMaxLine;

std::vector<std::string> lines_of(const std::string& content) {
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("lines", content));
  REQUIRE(file);
  LineReader reader(*file);
  std::vector<std::string> lines;
  for (;;) {
    const auto line = reader.next();
    if (line && !*line) return lines;
    if (!line) {
      CHECK(line.error().code == ErrorCode::kBadCsv);
      lines.push_back(line.error().message + " @" + std::to_string(line.error().offset.value()));
      continue;
    }
    const std::string text =
        (*line)->text.size() > 20 ? std::to_string((*line)->text.size()) + " bytes" : std::string((*line)->text);
    lines.push_back(fmt::format("{}@{}:{}{}", (*line)->number, (*line)->offset, text, (*line)->complete ? "" : "+"));
  }
}

using Lines = std::vector<std::string>;

TEST_CASE("lines know their number, place and end") {
  CHECK(lines_of("") == Lines{});
  CHECK(lines_of("a\n") == Lines{"1@0:a"});
  CHECK(lines_of("a\r\n\nbc") == Lines{"1@0:a", "2@3:", "3@4:bc+"});
  CHECK(lines_of("\r\r\na\r") == Lines{"1@0:\r", "2@3:a+"});
}

TEST_CASE("lines are found across the border of the buffer") {
  const std::string line(99'999, 'x');
  const std::string content = line + "\n" + line + "\n" + line + "\n" + line;
  CHECK(lines_of(content) ==
        Lines{"1@0:99999 bytes", "2@100000:99999 bytes", "3@200000:99999 bytes", "4@300000:99999 bytes+"});
}

TEST_CASE("a line keeps its text when the buffer moves on and when it grows") {
  std::vector<std::string> texts;
  std::string content;
  for (const size_t length : {100'000U, 150'000U, 90'000U, 700'000U, 3U, 300'000U}) {
    std::string text;
    while (text.size() < length) text += std::to_string(content.size() + text.size()) + ' ';
    texts.push_back(text);
    content += text + '\n';
  }
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("lines", content));
  REQUIRE(file);
  LineReader reader(*file);
  for (const std::string& text : texts) {
    const auto line = reader.next();
    REQUIRE(line);
    REQUIRE(*line);
    CHECK(((*line)->text == text));  // not printed: it is long
  }
}

TEST_CASE("a line of the greatest length is read") {
  const std::string line(kMaxLine, 'x');
  CHECK(lines_of("a\n" + line + "\nb") == Lines{"1@0:a", "2@2:1048576 bytes", "3@1048579:b+"});
  CHECK(lines_of("a\n" + line + "\r\nb") == Lines{"1@0:a", "2@2:1048576 bytes", "3@1048580:b+"});
  CHECK(lines_of(line) == Lines{"1@0:1048576 bytes+"});
}

TEST_CASE("a longer line is one error and reading goes on after it") {
  const std::string what = "line 2 is longer than 1048576 bytes @2";
  for (const size_t length : {kMaxLine + 1, kMaxLine + 2, kMaxLine + 3, 2 * kMaxLine + 4, 3 * kMaxLine}) {
    const std::string line(length, 'x');
    CHECK(lines_of("a\n" + line + "\nb\n") == Lines{"1@0:a", what, fmt::format("3@{}:b", length + 3)});
    CHECK(lines_of("a\n" + line) == Lines{"1@0:a", what});
  }
}

TEST_CASE("a file that shrinks ends the lines with one error") {
  const ScratchDir scratch;
  const std::string path = scratch.write("lines", std::string(400'000, '\n'));
  const auto file = File::open(path);
  REQUIRE(file);
  std::filesystem::resize_file(path, 300'000);
  LineReader reader(*file);
  size_t good = 0;
  auto line = reader.next();
  for (; line && *line; line = reader.next()) ++good;
  REQUIRE_FALSE(line);
  CHECK(line.error().code == ErrorCode::kChangedWhileReading);
  CHECK(good == size_t{256} << 10);
  line = reader.next();
  REQUIRE(line);
  CHECK_FALSE(*line);
}

}  // namespace
}  // namespace msdump

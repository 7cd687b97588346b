#include <string>
#include <vector>

#include "support/catch.h"
#include "support/scratch_dir.h"
#include "tables/csv_records.h"

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

using Lines = std::vector<std::string>;

// "LINE@OFFSET:FIELD|FIELD" of each record; a line end in a field is shown as '/'.
Lines records_of(const std::string& content) {
  const test::ScratchDir scratch;
  const auto file = File::open(scratch.write("a.csv", content));
  REQUIRE(file);
  CsvRecords records(*file);
  Lines lines;
  for (;;) {
    const auto record = records.next();
    if (!record) {
      CHECK(record.error().code == ErrorCode::kBadCsv);
      CHECK(record.error().path == file->path());
      lines.push_back(record.error().message + "@" + std::to_string(record.error().offset.value()));
      continue;
    }
    if (*record == nullptr) break;
    std::string text = fmt::format("{}@{}:", (*record)->line, (*record)->offset);
    for (size_t i = 0; i < (*record)->fields.size(); ++i) text.append(i == 0 ? "" : "|").append((*record)->fields[i]);
    for (char& c : text) c = c == '\n' ? '/' : c;
    lines.push_back(text.size() < 60 ? text : std::to_string((*record)->fields.size()) + " fields");
  }
  const auto end = records.next();
  CHECK((end && *end == nullptr));
  return lines;
}

TEST_CASE("fields are separated by commas, and empty ones count") {
  CHECK(records_of("") == Lines{});
  CHECK(records_of("a,b\n\nc,,\r\n,") == Lines{"1@0:a|b", "3@5:c||", "4@10:|"});
}

TEST_CASE("a byte order mark before the first record is not part of it") {
  CHECK(records_of("\xEF\xBB\xBF"
                   "a,b\n\xEF\xBB\xBF"
                   "c\n") == Lines{"1@0:a|b",
                                   "2@7:\xEF\xBB\xBF"
                                   "c"});
  CHECK(records_of("\xEF\xBB\xBF\nx\n") == Lines{"2@4:x"});
}

TEST_CASE("a field in quotes may hold commas, quotes and line ends") {
  CHECK(records_of("\"a,b\",c\n") == Lines{"1@0:a,b|c"});
  CHECK(records_of("\"a\"\"b\",\"\"\"\"\n") == Lines{"1@0:a\"b|\""});
  CHECK(records_of("\"\",\"\"\n") == Lines{"1@0:|"});
  CHECK(records_of("x,\"one\r\ntwo\n\",y\nz\n") == Lines{"1@0:x|one/two/|y", "4@16:z"});
  // As Python reads it: a quote inside of a field is one, and what follows a closing quote is kept.
  CHECK(records_of("a\"b\",\"c\"d\"e,f\n") == Lines{"1@0:a\"b\"|cd\"e|f"});
}

TEST_CASE("a quote that is not closed is one error, and takes what follows at most to the end") {
  CHECK(records_of("a\n\"b\nc\n") == Lines{"1@0:a", "line 2: a quote is not closed@2"});
  const std::string long_line(100'000, 'x');
  std::string content = "\"";
  for (int i = 0; i < 11; ++i) content += long_line + "\n";
  CHECK(records_of(content + "after\n") ==
        Lines{"line 1: a record of more than 1 MiB, or a quote that is not closed@0", "12@1100012:after"});
}

TEST_CASE("more fields than any table has are an error") {
  CHECK(records_of(std::string(4095, ',') + "\n") == Lines{"4096 fields"});
  CHECK(records_of(std::string(4096, ',') + "\na\n") == Lines{"line 1: more than 4096 fields@0", "2@4097:a"});
}

TEST_CASE("a column has the place of its title") {
  CHECK(column_of({"a", "b"}, "b") == 1);
  CHECK_FALSE(column_of({"a", "b"}, "c"));
}

}  // namespace

}  // namespace msdump

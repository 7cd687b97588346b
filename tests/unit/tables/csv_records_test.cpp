#include "tables/csv_records.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

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

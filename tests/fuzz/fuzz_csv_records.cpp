// Any bytes as a table with quotes: what is read, written with quotes again, reads the same.
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_file.h"
#include "tables/csv_records.h"

namespace {

using namespace msdump;
using fuzz::require;

using Records = std::vector<std::vector<std::string>>;

Records read(const uint8_t* data, size_t size) {
  const fuzz::FuzzFile input(data, size);
  const File file = input.open();
  CsvRecords records(file);
  Records all;
  size_t last_line = 0;
  for (size_t calls = 0;; ++calls) {
    require(calls <= size + 1, "reading ends");
    const auto record = records.next();
    if (!record) {
      fuzz::require_good_error(record.error());
      require(record.error().offset && *record.error().offset <= size, "an error says where");
      continue;
    }
    if (*record == nullptr) return all;
    require(!(*record)->fields.empty() && (*record)->fields.size() <= CsvRecords::kMostFields, "a record has fields");
    require((*record)->line > last_line && (*record)->offset < size, "records are in order");
    last_line = (*record)->line;
    all.emplace_back((*record)->fields.begin(), (*record)->fields.end());
  }
}

std::string written(const Records& records) {
  std::string text;
  for (const auto& record : records) {
    for (size_t i = 0; i < record.size(); ++i) {
      text += i == 0 ? "\"" : ",\"";
      for (const char c : record[i]) text.append(c == '"' ? "\"\"" : std::string(1, c));
      text += '"';
    }
    text += '\n';
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Records records = read(data, size);
  const std::string again = written(records);
  if (again.size() > CsvRecords::kMostBytes || again.find('\r') != std::string::npos) return 0;
  require(read(reinterpret_cast<const uint8_t*>(again.data()), again.size()) == records, "quotes keep every field");
  return 0;
}

// Reads the facts of one file of any kind: its kind, and the content of its header. Memory is bounded for files of any size,
// and no file is trusted. A damaged file keeps the facts that could be read, and has a problem.
//
// A reader gives each fact once: under a key for programs, and as a line for people. docs/info.md lists the keys by kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "dump/names/file_kind.h"
#include "io/run_context.h"
#include "report/value.h"

namespace msdump {

// A line for people: the text, or if it is empty, the value.
struct FactLine {
  std::string label, text;
  report::Value value = {};
};

struct FileFacts {
  FileKind kind = FileKind::kUnknown;
  std::string title;            // what the file is: "npy, one tensor as numpy stores it"
  report::Object detail;        // for programs: `bytes` and the keys of the kind, null if unknown
  std::vector<FactLine> lines;  // for people
  std::vector<Error> problems;
  // Tensors with elements, in the order of `detail`, without absent optional inputs.
  std::vector<StoredTensor> tensors;
  uint64_t tensor_count = 0;  // also of tables, whose tensors are rows
  uint64_t tensor_bytes = 0;
  const Family* family = nullptr;  // that reads the tensors; null when there are none
  uint64_t size = 0;               // of the file when it was read, as the next
  int64_t mtime_ns = 0;

  // A key, and a line under its name.
  FileFacts& add(std::string_view key, report::Value value);
  // The same for a number that people see only from `least` on.
  FileFacts& add_count(std::string_view key, report::Value value, int64_t least = 1);
  // A line only.
  void line(std::string label, std::string text) { lines.push_back({std::move(label), std::move(text)}); }
};

// Never fails: errors are in `problems`. After an interruption the facts are incomplete and must not be shown.
[[nodiscard]] FileFacts read_file_facts(const DumpIndex& index, const IndexedFile& file, const CancelToken& cancel);

// The file once more, with one of `facts.tensors`, for its elements. Its header is not read again.
[[nodiscard]] Result<OpenedFile> open_again(const DumpIndex& index, const IndexedFile& file, const FileFacts& facts,
                                            size_t item);

// A JSON text as a value of a report, nested at most as deep as parse_json allows.
[[nodiscard]] Result<report::Value> json_value(std::string_view text);

}  // namespace msdump

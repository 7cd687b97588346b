// One run of convert() with everything it reports kept, for tests to look at.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "convert/convert.h"

namespace msdump::test {

struct ConvertRun {
  struct Warning {
    std::string path, tensor, text;
  };
  std::optional<Error> error;  // convert() (or the index) could do nothing at all
  ConvertSummary summary;
  std::vector<ConvertRow> rows;
  std::vector<Warning> warnings;
  std::vector<Error> failures;

  // The row of a tensor; nothing if there is none.
  [[nodiscard]] const ConvertRow* row_of(const std::string& input, const std::string& tensor) const;
  // All of it as text, but for OUT: two runs that did the same say the same.
  [[nodiscard]] std::string transcript() const;
};

struct RunOptions {
  unsigned jobs = 2;  // several: what two threads disturb is for the thread sanitizer to see
  std::vector<std::string> excluded = {};
  SelectionOptions selection = {};
  const CancelToken* cancel = nullptr;
  ProgressSink* progress = nullptr;
  FactStore* facts = nullptr;
};

// Indexes `paths` as the command does and converts them.
ConvertRun run_convert(const std::vector<std::filesystem::path>& paths, const ConvertOptions& options,
                       const RunOptions& run = {});

// The files below a folder, but for the settings of convert: path relative to it -> content.
[[nodiscard]] std::map<std::string, std::string> files_below(const std::filesystem::path& folder);
[[nodiscard]] std::string read_text(const std::filesystem::path& path);

// An .npy file, read in another way than lib/npy does it: `header` is Python's dict as text, `body` all bytes after it.
struct NpyText {
  std::string header, body;

  [[nodiscard]] std::string descr() const;  // "<f2"
  [[nodiscard]] std::vector<int64_t> shape() const;
  [[nodiscard]] bool fortran_order() const;
};
[[nodiscard]] NpyText parse_npy(const std::string& file);        // the checks of Catch2 fail when it is none
[[nodiscard]] std::string numpy_word(const std::string& descr);  // "<f2" -> "float16"

}  // namespace msdump::test

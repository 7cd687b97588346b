// SettingsFile: OUT/.msdump-convert.json, the options that the arrays in OUT were made with.
//
// Names of arrays do not tell all options: two host formats can give one shape. So --resume keeps an array only if the
// file says the same options, and the array was written after the file. A run with other options replaces the file, which
// makes all earlier arrays count as foreign; a run with the same options leaves it, so shards share it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "io/cancel.h"

namespace msdump {

struct ConvertOptions;

class SettingsFile {
 public:
  // Reads what is there; the file is not written before `write`.
  explicit SettingsFile(const ConvertOptions& options);

  // True if an array of this time was made with these options.
  [[nodiscard]] bool covers(int64_t mtime_ns) const { return since_ && mtime_ns > *since_; }

  // Makes the file say these options. OUT exists, and no array of this run is in it yet.
  [[nodiscard]] Status write(const CancelToken& cancel) const;

  // Removes the file if another run replaced it since `write`: arrays of both lie in OUT, newer than the file.
  void end() const;

 private:
  std::string path_, folder_, text_;
  std::optional<int64_t> since_;  // time of a file that says the same
};

}  // namespace msdump

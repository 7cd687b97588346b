// Runs the command line in this process and keeps what it printed.
#pragma once

#include <string>
#include <vector>

#include "frame/cli.h"

namespace msdump::cli {

struct Outcome {
  ExitCode code;
  std::string out, err;
};

[[nodiscard]] Outcome run_program(const std::vector<std::string>& arguments);

// A file in memory; what was written to it can be read back.
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] std::string text() const;

 private:
  int fd_;
};

}  // namespace msdump::cli

#include "support/program/run_program.h"

#include <sys/mman.h>
#include <unistd.h>

namespace msdump::cli {

MemoryFile::MemoryFile() : fd_(memfd_create("msdump-test", 0)) {}
MemoryFile::~MemoryFile() { ::close(fd_); }

std::string MemoryFile::text() const {
  std::string text(static_cast<size_t>(::lseek(fd_, 0, SEEK_END)), '\0');
  if (::pread(fd_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) return "short read";
  return text;
}

Outcome run_program(const std::vector<std::string>& arguments) {
  const MemoryFile out, err;
  const ExitCode code = run(arguments, {out.fd(), err.fd()});
  return {code, out.text(), err.text()};
}

}  // namespace msdump::cli

#include "io/open_file.h"

#include <cerrno>

#include <fcntl.h>

namespace msdump {

int open_file(const std::string& path, int flags) {
  for (;;) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EINTR) return descriptor;
  }
}

}  // namespace msdump

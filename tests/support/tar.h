// Archives of the conformance data, unpacked: .tar.gz as GNU tar writes them with --format=pax.
//
//   1. blocks of 512 bytes: a header (name at 0, size in octal at 124, type at 156), then the content, padded to blocks
//   2. type 0 a file, 5 a directory, x records for the entry after it: "LENGTH path=NAME\n" for names above 100 bytes
//   3. a block of zeros ends it
// Source: POSIX.1-2008, pax.
#pragma once

#include <filesystem>

namespace msdump::test {

// A failure is an exception; so is an entry that is neither file nor directory, or would lie outside `into`.
void unpack_tar(const std::filesystem::path& archive, const std::filesystem::path& into);

}  // namespace msdump::test

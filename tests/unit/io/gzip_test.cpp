#include "io/zip.h"

#include <random>
#include <string>

#include "support/catch.h"
#include "support/gzip.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

std::string unpacked(const std::string& packed) {
  const test::ScratchDir folder;
  return test::read_maybe_gzipped(folder.write("packed.gz", packed));
}

TEST_CASE("what gzip packs comes out as it was") {
  std::string noise(3 << 20, '\0');
  std::mt19937 random(7);
  for (char& c : noise) c = static_cast<char>(random());
  for (const std::string& text : {std::string(), std::string("a"), std::string(1 << 20, 'x'), noise}) {
    const Result<std::string> packed = gzip(text);
    REQUIRE(packed);
    CHECK((unpacked(*packed) == text));
  }
  CHECK(gzip(std::string(1 << 20, 'x'))->size() < 5000);
}

TEST_CASE("a gzip file has neither a name nor a time in it") {
  const std::string packed = *gzip("text");
  CHECK(packed.substr(0, 4) == std::string("\x1F\x8B\x08\x00", 4));
  CHECK(packed.substr(4, 4) == std::string(4, '\0'));
}

}  // namespace
}  // namespace msdump

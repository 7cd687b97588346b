#include "dump/index/dump_index.h"

#include <array>

#include "support/catch.h"

namespace msdump {
namespace {

std::shared_ptr<const KeptLists::List> list_of(size_t tensors) {
  return std::make_shared<const KeptLists::List>(
      KeptLists::List{1, 2, FileKind::kSafetensors, "", std::vector<StoredTensor>(tensors)});
}

}  // namespace

TEST_CASE("lists are kept until others need the room; those asked for last stay") {
  KeptLists kept(100);
  const std::array<IndexedFile, 4> files = {};
  for (const size_t i : {0U, 1U, 2U}) kept.add(files[i], list_of(30));
  REQUIRE(kept.find(files[0]) != nullptr);
  kept.add(files[3], list_of(30));
  CHECK(kept.find(files[0]) != nullptr);
  CHECK(kept.find(files[1]) == nullptr);
  CHECK(kept.find(files[2]) != nullptr);
  CHECK(kept.find(files[3]) != nullptr);
}

TEST_CASE("a list takes the place of an older one of its file, and one that is too long is kept alone") {
  KeptLists kept(100);
  const std::array<IndexedFile, 3> files = {};
  kept.add(files[0], list_of(60));
  kept.add(files[0], list_of(70));
  kept.add(files[1], list_of(30));
  REQUIRE(kept.find(files[0]) != nullptr);
  CHECK(kept.find(files[0])->tensors.size() == 70);
  kept.add(files[2], list_of(101));
  CHECK(kept.find(files[2]) != nullptr);
  CHECK(kept.find(files[0]) == nullptr);
  CHECK(kept.find(files[1]) == nullptr);
}

}  // namespace msdump

// Any bytes as the index of a sharded checkpoint, with the folder it lies in.
#include "checkpoint/shards.h"
#include "fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace msdump;
  const fuzz::FuzzFile input(data, size);
  const auto index = read_shard_index(input.open());
  if (!index) {
    fuzz::require_good_error(index.error());
    return 0;
  }
  for (const auto& [name, file] : index->parameters)
    fuzz::require(file < index->files.size(), "a parameter has a file");
  for (const std::string& name : index->files) fuzz::require(name.find('/') == name.npos, "a file is a name");
  const ShardCheck check = check_shards(*index, "/nonexistent", CancelToken());
  fuzz::require(check.faults.size() >= index->files.size(), "a file that is not there is a fault");
  return 0;
}

// Any bytes as a tree of files with any names: the catalogue of it. It lists the same tensors for one worker and for
// several, each of a file that is there, and what it says can be read is read or refused with an error.
//
// The input is a row of files: a path and a line feed, two bytes with the length, the content.
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "dump/elements/host_tensor.h"
#include "dump/index/tensor_list.h"
#include "dump/names/identity.h"
#include "fuzz_file.h"
#include "report/json.h"

namespace {

using namespace msdump;
using fuzz::require;
namespace fs = std::filesystem;

constexpr size_t kMostFiles = 8, kMostRead = 4, kMostPath = 600;

// Below the folder, and short enough for a system call; empty: no such path.
fs::path safe_path(std::string_view text) {
  fs::path path;
  if (text.size() > kMostPath || text.find('\0') != std::string_view::npos) return {};
  for (const std::string_view part : split(text, '/')) {
    if (part == ".." || part.size() > 255) return {};
    if (!part.empty() && part != ".") path /= part;
  }
  return path;
}

void write_files(std::string_view data, const fs::path& root) {
  for (size_t files = 0; files < kMostFiles; ++files) {
    const size_t end = data.find('\n');
    if (end == std::string_view::npos || data.size() < end + 3) return;
    const fs::path path = safe_path(data.substr(0, end));
    const size_t length = static_cast<uint8_t>(data[end + 1]) + (size_t{static_cast<uint8_t>(data[end + 2])} << 8);
    data.remove_prefix(end + 3);
    const std::string_view content = data.substr(0, length);
    data.remove_prefix(content.size());
    std::error_code ignored;  // a file may be in the way of a folder
    fs::create_directories((root / path).parent_path(), ignored);
    if (!path.empty())
      std::ofstream(root / path, std::ios::binary).write(content.data(), static_cast<long>(content.size()));
  }
}

TensorList list_of(const DumpIndex& index, unsigned workers) {
  WorkerPool pool(workers);
  const CancelToken cancel;
  auto list = TensorList::read(index, {}, {}, {pool, cancel});
  require(list.has_value(), "a list is made of what can be read");
  return std::move(*list);
}

// Every row as JSON, which has all that a record says.
std::string rows_of(const DumpIndex& index, const TensorList& list) {
  std::string rows;
  for (const TensorRecord& tensor : list.tensors()) {
    require(tensor.file < index.files().size(), "a tensor is of a file that is there");
    require(tensor.table == kNoId || tensor.table < index.files().size(), "a row is of a table that is there");
    require(tensor.has_elements || tensor.table != kNoId, "a tensor has elements or a row");
    report::append_json(rows, identity_value(identity_of(index, tensor)));
    rows += '\n';
  }
  return rows;
}

void read_some(const DumpIndex& index, const TensorList& list) {
  size_t read = 0;
  for (const TensorRecord& tensor : list.tensors()) {
    if (!tensor.has_elements || tensor.broken || ++read > kMostRead) continue;
    auto host = HostTensor::open(index, tensor, {});
    if (!host) {
      fuzz::require_good_error(host.error());
      continue;
    }
    std::vector<std::byte> element(host->element_bytes());
    if (host->count() == 0) continue;
    if (const Status done = host->read(host->count() - 1, 1, element.data()); !done)
      fuzz::require_good_error(done.error());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fs::path root = fuzz::memory_folder() / "dump";
  fs::create_directories(root);
  write_files({reinterpret_cast<const char*>(data), size}, root);
  const auto index = DumpIndex::build({root.string()}, {});
  require(index.has_value(), "a folder that is there has an index");
  for (const Error& problem : index->problems()) fuzz::require_good_error(problem);
  const TensorList list = list_of(*index, 1), again = list_of(*index, 3);
  require(rows_of(*index, list) == rows_of(*index, again), "the number of workers changes nothing");
  require(list.failures().size() == again.failures().size(), "nor the failures");
  for (const Error& failure : list.failures()) fuzz::require_good_error(failure);
  read_some(*index, list);
  fs::remove_all(root);
  return 0;
}

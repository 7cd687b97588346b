#include "stats/statistic_files.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"

namespace msdump::stats {
namespace {

constexpr std::string_view kTensorData = "dump_tensor_data";
constexpr size_t kFlushBytes = size_t{1} << 20;

std::string directory_of(const std::string& folder) {
  if (folder == kTensorData) return "";
  const size_t at = folder.rfind('/');
  return at != std::string::npos && folder.substr(at + 1) == kTensorData ? folder.substr(0, at) : folder;
}

struct NaturalOrder {
  bool operator()(const std::pair<uint32_t, std::string>& a, const std::pair<uint32_t, std::string>& b) const {
    return a.first != b.first ? a.first < b.first : natural_less(a.second, b.second);
  }
};

}  // namespace

std::vector<StatisticDirectory> statistic_directories(const DumpIndex& index,
                                                      const std::vector<TensorRecord>& tensors) {
  std::map<std::pair<uint32_t, std::string>, std::vector<size_t>, NaturalOrder> by_path;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].has_elements || tensors[i].broken) continue;
    const IndexedFolder& folder = index.folders()[index.files()[tensors[i].file].folder];
    by_path[{folder.root, directory_of(folder.relative)}].push_back(i);
  }
  std::vector<StatisticDirectory> directories;
  for (auto& [place, members] : by_path) {
    std::stable_partition(members.begin(), members.end(),
                          [&](size_t i) { return tensors[i].name.io != Io::kParameter; });
    directories.push_back({place.first, place.second, std::move(members)});
  }
  return directories;
}

Result<TextFile> TextFile::create(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0) MSDUMP_CHECK_OK(make_directories(path.substr(0, slash)));
  MSDUMP_TRY(AtomicFile file, AtomicFile::create(path));
  return TextFile(std::move(file));
}

Status TextFile::append(std::string_view text) {
  waiting_ += text;
  return waiting_.size() < kFlushBytes ? Status() : flush();
}

Status TextFile::flush() {
  MSDUMP_CHECK_OK(file_.write_at(written_, std::as_bytes(std::span(waiting_))));
  written_ += waiting_.size();
  waiting_.clear();
  return {};
}

Status TextFile::commit() {
  MSDUMP_CHECK_OK(flush());
  return file_.commit();
}

}  // namespace msdump::stats

#include "convert/output_tree.h"

#include <utility>

#include "io/atomic_file.h"
#include "io/dir_walk.h"
#include "io/directory_lock.h"

namespace msdump {
namespace {

// Another convert may write into the same folder: each waits for the other.
Status write_mapping(const std::string& folder, const NameMapping& added, const CancelToken& cancel) {
  MSDUMP_TRY(const DirectoryLock lock, DirectoryLock::acquire(folder, cancel));
  const std::string path = join_path(folder, "mapping.csv");
  NameMapping all = added;
  auto file = File::open(path);
  if (file) {
    // A damaged table is not ours to throw away.
    MSDUMP_TRY(NameMapping earlier, read_mapping_csv(*file));
    all.merge(earlier);
  } else if (file.error().code != ErrorCode::kNotFound) {
    return fail(std::move(file).error());
  }
  return write_file(path, format_mapping_csv(all));
}

}  // namespace

Status OutputTree::create_root() {
  MSDUMP_CHECK_OK(make_directories(root_));
  // Created and removed at once: reports now what the first of many tensors would report later.
  auto probe = AtomicFile::create(join_path(root_, "probe"));
  if (!probe) return fail(std::move(probe).error().with_path(root_).with_hint("choose another --out"));
  return {};
}

Status OutputTree::create_folder(const std::string& folder) {
  {
    const std::lock_guard lock(mutex_);
    if (made_.contains(folder)) return {};
  }
  MSDUMP_CHECK_OK(make_directories(path_of(folder)));
  const std::lock_guard lock(mutex_);
  if (!has_settings_) MSDUMP_CHECK_OK(settings_.write(cancel_));
  has_settings_ = true;
  made_.insert(folder);
  return {};
}

std::string OutputTree::path_of(const std::string& relative) const { return join_path(root_, relative); }

void OutputTree::add_mapping(const std::string& folder, std::string mapped, std::string original) {
  mappings_[folder].insert_or_assign(std::move(mapped), std::move(original));
}

std::vector<Error> OutputTree::write_mappings() const {
  std::vector<Error> errors;
  for (const auto& [folder, mapping] : mappings_) {
    Status status = write_mapping(path_of(folder), mapping, cancel_);
    if (!status) errors.push_back(std::move(status).error());
  }
  return errors;
}

bool OutputClaims::Turn::claim(const std::string& output) {
  std::unique_lock lock(claims_.mutex_);
  claims_.advanced_.wait(lock, [&] { return claims_.next_ == input_; });
  return claims_.taken_.insert(output).second;
}

void OutputClaims::Turn::end() {
  if (ended_) return;
  ended_ = true;
  const std::lock_guard lock(claims_.mutex_);
  claims_.ended_.insert(input_);
  while (claims_.ended_.erase(claims_.next_) > 0) ++claims_.next_;
  claims_.advanced_.notify_all();
}

}  // namespace msdump

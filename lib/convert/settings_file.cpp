#include "convert/settings_file.h"

#include <chrono>
#include <thread>

#include <unistd.h>

#include "convert/convert.h"
#include "io/atomic_file.h"
#include "io/dir_walk.h"
#include "io/directory_lock.h"
#include "io/read_text.h"
#include "report/json_text.h"

namespace msdump {
namespace {

constexpr uint64_t kMostSettingsBytes = uint64_t{1} << 20;

std::string_view word_of(OutputType type) {
  switch (type) {
    case OutputType::kNpy: return "npy";
    case OutputType::kBin: return "bin";
    case OutputType::kMsnpy: return "msnpy";
  }
  return "";
}

std::string settings_text(const ConvertOptions& options) {
  report::Object settings;
  settings.add("version", options.version);
  settings.add("format", options.format ? report::Value(name_of(*options.format)) : report::Value());
  settings.add("type", word_of(options.type));
  settings.add("naming", options.naming == Naming::kMindspore ? "mindspore" : "msaccucmp");
  settings.add("shape", options.shape ? report::Value(report::list_of(*options.shape)) : report::Value());
  settings.add("ir", report::list_of(options.ir));
  std::string text;
  report::append_json(text, settings);
  return text + '\n';
}

// The time of the file, if it says `text`.
std::optional<int64_t> time_if_same(const std::string& path, const std::string& text) {
  const auto file = File::open(path);
  if (!file) return std::nullopt;
  const auto content = read_text(*file, kMostSettingsBytes, "settings");
  return content && *content == text ? std::optional(file->mtime_ns()) : std::nullopt;
}

}  // namespace

SettingsFile::SettingsFile(const ConvertOptions& options)
    : path_(join_path(options.out, kConvertSettingsName)),
      folder_(options.out),
      text_(settings_text(options)),
      since_(time_if_same(path_, text_)) {}

Status SettingsFile::write(const CancelToken& cancel) const {
  // Shards start at once: the first of them writes.
  MSDUMP_TRY(const DirectoryLock lock, DirectoryLock::acquire(folder_, cancel));
  if (time_if_same(path_, text_)) return {};
  MSDUMP_CHECK_OK(write_file(path_, text_));
  // Times of files advance in steps of some milliseconds, and only arrays of a later one count.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return {};
}

void SettingsFile::end() const {
  if (!time_if_same(path_, text_)) ::unlink(path_.c_str());
}

}  // namespace msdump

#include "convert/output_tree.h"

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "convert/convert.h"
#include "dump/names/file_name.h"
#include "io/atomic_file.h"
#include "io/dir_walk.h"
#include "io/file.h"
#include "report/json.h"
#include "tables/mapping_csv.h"

namespace msdump {
namespace {

// msaccucmp hashes names of this length or more; Linux allows 255.
constexpr size_t kTooLong = 255;

OutputName shorten(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  std::replace(name.begin(), name.end(), '\0', '_');
  if (name.size() < kTooLong) return {std::move(name), std::nullopt};
  const std::string mapped = hash_name(name) + name.substr(name.rfind('.'));
  // A line of mapping.csv holds no line break.
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '\n' || c == '\r'; }, '_');
  return {mapped, std::move(name)};
}

// The format in a name: host formats of 4 dimensions by their axes, ND without axes, device formats by their own name.
std::string_view written_format(const Plan& plan) {
  if (plan.policy == PlanPolicy::kKept) return name_of(plan.from);
  return name_of(plan.to);
}

std::string with_short_op_name(const std::string& input_name, const std::string& op_name) {
  const std::vector<std::string_view> fields = split(input_name, '.');
  if (fields.size() != 5 || op_name.empty()) return input_name;
  // The name comes from the header of the file and may hold any bytes.
  std::string last = op_name.substr(op_name.rfind('/') + 1);
  std::replace_if(
      last.begin(), last.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '_');
  return fmt::format("{}.{}.{}.{}.{}", fields[0], last, fields[2], fields[3], fields[4]);
}

std::string tensor_prefix(const std::string& base, const StoredTensor& tensor) {
  if (!tensor.op_name.empty()) return fmt::format("{}.{}", base, tensor.op_name);
  return fmt::format("{}.{}.{}", base, name_of(tensor.io), tensor.slot);
}

std::string bin_name(const NameRequest& request, const StoredTensor& tensor, const Plan& plan) {
  const std::string dims = !request.format_given ? std::to_string(plan.dst_elements)
                           : plan.shape.empty()  ? "scalar"
                                                 : join_dims(plan.shape, "_");
  return fmt::format("{}.{}.{}.{}.bin", tensor_prefix(request.input_name, tensor), dims, name_of(plan.npy_dtype),
                     written_format(plan));
}

}  // namespace

bool is_byte_section(Io io) { return io == Io::kBuffer || io == Io::kSpace; }

OutputName output_name(const NameRequest& request, const StoredTensor& tensor, const Plan& plan) {
  const std::string prefix = tensor_prefix(request.input_name, tensor);
  if (is_byte_section(tensor.io)) return shorten(prefix + ".bin");
  if (request.naming == Naming::kMindspore) {
    return shorten(fmt::format("{}.{}.{}.npy", prefix, written_format(plan), name_of(plan.dtype)));
  }
  switch (request.type) {
    case OutputType::kBin: return shorten(bin_name(request, tensor, plan));
    case OutputType::kMsnpy: {
      const std::string base = with_short_op_name(request.input_name, request.op_name);
      return shorten(fmt::format("{}.{}.npy", tensor_prefix(base, tensor), written_format(plan)));
    }
    case OutputType::kNpy: break;
  }
  if (!request.format_given) return shorten(prefix + ".npy");
  return shorten(fmt::format("{}.{}.npy", prefix, describe(plan.shape)));
}

OutputName opdebug_output_name(const std::string& input_name, const StoredTensor& tensor) {
  return shorten(tensor_prefix(input_name, tensor) + ".json");
}

OutputName npy_output_name(const std::string& input_name, const Plan& plan) {
  const auto parsed = parse_npy_file_name(input_name);
  if (!parsed || plan.policy != PlanPolicy::kConverted || plan.identity) return shorten(input_name);
  std::vector<std::string_view> fields = split(input_name, '.');
  const std::string format(written_format(plan));
  // ...format.npy or ...format.dtype.npy
  const size_t format_at = fields.size() - (fields[fields.size() - 2] == parsed->format_text ? 2 : 3);
  fields[format_at] = format;
  return shorten(fmt::format("{}", fmt::join(fields, ".")));
}

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

// The time of the file, if it has this text.
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
  // Shards start at the same time; the first of them writes.
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

namespace {

// Another convert may write into the same folder: each waits for the other.
Status write_mapping(const std::string& folder, const NameMapping& added, const CancelToken& cancel) {
  MSDUMP_TRY(const DirectoryLock lock, DirectoryLock::acquire(folder, cancel));
  const std::string path = join_path(folder, "mapping.csv");
  NameMapping all = added;
  auto file = File::open(path);
  if (file) {
    // A damaged table of another run is not replaced.
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
  // A file is made and removed, so that an error is reported before the first tensor.
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

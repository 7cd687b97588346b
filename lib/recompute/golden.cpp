#include "recompute/golden.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dump/names/identity.h"
#include "io/atomic_file.h"
#include "npy/npy.h"

namespace msdump::recompute {
namespace {

std::string name_in_golden(const std::string& path, const TensorRecord& record, const Shape& shape) {
  for (const std::string_view extension : {".npy", ".pt"}) {
    if (path.ends_with(extension)) return path.substr(0, path.size() - extension.size()) + ".npy";
  }
  const std::string extents = shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
  return fmt::format("{}.{}.{}.{}.npy", path, name_of(record.name.io), record.name.slot, extents);
}

DType golden_dtype(DType stored) {
  switch (kind_of(stored)) {
    case DTypeKind::kBool: return DType::kBool;
    case DTypeKind::kInteger: return DType::kInt64;
    default: return DType::kFloat64;
  }
}

template <class Stored>
void store(double value, std::byte*& into) {
  const auto stored = static_cast<Stored>(value);
  std::memcpy(into, &stored, sizeof stored);
  into += sizeof stored;
}

std::vector<std::byte> bytes_of(const Array& expected, DType dtype) {
  std::vector<std::byte> bytes(expected.values.size() * (dtype == DType::kBool ? 1 : sizeof(double)));
  std::byte* into = bytes.data();
  for (const double value : expected.values) {
    if (dtype == DType::kBool)
      store<uint8_t>(value != 0 ? 1 : 0, into);
    else if (dtype == DType::kInt64)
      store<int64_t>(std::fabs(value) < 0x1p63 ? value : 0, into);
    else
      store<double>(value, into);
  }
  return bytes;
}

}  // namespace

Status GoldenFolder::write_array(TensorId tensor, const Array& expected) const {
  const TensorRecord& record = tensors_[tensor];
  const IndexedFile& file = index_.files()[record.file];
  const std::string& folder = index_.folder_of(file);
  // A mapping.csv may name anything.
  const std::string_view shown = file.shown_name();
  const std::string_view name = shown.find('/') == std::string_view::npos ? shown : file.name;
  const std::string in_dump = (folder.empty() ? "" : folder + "/") + std::string(name);
  const std::string path = folder_ + "/" + name_in_golden(in_dump, record, expected.shape);
  std::error_code missing;
  if (std::filesystem::equivalent(path, index_.path_of(file), missing))
    return fail(make_error(ErrorCode::kUsage, "is the dump's own file, and is not replaced").with_path(path));
  MSDUMP_CHECK_OK(make_directories(path.substr(0, path.rfind('/'))));
  const DType dtype = golden_dtype(expected.dtype);
  const std::string header = npy::make_header(dtype, expected.shape);
  const std::vector<std::byte> elements = bytes_of(expected, dtype);
  MSDUMP_TRY(AtomicFile out, AtomicFile::create(path));
  MSDUMP_CHECK_OK(out.set_size(header.size() + elements.size()));
  MSDUMP_CHECK_OK(out.write_at(0, std::as_bytes(std::span(header.data(), header.size()))));
  MSDUMP_CHECK_OK(out.write_at(header.size(), elements));
  return out.commit();
}

void GoldenFolder::write(TensorId tensor, const Array& expected) {
  Status status = write_array(tensor, expected);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (status)
    ++written_;
  else
    failures_.push_back(std::move(status).error());
}

}  // namespace msdump::recompute

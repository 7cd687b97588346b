#include "torch/pt_tensor.h"

#include <algorithm>
#include <array>

#include "base/checked.h"
#include "base/text.h"
#include "torch/pt_names.h"

namespace msdump::torch {
namespace {

constexpr size_t kMaxStorageKey = 64;
constexpr int kMaxWrappers = 8;  // a Parameter in a Parameter in ...

struct StorageRef {
  DType dtype = DType::kUndefined;
  std::string_view class_name, key, location;
  int64_t elements = 0;  // bytes, if it has no type
};

Error malformed(std::string_view what) { return make_error(ErrorCode::kBadHeader, "damaged tensor: {}", what); }

// Storages on these devices are copied to the CPU when saved; other locations have no data ("meta") or are unknown.
bool is_known_location(std::string_view location) {
  constexpr std::array<std::string_view, 9> kDevices = {"cpu", "cuda", "npu",  "xpu", "mps",
                                                        "hpu", "mlu",  "musa", "xla"};
  const size_t colon = location.find(':');
  const std::string_view device = location.substr(0, colon);
  return std::find(kDevices.begin(), kDevices.end(), device) != kDevices.end() &&
         (colon == std::string_view::npos || is_digits(location.substr(colon + 1)));
}

class TensorReader {
 public:
  TensorReader(const Pickle& pickle, const PtArchive& archive, PtTensor& tensor)
      : pickle_(pickle), archive_(archive), tensor_(tensor) {}

  Status read(PickleRef call) {
    MSDUMP_CHECK_OK(unwrap(call));
    const auto arguments = items(arguments_);
    if (arguments.size() < 4) return fail(malformed("too few arguments"));
    MSDUMP_TRY(tensor_.shape, numbers(arguments[2], "its size"));
    MSDUMP_TRY(tensor_.strides, numbers(arguments[3], "its strides"));
    MSDUMP_TRY(const StorageRef storage, storage_of(arguments[0]));
    MSDUMP_CHECK_OK(set_dtype(storage, arguments));
    MSDUMP_TRY(const int64_t count, check_layout());
    MSDUMP_CHECK_OK(check_metadata(arguments));
    MSDUMP_TRY(const int64_t first, number(arguments[1], "its offset"));
    return place(storage, first, count);
  }

 private:
  [[nodiscard]] std::span<const PickleRef> items(PickleRef value) const { return pickle_[value].items; }

  // Unwraps Parameters and subclasses down to the function that makes the tensor, and its arguments.
  Status unwrap(PickleRef call) {
    PickleRef function = pickle_[call].callable;
    arguments_ = pickle_[call].argument;
    for (int depth = 0; depth < kMaxWrappers; ++depth) {
      const PickleValue& named = pickle_[function];
      if (named.kind != PickleKind::kGlobal) return fail(malformed("a function that is not a name"));
      meaning_ = meaning_of(pickle_.global_of(named));
      const auto arguments = items(arguments_);
      if (meaning_.role == NameRole::kTensor) return {};
      if (meaning_.role == NameRole::kWrapper) {
        if (arguments.empty() || pickle_[arguments[0]].kind != PickleKind::kCall) {
          return fail(malformed("a parameter without a tensor"));
        }
        function = pickle_[arguments[0]].callable;
        arguments_ = pickle_[arguments[0]].argument;
      } else if (meaning_.role == NameRole::kFromType) {
        if (arguments.size() < 3 || pickle_[arguments[2]].kind != PickleKind::kTuple) {
          return fail(malformed("a subclass without a tensor"));
        }
        function = arguments[0];
        arguments_ = arguments[2];
      } else {
        return fail(ErrorCode::kUnsupportedFormat, "unsupported tensor: {}", pickle_.global_of(named));
      }
    }
    return fail(malformed("nested in itself"));
  }

  Result<int64_t> number(PickleRef value, std::string_view what) const {
    const PickleValue& found = pickle_[value];
    if (found.kind != PickleKind::kInt || found.number < 0) {
      return fail(malformed(fmt::format("{} is not a number of 0 or more", what)));
    }
    return found.number;
  }

  Result<std::vector<int64_t>> numbers(PickleRef value, std::string_view what) const {
    const PickleValue& found = pickle_[value];
    if (found.kind != PickleKind::kTuple) return fail(malformed(fmt::format("{} is not a tuple", what)));
    if (found.items.size() > kMaxRank) {
      return fail(ErrorCode::kTooLarge, "{} dimensions, at most {} are read", found.items.size(), kMaxRank);
    }
    std::vector<int64_t> all;
    for (const PickleRef item : found.items) {
      MSDUMP_TRY(const int64_t dim, number(item, what));
      all.push_back(dim);
    }
    return all;
  }

  Result<StorageRef> storage_of(PickleRef value) const {
    if (pickle_[value].kind != PickleKind::kPersistent) return fail(malformed("it has no storage"));
    const auto id = items(pickle_[value].argument);
    const auto is = [&](size_t i, PickleKind kind) { return pickle_[id[i]].kind == kind; };
    if (id.size() != 5 || !is(0, PickleKind::kText) || pickle_[id[0]].text != "storage" ||
        !is(1, PickleKind::kGlobal) || !is(2, PickleKind::kText) || !is(3, PickleKind::kText)) {
      return fail(malformed("its storage is not (\"storage\", class, key, location, elements)"));
    }
    StorageRef storage;
    storage.class_name = pickle_.global_of(pickle_[id[1]]);
    const NameMeaning meaning = meaning_of(storage.class_name);
    if (meaning.role != NameRole::kStorageClass) return fail(malformed("its storage has no storage class"));
    storage.dtype = meaning.dtype;
    storage.key = pickle_[id[2]].text;
    if (storage.key.size() > kMaxStorageKey) return fail(malformed("its storage's key is too long"));
    storage.location = pickle_[id[3]].text;
    MSDUMP_TRY(storage.elements, number(id[4], "its storage's size"));
    return storage;
  }

  Status set_dtype(const StorageRef& storage, std::span<const PickleRef> arguments) {
    std::string_view name = storage.class_name;
    tensor_.dtype = storage.dtype;
    if (meaning_.dtype_argument > 0) {
      if (arguments.size() <= meaning_.dtype_argument) return fail(malformed("too few arguments"));
      const PickleValue& given = pickle_[arguments[meaning_.dtype_argument]];
      if (given.kind != PickleKind::kGlobal) return fail(malformed("its dtype is not a name"));
      name = pickle_.global_of(given);
      const NameMeaning meaning = meaning_of(name);
      if (meaning.role != NameRole::kDtype) return fail(malformed("its dtype is not the name of one"));
      tensor_.dtype = meaning.dtype;
    }
    if (tensor_.dtype == DType::kUndefined) return fail(ErrorCode::kUnsupportedDtype, "unsupported: {}", excerpt(name));
    tensor_.big_endian = archive_.big_endian && info(tensor_.dtype).bits > 8;
    return {};
  }

  // The number of elements.
  Result<int64_t> check_layout() {
    const Shape& shape = tensor_.shape;
    if (shape.size() != tensor_.strides.size()) {
      return fail(malformed(fmt::format("{} dimensions and {} strides", shape.size(), tensor_.strides.size())));
    }
    const auto count = element_count(shape);
    const auto bytes = count ? bytes_of(tensor_.dtype, *count) : std::nullopt;
    if (!bytes) return fail(malformed(fmt::format("dimension product of {} overflows", describe(shape))));
    tensor_.bytes = *bytes;
    tensor_.contiguous = true;
    int64_t expected = 1;
    for (size_t axis = shape.size(); axis-- > 0 && *count > 0;) {
      // The stride of a dimension of 1 means nothing.
      if (shape[axis] != 1 && tensor_.strides[axis] != expected) tensor_.contiguous = false;
      expected *= shape[axis];
    }
    if (!tensor_.contiguous) {
      return fail(make_error(ErrorCode::kUnsupportedFormat, "the elements are not contiguous: shape {}, strides {}",
                             describe(shape), join_dims(tensor_.strides, "x"))
                      .with_hint("save tensor.contiguous()"));
    }
    return *count;
  }

  // Bits that make the value the conjugate or the negative of what is stored.
  [[nodiscard]] Status check_metadata(std::span<const PickleRef> arguments) const {
    if (meaning_.metadata_argument == 0 || arguments.size() <= meaning_.metadata_argument) return {};
    const PickleValue& metadata = pickle_[arguments[meaning_.metadata_argument]];
    if (metadata.kind == PickleKind::kNone) return {};
    if (metadata.kind != PickleKind::kDict) return fail(malformed("its metadata are not a dict"));
    for (size_t i = 1; i < metadata.items.size(); i += 2) {
      const PickleValue &key = pickle_[metadata.items[i - 1]], &set = pickle_[metadata.items[i]];
      if (set.kind == PickleKind::kBool && set.number == 0) continue;
      return fail(make_error(ErrorCode::kUnsupportedFormat, "unsupported: a tensor with the metadata '{}'",
                             key.kind == PickleKind::kText ? excerpt(key.text) : "?")
                      .with_hint("save tensor.resolve_conj().resolve_neg()"));
    }
    return {};
  }

  Status place(const StorageRef& storage, int64_t first, int64_t count) {
    if (count == 0) return {};
    if (!is_known_location(storage.location)) {
      return fail(ErrorCode::kUnsupportedFormat, "unsupported: a storage on '{}'", excerpt(storage.location));
    }
    // Both in bytes; a storage without a type counts bytes already.
    const auto stored = bytes_of(storage.dtype == DType::kUndefined ? DType::kUint8 : storage.dtype, storage.elements);
    const auto begin = bytes_of(tensor_.dtype, first);
    const auto end = begin ? checked_add(*begin, tensor_.bytes) : std::nullopt;
    if (!stored || !end) return fail(malformed("its storage's size or its offset overflows"));
    if (*end > *stored) return fail(too_small(storage, *end, *stored));
    const std::string name = archive_.folder + "/data/" + std::string(storage.key);
    const auto entry = archive_.zip->find(name);
    if (!entry) return fail(ErrorCode::kTruncated, "the archive has no storage '{}'", excerpt(name));
    MSDUMP_TRY(const uint64_t data, archive_.zip->data_offset(*entry));
    if (*end > archive_.zip->entries()[*entry].size) {
      return fail(too_small(storage, *end, archive_.zip->entries()[*entry].size).with_offset(data));
    }
    tensor_.offset = data + *begin;
    if (*begin == 0 && tensor_.bytes == archive_.zip->entries()[*entry].size) {
      MSDUMP_TRY(ZipData all, archive_.zip->data(*entry));
      tensor_.zip = std::make_shared<const ZipData>(std::move(all));
    }
    return {};
  }

  static Error too_small(const StorageRef& storage, uint64_t needed, uint64_t present) {
    return make_error(ErrorCode::kTruncated, "storage '{}': {} bytes needed, {} present", excerpt(storage.key), needed,
                      present);
  }

  const Pickle& pickle_;
  const PtArchive& archive_;
  PtTensor& tensor_;
  NameMeaning meaning_;
  PickleRef arguments_ = 0;
};

}  // namespace

PtTensor read_tensor(const Pickle& pickle, PickleRef call, const PtArchive& archive) {
  PtTensor tensor;
  if (auto status = TensorReader(pickle, archive, tensor).read(call); !status) {
    tensor.problem = std::move(status).error();
  }
  return tensor;
}

}  // namespace msdump::torch

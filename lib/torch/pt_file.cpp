#include "torch/pt_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/text.h"
#include "io/zip.h"
#include "tensor/dtype.h"
#include "torch/dtensor.h"
#include "torch/dumper_meta.h"
#include "torch/pickle.h"

namespace msdump::torch {
namespace {

// The classes and functions that a pickle may name. A call of any other name is an object that is not read.
//
//   torch._utils._rebuild_tensor       (storage, offset, size, strides)
//   torch._utils._rebuild_tensor_v2    (..., requires_grad, hooks[, metadata])
//   torch._utils._rebuild_tensor_v3    (..., requires_grad, hooks, dtype[, metadata])     dtypes without a storage type
//   torch._utils._rebuild_qtensor      (..., quantizer, requires_grad, hooks)             the integers are kept
//   torch_npu.utils.storage._rebuild_npu_tensor    (..., requires_grad, hooks, format)    a copy in plain layout
//   torch._utils._rebuild_parameter    (tensor, requires_grad, hooks)
//   torch._tensor._rebuild_from_type_v2    (function, class, arguments, state)            of a DTensor the state holds the
//                                                                                         tensor (dtensor.h), else it is dropped
//
// where storage is a persistent id: ("storage", torch.FloatStorage, key, location, elements).

enum class NameRole : uint8_t {
  kUnknown,
  kTensor,        // arguments: storage, offset, size, strides, ...
  kWrapper,       // arguments: tensor, ...
  kFromType,      // arguments: function, class, arguments, state
  kSubclass,      // a function of kFromType whose tensor is in the state
  kUnreadable,    // a sparse tensor, or one without data
  kOrderedDict,   // a dict
  kValue,         // makes an object without tensors
  kTensorClass,   // torch.Tensor, Parameter
  kStorageClass,  // with the dtype of its elements; kUndefined: unknown
  kDtype,         // kUndefined: unknown to msdump
};

struct NameMeaning {
  NameRole role = NameRole::kUnknown;
  DType dtype = DType::kUndefined;
  size_t dtype_argument = 0;     // kTensor: its position; 0: the storage class has the dtype
  size_t metadata_argument = 0;  // kTensor: its position if it is given; 0: there is none
};

constexpr std::string_view kUntypedStorage = "torch.storage.UntypedStorage";

using enum NameRole;

struct KnownName {
  std::string_view name;
  NameMeaning meaning;
};

constexpr NameMeaning storage(DType dtype) { return {.role = kStorageClass, .dtype = dtype}; }
constexpr NameMeaning element(DType dtype) { return {.role = kDtype, .dtype = dtype}; }
constexpr NameMeaning value() { return {.role = kValue}; }

constexpr std::array kNames = {
    KnownName{"torch._utils._rebuild_tensor", {.role = kTensor}},
    KnownName{"torch._utils._rebuild_tensor_v2", {.role = kTensor, .metadata_argument = 6}},
    KnownName{"torch._utils._rebuild_tensor_v3", {.role = kTensor, .dtype_argument = 6, .metadata_argument = 7}},
    KnownName{"torch._utils._rebuild_qtensor", {.role = kTensor}},
    KnownName{"torch_npu.utils.storage._rebuild_npu_tensor", {.role = kTensor}},
    KnownName{"torch._utils._rebuild_parameter", {.role = kWrapper}},
    KnownName{"torch._utils._rebuild_parameter_with_state", {.role = kWrapper}},
    KnownName{"torch._tensor._rebuild_from_type_v2", {.role = kFromType}},
    KnownName{"torch._utils._rebuild_wrapper_subclass", {.role = kSubclass}},
    KnownName{"torch._utils._rebuild_sparse_tensor", {.role = kUnreadable}},
    KnownName{"torch._utils._rebuild_nested_tensor", {.role = kUnreadable}},
    KnownName{"torch._utils._rebuild_meta_tensor_no_storage", {.role = kUnreadable}},

    KnownName{"torch.Tensor", {.role = kTensorClass}},
    KnownName{"torch.nn.parameter.Parameter", {.role = kTensorClass}},
    KnownName{"torch.nn.parameter.Buffer", {.role = kTensorClass}},

    KnownName{"collections.OrderedDict", {.role = kOrderedDict}},
    KnownName{"collections.defaultdict", {.role = kOrderedDict}},
    KnownName{"collections.Counter", value()},
    KnownName{"torch.Size", value()},
    KnownName{"torch.device", value()},
    KnownName{"torch.serialization._get_layout", value()},
    KnownName{"torch.per_tensor_affine", value()},
    KnownName{"torch.per_tensor_symmetric", value()},
    KnownName{"torch.per_channel_affine", value()},
    KnownName{"torch.per_channel_symmetric", value()},
    KnownName{"torch.per_channel_affine_float_qparams", value()},
    KnownName{"torch_npu.npu._format.Format", value()},
    KnownName{"_codecs.encode", value()},
    KnownName{"builtins.set", value()},
    KnownName{"builtins.frozenset", value()},
    KnownName{"builtins.bytearray", value()},
    KnownName{"builtins.complex", value()},
    KnownName{"__builtin__.set", value()},  // as protocol 2 writes those of builtins
    KnownName{"__builtin__.frozenset", value()},
    KnownName{"__builtin__.bytearray", value()},
    KnownName{"__builtin__.complex", value()},

    KnownName{kUntypedStorage, storage(DType::kUndefined)},
};

// Prefixes of dtypes that only torch has. Their tensors are listed but not read.
constexpr std::array<std::string_view, 5> kOtherDtypes = {"torch.float8_", "torch.float4_", "torch.bits", "torch.quint",
                                                          "torch.uint"};

NameMeaning meaning_of(std::string_view global) {
  for (const KnownName& known : kNames) {
    if (known.name == global) return known.meaning;
  }
  constexpr std::string_view kPackage = "torch.";
  if (!global.starts_with(kPackage)) return {};
  const std::string_view name = global.substr(kPackage.size());
  if (const auto dtype = dtype_spelled(name, &DTypeTraits::torch)) return element(*dtype);
  if (name.ends_with("Storage") && name.find('.') == std::string_view::npos)
    return storage(dtype_spelled(name, &DTypeTraits::torch_storage).value_or(DType::kUndefined));
  for (const std::string_view prefix : kOtherDtypes) {
    if (global.starts_with(prefix)) return element(DType::kUndefined);
  }
  return {};
}

struct PtArchive {
  const ZipFile* zip = nullptr;
  std::string folder = {};
  bool big_endian = false;
};

constexpr size_t kMaxStorageKey = 64;
constexpr int kMaxWrappers = 8;  // nested Parameters

struct StorageRef {
  DType dtype = DType::kUndefined;
  std::string_view class_name, key, location;
  int64_t elements = 0;  // bytes if it has no type
};

Error malformed(std::string_view what) { return make_error(ErrorCode::kBadHeader, "damaged tensor: {}", what); }

// True for devices whose storages torch.save copies to the CPU. Other locations have no data ("meta") or are unknown.
bool is_known_location(std::string_view location) {
  constexpr std::array<std::string_view, 9> kDevices = {"cpu", "cuda", "npu",  "xpu", "mps",
                                                        "hpu", "mlu",  "musa", "xla"};
  const size_t colon = location.find(':');
  const std::string_view device = location.substr(0, colon);
  return std::find(kDevices.begin(), kDevices.end(), device) != kDevices.end() &&
         (colon == std::string_view::npos || is_digits(location.substr(colon + 1)));
}

// Equal texts are shared, as all parameters of a model may have one.
class Distributions {
 public:
  std::shared_ptr<const std::string> of(const Pickle& pickle, PickleRef spec) {
    std::string text = distribution_of(pickle, spec);
    bytes_ += text.size();
    if (text.empty() || bytes_ > kMostBytes) return nullptr;
    if (last_ == nullptr || *last_ != text) last_ = std::make_shared<const std::string>(std::move(text));
    return last_;
  }

 private:
  static constexpr size_t kMostBytes = size_t{256} << 20;  // of all texts, made or kept
  std::shared_ptr<const std::string> last_;
  size_t bytes_ = 0;
};

// What the tensors of a file share.
struct SharedByTensors {
  Distributions distributions;
  uint64_t pieces_left = uint64_t{1} << 20;  // for slices
};

class TensorReader {
 public:
  TensorReader(const Pickle& pickle, const PtArchive& archive, SharedByTensors& shared, PtTensor& tensor)
      : pickle_(pickle), archive_(archive), shared_(shared), tensor_(tensor) {}

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

  // Unwraps Parameters and subclasses: sets the function that makes the tensor and its arguments.
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
        const PickleValue& named_function = pickle_[function];
        if (named_function.kind != PickleKind::kGlobal ||
            meaning_of(pickle_.global_of(named_function)).role != NameRole::kSubclass) {
          continue;
        }
        MSDUMP_TRY(const PickleRef local, local_tensor(arguments));
        function = pickle_[local].callable;
        arguments_ = pickle_[local].argument;
      } else {
        return fail(ErrorCode::kUnsupportedFormat, "unsupported tensor: {}", pickle_.global_of(named));
      }
    }
    return fail(malformed("nested in itself"));
  }

  // `arguments`: of kFromType. Sets the distribution of the tensor.
  Result<PickleRef> local_tensor(std::span<const PickleRef> arguments) {
    constexpr size_t kClass = 1, kState = 3;
    const PickleValue& type = pickle_[arguments[kClass]];
    const std::string_view name = type.kind == PickleKind::kGlobal ? pickle_.global_of(type) : "a subclass";
    const bool known = name.starts_with("torch.distributed.") && name.ends_with(".DTensor");
    const auto parts = known && arguments.size() > kState ? dtensor_parts(pickle_, arguments[kState]) : std::nullopt;
    if (!parts) return fail(ErrorCode::kUnsupportedFormat, "unsupported tensor: {}", excerpt(name));
    tensor_.distribution = parts->spec ? shared_.distributions.of(pickle_, *parts->spec) : nullptr;
    return parts->local;
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
    run_ = extent_ = 1;
    uint64_t pieces = 1;
    bool ordered = info(tensor_.dtype).bits >= 8;
    for (size_t axis = shape.size(); axis-- > 0 && *count > 0;) {
      // The stride of a dimension of 1 is arbitrary.
      if (shape[axis] == 1) continue;
      const int64_t stride = tensor_.strides[axis];
      ordered = ordered && stride >= extent_;
      tensor_.contiguous = tensor_.contiguous && stride == run_;
      if (tensor_.contiguous)
        run_ *= shape[axis];
      else if (ordered)
        pieces *= std::min(static_cast<uint64_t>(shape[axis]), shared_.pieces_left + 1);
      const auto to_last = ordered ? checked_mul(shape[axis] - 1, stride) : std::nullopt;
      const auto extent = to_last ? checked_add(*to_last, extent_) : std::nullopt;
      ordered = ordered && extent && pieces <= shared_.pieces_left;
      if (ordered) extent_ = *extent;
    }
    if (!tensor_.contiguous && ordered) {
      shared_.pieces_left -= pieces;
    } else if (!tensor_.contiguous) {
      return fail(make_error(ErrorCode::kUnsupportedFormat, "the elements are not contiguous: shape {}, strides {}",
                             describe(shape), join_dims(tensor_.strides, "x"))
                      .with_hint("save tensor.contiguous()"));
    }
    return *count;
  }

  // Refuses tensors with metadata bits: conjugate, negative.
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
    // Sizes in bytes. A storage without a type has a size in bytes.
    const auto stored = bytes_of(storage.dtype == DType::kUndefined ? DType::kUint8 : storage.dtype, storage.elements);
    const auto begin = bytes_of(tensor_.dtype, first);
    const auto extent = bytes_of(tensor_.dtype, tensor_.contiguous ? count : extent_);
    const auto end = begin && extent ? checked_add(*begin, *extent) : std::nullopt;
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
    if (!tensor_.contiguous) tensor_.pieces = std::make_shared<const std::vector<FilePiece>>(pieces_of_slice());
    if (*begin == 0 && tensor_.bytes == archive_.zip->entries()[*entry].size) {
      MSDUMP_TRY(ZipData all, archive_.zip->data(*entry));
      tensor_.zip = std::make_shared<const ZipData>(std::move(all));
    }
    return {};
  }

  // A piece for each run of elements without a gap.
  [[nodiscard]] std::vector<FilePiece> pieces_of_slice() const {
    const auto element = static_cast<uint64_t>(info(tensor_.dtype).bits) / 8,
               run = element * static_cast<uint64_t>(run_);
    std::vector<FilePiece> pieces;
    std::vector<int64_t> index(tensor_.shape.size(), 0);
    uint64_t place = 0;
    for (uint64_t begin = 0; begin < tensor_.bytes; begin += run) {
      pieces.push_back({begin, tensor_.offset + place * element});
      // The next index of the axes outside of a run: the inner ones stay 0.
      int64_t skipped = run_;
      for (size_t axis = index.size(); axis-- > 0;) {
        const int64_t extent = tensor_.shape[axis];
        if (extent == 1) continue;
        if (skipped > 1) {
          skipped /= extent;
          continue;
        }
        const auto stride = static_cast<uint64_t>(tensor_.strides[axis]);
        if (++index[axis] < extent) {
          place += stride;
          break;
        }
        index[axis] = 0;
        place -= stride * static_cast<uint64_t>(extent - 1);
      }
    }
    return pieces;
  }

  static Error too_small(const StorageRef& storage, uint64_t needed, uint64_t present) {
    return make_error(ErrorCode::kTruncated, "storage '{}': {} bytes needed, {} present", excerpt(storage.key), needed,
                      present);
  }

  const Pickle& pickle_;
  const PtArchive& archive_;
  SharedByTensors& shared_;
  PtTensor& tensor_;
  int64_t run_ = 1, extent_ = 1;  // elements without a gap; from the first element to the last
  NameMeaning meaning_;
  PickleRef arguments_ = 0;
};

// Reads the tensor that `call`, a kCall, makes; without its key. An error becomes its problem.
PtTensor read_tensor(const Pickle& pickle, PickleRef call, const PtArchive& archive, SharedByTensors& shared) {
  PtTensor tensor;
  if (auto status = TensorReader(pickle, archive, shared, tensor).read(call); !status) {
    tensor.problem = std::move(status).error();
  }
  return tensor;
}

constexpr uint64_t kMaxPickleBytes = uint64_t{64} << 20;
constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxVisits = 1'000'000;  // a value may occur many times
constexpr size_t kMaxTensors = 100'000;
constexpr size_t kMaxKeyLength = 1024;               // of a component
constexpr size_t kMaxKeyBytes = uint64_t{64} << 20;  // of all tensors
constexpr std::string_view kPickleName = "/data.pkl";

// Collects the tensors of nested containers, without recursion.
class Collector {
 public:
  Collector(const Pickle& pickle, const PtArchive& archive) : pickle_(pickle), archive_(archive) {}

  Result<PtFile> run() {
    MSDUMP_CHECK_OK(visit(pickle_.root));
    while (!open_.empty()) {
      Container& container = open_.back();
      key_.resize(container.key_length);
      if (container.next == container.children.size()) {
        open_.pop_back();
        continue;
      }
      const Child child = container.children[container.next++];
      if (!key_.empty()) key_ += '.';
      MSDUMP_CHECK_OK(append_key(child));
      MSDUMP_CHECK_OK(visit(child.value));
    }
    if (found_.tensors.empty() && !found_.other_classes.empty()) return fail(unsupported(found_.other_classes.front()));
    return std::move(found_);
  }

 private:
  struct Child {
    size_t index = 0;
    std::optional<PickleRef> key;  // of a dict
    PickleRef value = 0;
  };
  struct Container {
    std::vector<Child> children;
    size_t next = 0;
    size_t key_length = 0;
    bool in_dict = false;
  };

  Status visit(PickleRef ref) {
    const PickleValue& value = pickle_[ref];
    switch (value.kind) {
      case PickleKind::kTuple:
      case PickleKind::kList: return enter_list(value);
      case PickleKind::kDict: return enter_dict(value.items);
      case PickleKind::kCall: return visit_call(ref);
      default: ++found_.other_values; return {};
    }
  }

  Status visit_call(PickleRef ref) {
    const PickleValue& call = pickle_[ref];
    const std::string_view name = pickle_.global_of(pickle_[call.callable]);
    const NameRole role = meaning_of(name).role;
    if (role == NameRole::kOrderedDict) return enter_ordered_dict(call);
    const bool makes_tensor = role == NameRole::kTensor || role == NameRole::kWrapper || role == NameRole::kFromType ||
                              role == NameRole::kUnreadable;
    if (makes_tensor) return add_tensor(ref);
    ++found_.other_values;
    auto& classes = found_.other_classes;
    const bool is_new = std::find(classes.begin(), classes.end(), name) == classes.end();
    if (role != NameRole::kValue && is_new) classes.emplace_back(name);
    return {};
  }

  static Error unsupported(std::string_view name) {
    return make_error(ErrorCode::kUnsupportedFormat, "unsupported: {}", excerpt(name))
        .with_hint("only tensors in dicts, lists and tuples are read: save the state_dict()");
  }

  Status add_tensor(PickleRef ref) {
    key_bytes_ += key_.size();
    if (found_.tensors.size() == kMaxTensors || key_bytes_ > kMaxKeyBytes) {
      return fail(ErrorCode::kTooLarge, "more than {} tensors, or keys that are too long", kMaxTensors);
    }
    PtTensor& tensor = found_.tensors.emplace_back(read_tensor(pickle_, ref, archive_, shared_));
    tensor.key = key_;
    tensor.in_dict = !open_.empty() && open_.back().in_dict;
    if (tensor.problem) tensor.problem->tensor = key_;
    return {};
  }

  Status enter(std::vector<Child> children, bool dict) {
    if (open_.size() == kMaxDepth)
      return fail(ErrorCode::kTooLarge, "containers are nested more than {} deep", kMaxDepth);
    const bool in_dict = dict || (!open_.empty() && open_.back().in_dict);
    open_.push_back({std::move(children), 0, key_.size(), in_dict});
    return {};
  }

  Status count(size_t children) {
    visits_ += children;
    if (visits_ > kMaxVisits) return fail(ErrorCode::kTooLarge, "containers hold more than {} values", kMaxVisits);
    return {};
  }

  Status enter_list(const PickleValue& list) {
    MSDUMP_CHECK_OK(count(list.items.size()));
    std::vector<Child> children;
    for (const PickleRef item : list.items) children.push_back({children.size(), std::nullopt, item});
    return enter(std::move(children), false);
  }

  Status enter_dict(std::span<const PickleRef> keys_and_values) {
    MSDUMP_CHECK_OK(count(keys_and_values.size() / 2));
    std::vector<Child> children;
    for (size_t i = 1; i < keys_and_values.size(); i += 2) {
      children.push_back({children.size(), keys_and_values[i - 1], keys_and_values[i]});
    }
    return enter(std::move(children), true);
  }

  // Python 3 adds the items after the call; Python 2 passed a list of pairs to the constructor.
  Status enter_ordered_dict(const PickleValue& call) {
    const auto& arguments = pickle_[call.argument].items;
    std::vector<PickleRef> keys_and_values;
    if (!arguments.empty()) {
      const auto& pairs = pickle_[arguments[0]].items;
      MSDUMP_CHECK_OK(count(pairs.size()));
      for (const PickleRef pair : pairs) {
        const auto& parts = pickle_[pair].items;
        if (parts.size() != 2)
          return fail(ErrorCode::kBadHeader, "damaged pickle: an OrderedDict whose items are not pairs");
        keys_and_values.insert(keys_and_values.end(), parts.begin(), parts.end());
      }
    }
    if (call.items.size() % 2 != 0) return fail(ErrorCode::kBadHeader, "damaged pickle: a key without a value");
    MSDUMP_CHECK_OK(count(call.items.size()));
    keys_and_values.insert(keys_and_values.end(), call.items.begin(), call.items.end());
    return enter_dict(keys_and_values);
  }

  Status append_key(const Child& child) {
    const PickleValue* key = child.key ? &pickle_[*child.key] : nullptr;
    if (key == nullptr) {
      key_ += std::to_string(child.index);
    } else if (key->kind == PickleKind::kText) {
      if (key->text.size() > kMaxKeyLength) return fail(ErrorCode::kTooLarge, "a key of {} bytes", key->text.size());
      key_ += key->text;
    } else if (key->kind == PickleKind::kInt || key->kind == PickleKind::kBool) {
      key_ += std::to_string(key->number);
    } else {
      key_ += '#' + std::to_string(child.index);  // a tuple, a float, ...
    }
    return {};
  }

  const Pickle& pickle_;
  const PtArchive& archive_;
  SharedByTensors shared_;
  PtFile found_;
  std::vector<Container> open_;
  std::string key_;
  size_t visits_ = 0, key_bytes_ = 0;
};

tl::unexpected<Error> no_data_pickle(const ZipFile& zip) {
  return fail(make_error(ErrorCode::kBadHeader, "a zip archive without data.pkl among its {} entries: not a .pt file",
                         zip.entries().size()));
}

// The entry FOLDER/data.pkl; sets the folder.
Result<size_t> find_pickle(const ZipFile& zip, std::string& folder) {
  std::optional<size_t> found;
  for (size_t i = 0; i < zip.entries().size(); ++i) {
    const std::string_view name = zip.entries()[i].name;
    const size_t slash = name.find('/');
    if (slash == std::string_view::npos) continue;
    const std::string_view rest = name.substr(slash);
    if (rest == "/constants.pkl" || rest.starts_with("/code/")) {
      return fail(make_error(ErrorCode::kUnsupportedFormat, "a TorchScript archive: it holds a program, not tensors")
                      .with_hint("save its state_dict() with torch.save"));
    }
    if (rest != kPickleName) continue;
    if (found) return fail(ErrorCode::kBadHeader, "the archive has two data.pkl");
    found = i;
    folder = name.substr(0, slash);
  }
  if (!found) return no_data_pickle(zip);
  return *found;
}

Status read_byte_order(const ZipFile& zip, PtArchive& archive) {
  const auto entry = zip.find(archive.folder + "/byteorder");
  if (!entry) return {};
  MSDUMP_TRY(const std::string order, zip.read(*entry, 64));
  if (order != "little" && order != "big") {
    return fail(ErrorCode::kBadHeader, "byteorder is '{}', not little or big", excerpt(order));
  }
  archive.big_endian = order == "big";
  return {};
}

// True for the form of PyTorch before 1.6, also torch.save(_use_new_zipfile_serialization=False): several pickles, the first
// of them a magic number.
bool is_old_form(std::span<const std::byte> head) {
  constexpr std::string_view kMagic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
  return head.size() >= 2 + kMagic.size() && head[0] == std::byte{0x80} &&
         std::memcmp(head.data() + 2, kMagic.data(), kMagic.size()) == 0;
}

Status refuse_old_form(std::span<const std::byte> head) {
  if (!is_old_form(head)) return {};
  return fail(
      make_error(ErrorCode::kUnsupportedFormat, "a .pt file from before PyTorch 1.6, which is not a zip archive")
          .with_hint("load it and save it again with torch 1.6 or later"));
}

// That of SGLang's dumper, which is of the value alone. A DTensor says more.
void state_distribution(const Pickle& pickle, PtFile& file) {
  const auto is_value = [](const PtTensor& tensor) { return tensor.key == "value" && tensor.distribution == nullptr; };
  const auto value = std::find_if(file.tensors.begin(), file.tensors.end(), is_value);
  std::string text = value == file.tensors.end() ? std::string() : dumper_distribution_of(pickle);
  if (!text.empty()) value->distribution = std::make_shared<const std::string>(std::move(text));
}

Result<PtFile> read(const File& file, const std::function<void(const Pickle&)>& also) {
  MSDUMP_CHECK_OK(refuse_old_form(file.head()));
  MSDUMP_TRY(const ZipFile zip, ZipFile::open(file));
  PtArchive archive{.zip = &zip};
  MSDUMP_TRY(const size_t entry, find_pickle(zip, archive.folder));
  MSDUMP_CHECK_OK(read_byte_order(zip, archive));
  MSDUMP_TRY(const std::string bytes, zip.read(entry, kMaxPickleBytes));
  // An offset in a compressed pickle is not an offset in the file.
  const auto offset = zip.data_offset(entry);
  MSDUMP_TRY(const Pickle pickle, parse_pickle(std::as_bytes(std::span(bytes)), offset.value_or(0)));
  MSDUMP_TRY(PtFile found, Collector(pickle, archive).run());
  state_distribution(pickle, found);
  if (also) also(pickle);
  return found;
}

}  // namespace

Result<PtFile> read_pt(const File& file, const std::function<void(const Pickle&)>& also) {
  MSDUMP_TRY(PtFile found, in_file(read(file, also), file.path()));
  for (PtTensor& tensor : found.tensors) {
    if (tensor.problem) tensor.problem->path = file.path();
  }
  return found;
}

bool looks_like_pt(std::span<const std::byte> head) { return has_zip_magic(head) || is_old_form(head); }

}  // namespace msdump::torch

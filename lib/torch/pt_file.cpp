#include "torch/pt_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "io/zip/zip.h"
#include "torch/pickle.h"
#include "torch/pt_names.h"
#include "torch/pt_tensor.h"

namespace msdump::torch {
namespace {

constexpr uint64_t kMaxPickleBytes = uint64_t{64} << 20;
constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxVisits = 1'000'000;  // one value may stand in many places
constexpr size_t kMaxTensors = 100'000;
constexpr size_t kMaxKeyLength = 1024;               // of one part
constexpr size_t kMaxKeyBytes = uint64_t{64} << 20;  // of all tensors
constexpr std::string_view kPickleName = "/data.pkl";

// Goes through the containers, without recursion, and collects the tensors.
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
    PtTensor& tensor = found_.tensors.emplace_back(read_tensor(pickle_, ref, archive_));
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

  // Python 3 puts the items in afterwards; Python 2 gave the constructor a list of pairs.
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
      key_ += '#' + std::to_string(child.index);  // a tuple, a float, ...: only its place identifies it
    }
    return {};
  }

  const Pickle& pickle_;
  const PtArchive& archive_;
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

// What older versions wrote, and what torch.save(_use_new_zipfile_serialization=False) still writes: several pickles in
// a row, the first of them a magic number.
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

Result<PtFile> read(const File& file) {
  MSDUMP_CHECK_OK(refuse_old_form(file.head()));
  MSDUMP_TRY(const ZipFile zip, ZipFile::open(file));
  PtArchive archive{.zip = &zip};
  MSDUMP_TRY(const size_t entry, find_pickle(zip, archive.folder));
  MSDUMP_CHECK_OK(read_byte_order(zip, archive));
  MSDUMP_TRY(const std::string bytes, zip.read(entry, kMaxPickleBytes));
  // An offset in a compressed pickle is not an offset in the file.
  const auto offset = zip.data_offset(entry);
  MSDUMP_TRY(const Pickle pickle, parse_pickle(std::as_bytes(std::span(bytes)), offset.value_or(0)));
  return Collector(pickle, archive).run();
}

}  // namespace

Result<PtFile> read_pt(const File& file) {
  MSDUMP_TRY(PtFile found, in_file(read(file), file.path()));
  for (PtTensor& tensor : found.tensors) {
    if (tensor.problem) tensor.problem->path = file.path();
  }
  return found;
}

bool looks_like_pt(std::span<const std::byte> head) { return has_zip_magic(head) || is_old_form(head); }

}  // namespace msdump::torch

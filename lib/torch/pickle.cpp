#include "torch/pickle.h"

#include <algorithm>
#include <optional>

#include "base/bytes.h"
#include "base/text.h"

namespace msdump::torch {
namespace {

// The opcodes of plain data, named as in pickletools.
enum Opcode : unsigned char {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersid = 'Q',
  kReduce = 'R',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kDict = 'd',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kList = 'l',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kBinFloat = 'G',
  kEmptyTuple = ')',
  kEmptyList = ']',
  kEmptyDict = '}',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kProto = 0x80,
  kNewObj = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e,
  kEmptySet = 0x8f,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

constexpr size_t kMaxGlobals = 100;  // distinct names
constexpr size_t kMaxGlobalName = 200;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, uint64_t base_offset, size_t most)
      : reader_(bytes, base_offset), most_steps_(most) {}

  Result<Pickle> run() {
    while (!stopped_) {
      opcode_offset_ = reader_.offset();
      MSDUMP_TRY(const auto opcode, number(1));
      MSDUMP_CHECK_OK(step(static_cast<unsigned char>(opcode)));
      if (steps_ > most_steps_) {
        return fail(make_error(ErrorCode::kTooLarge, "a pickle of more than {} values", most_steps_)
                        .with_offset(opcode_offset_));
      }
    }
    return std::move(pickle_);
  }

 private:
  Status step(unsigned char opcode) {
    switch (opcode) {
      case kProto: return protocol();
      case kFrame: return reader_.skip(8);
      case kStop: return stop();
      case kMark:
        ++steps_;
        marks_.push_back(stack_.size());
        return {};
      case kPop: return pop_any();
      case kPopMark: return drop(take_marked());
      case kDup: return duplicate();
      case kGlobal: return global();
      case kStackGlobal: return stack_global();
      case kReduce:
      case kNewObj: return call();
      case kBuild: return build();
      case kBinPersid: return persistent();
      default: break;
    }
    if (const auto done = scalar(opcode)) return *done;
    if (const auto done = container(opcode)) return *done;
    if (const auto done = memo(opcode)) return *done;
    return fail(make_error(ErrorCode::kBadHeader, "pickle opcode 0x{:02x} is not one of plain data", opcode)
                    .with_offset(opcode_offset_));
  }

  std::optional<Status> scalar(unsigned char opcode) {
    switch (opcode) {
      case kNone: return push({.kind = PickleKind::kNone});
      case kNewTrue: return push({.kind = PickleKind::kBool, .number = 1});
      case kNewFalse: return push({.kind = PickleKind::kBool, .number = 0});
      case kBinInt1: return integer(1);
      case kBinInt2: return integer(2);
      case kBinInt: return integer(4);
      case kLong1: return long_integer();
      case kBinFloat: return skipped(8);
      case kShortBinUnicode: return text(1);
      case kBinUnicode: return text(4);
      case kBinUnicode8: return text(8);
      case kShortBinString: return python2_string(1);
      case kBinString: return python2_string(4);
      case kShortBinBytes: return bytes(1);
      case kBinBytes: return bytes(4);
      case kBinBytes8: return bytes(8);
      default: return std::nullopt;
    }
  }

  std::optional<Status> container(unsigned char opcode) {
    switch (opcode) {
      case kEmptyTuple: return push({.kind = PickleKind::kTuple});
      case kEmptyList: return push({.kind = PickleKind::kList});
      case kEmptyDict: return push({.kind = PickleKind::kDict});
      case kEmptySet: return push({.kind = PickleKind::kSet});
      case kTuple1: return collect(PickleKind::kTuple, 1);
      case kTuple2: return collect(PickleKind::kTuple, 2);
      case kTuple3: return collect(PickleKind::kTuple, 3);
      case kTuple: return collect_marked(PickleKind::kTuple);
      case kList: return collect_marked(PickleKind::kList);
      case kDict: return collect_marked(PickleKind::kDict);
      case kFrozenSet: return collect_marked(PickleKind::kSet);
      case kAppend: return add(PickleKind::kList, take(1));
      case kSetItem: return add(PickleKind::kDict, take(2));
      case kAppends: return add(PickleKind::kList, take_marked());
      case kSetItems: return add(PickleKind::kDict, take_marked());
      case kAddItems: return add(PickleKind::kSet, take_marked());
      default: return std::nullopt;
    }
  }

  std::optional<Status> memo(unsigned char opcode) {
    switch (opcode) {
      case kBinPut: return remember(number(1));
      case kLongBinPut: return remember(number(4));
      case kMemoize: return remember(memo_.size());
      case kBinGet: return recall(number(1));
      case kLongBinGet: return recall(number(4));
      default: return std::nullopt;
    }
  }

  tl::unexpected<Error> bad(std::string_view what) {
    return fail(make_error(ErrorCode::kBadHeader, "damaged pickle: {}", what).with_offset(opcode_offset_));
  }

  // An unsigned number of 1, 2, 4 or 8 bytes.
  Result<uint64_t> number(size_t width) {
    MSDUMP_TRY(const auto raw, reader_.bytes(width));
    switch (width) {
      case 1: return std::to_integer<uint64_t>(raw[0]);
      case 2: return load<uint16_t>(raw.data());
      case 4: return load<uint32_t>(raw.data());
      default: return load<uint64_t>(raw.data());
    }
  }

  Status protocol() {
    MSDUMP_TRY(const auto version, number(1));
    if (version < 2 || version > 5) return bad(fmt::format("protocol {}", version));
    return {};
  }

  Status stop() {
    MSDUMP_TRY(pickle_.root, pop());
    if (!stack_.empty() || !marks_.empty()) return bad("values are left over at its end");
    stopped_ = true;
    return {};
  }

  // The stack. Values below the last mark can be popped only together with the mark.

  [[nodiscard]] size_t available() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }

  Status push(PickleValue value) {
    pickle_.values.push_back(std::move(value));
    return push_ref(static_cast<PickleRef>(pickle_.values.size() - 1));
  }

  Status push_ref(PickleRef value) {
    ++steps_;
    stack_.push_back(value);
    return {};
  }

  Result<PickleRef> top() {
    if (available() == 0) return bad("a value is missing on the stack");
    return stack_.back();
  }

  Result<PickleRef> pop() {
    MSDUMP_TRY(const PickleRef value, top());
    stack_.pop_back();
    return value;
  }

  Result<std::vector<PickleRef>> take(size_t count) {
    if (available() < count) return bad("values are missing on the stack");
    const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
    std::vector<PickleRef> values(first, stack_.end());
    stack_.erase(first, stack_.end());
    return values;
  }

  Result<std::vector<PickleRef>> take_marked() {
    if (marks_.empty()) return bad("a mark is missing on the stack");
    auto values = take(available());
    marks_.pop_back();
    return values;
  }

  template <class T>
  Status drop(Result<T> taken) {
    MSDUMP_CHECK_OK(taken);
    return {};
  }

  Status pop_any() {
    if (available() > 0) return drop(pop());
    return drop(take_marked());  // POP at a mark takes the mark, as Python's does
  }

  Status duplicate() {
    MSDUMP_TRY(const PickleRef value, top());
    return push_ref(value);
  }

  // Values.

  Status integer(size_t width) {
    MSDUMP_TRY(const auto raw, number(width));
    const auto value = width == 4 ? static_cast<int32_t>(static_cast<uint32_t>(raw)) : static_cast<int64_t>(raw);
    return push({.kind = PickleKind::kInt, .number = value});
  }

  Status long_integer() {
    MSDUMP_TRY(const auto width, number(1));
    MSDUMP_TRY(const auto raw, reader_.bytes(width));
    if (width > 8) return push({.kind = PickleKind::kOther});
    const bool negative = width > 0 && std::to_integer<int>(raw.back()) >= 0x80;
    uint64_t value = negative ? ~uint64_t{0} : 0;
    for (size_t i = raw.size(); i-- > 0;) value = value << 8 | std::to_integer<uint64_t>(raw[i]);
    return push({.kind = PickleKind::kInt, .number = static_cast<int64_t>(value)});
  }

  Status skipped(uint64_t count) {
    MSDUMP_CHECK_OK(reader_.skip(count));
    return push({.kind = PickleKind::kOther});
  }

  Status bytes(size_t width) {
    MSDUMP_TRY(const auto count, number(width));
    return skipped(count);
  }

  Status text(size_t width) {
    MSDUMP_TRY(const auto count, number(width));
    MSDUMP_TRY(const auto raw, reader_.bytes(count));
    const std::string_view value = as_text(raw);
    if (!is_utf8(value)) return bad("a text is not UTF-8");
    return push({.kind = PickleKind::kText, .text = value});
  }

  // Python 2's str: text or bytes.
  Status python2_string(size_t width) {
    MSDUMP_TRY(const auto count, number(width));
    MSDUMP_TRY(const auto raw, reader_.bytes(count));
    const std::string_view value = as_text(raw);
    return is_utf8(value) ? push({.kind = PickleKind::kText, .text = value}) : push({.kind = PickleKind::kOther});
  }

  // Containers.

  Status put_container(PickleKind kind, std::vector<PickleRef> items) {
    if (kind == PickleKind::kDict && items.size() % 2 != 0) return bad("a key without a value");
    return push({.kind = kind, .items = std::move(items)});
  }

  Status collect(PickleKind kind, size_t count) {
    MSDUMP_TRY(auto items, take(count));
    return put_container(kind, std::move(items));
  }

  Status collect_marked(PickleKind kind) {
    MSDUMP_TRY(auto items, take_marked());
    return put_container(kind, std::move(items));
  }

  // The result of a call may be a dict (collections.OrderedDict) or a list, which only the caller knows.
  Status add(PickleKind kind, Result<std::vector<PickleRef>> taken) {
    MSDUMP_TRY(const auto items, std::move(taken));
    if (kind == PickleKind::kDict && items.size() % 2 != 0) return bad("a key without a value");
    MSDUMP_TRY(const PickleRef target, top());
    PickleValue& value = pickle_.values[target];
    if (value.kind != kind && value.kind != PickleKind::kCall)
      return bad("items for a value that is not their container");
    value.items.insert(value.items.end(), items.begin(), items.end());
    return {};
  }

  // The memo.

  Status remember(Result<uint64_t> place) {
    MSDUMP_CHECK_OK(place);
    if (*place >= most_steps_) {
      return fail(make_error(ErrorCode::kTooLarge, "pickle memo number {}", *place).with_offset(opcode_offset_));
    }
    MSDUMP_TRY(const PickleRef value, top());
    if (*place >= memo_.size()) memo_.resize(static_cast<size_t>(*place) + 1);
    memo_[static_cast<size_t>(*place)] = value;
    return {};
  }

  Status recall(Result<uint64_t> place) {
    MSDUMP_CHECK_OK(place);
    if (*place >= memo_.size() || !memo_[static_cast<size_t>(*place)]) return bad("nothing is memorized there");
    return push_ref(*memo_[static_cast<size_t>(*place)]);
  }

  // Names and calls.

  Result<std::string_view> line() {
    ByteReader ahead = reader_;
    MSDUMP_TRY(const auto rest, ahead.bytes(std::min(ahead.remaining(), kMaxGlobalName + 1)));
    const size_t length = as_text(rest).find('\n');
    if (length == std::string_view::npos && rest.size() > kMaxGlobalName) return bad("a name that does not end");
    MSDUMP_CHECK_OK(reader_.skip(std::min(length, rest.size()) + 1));  // the pickle may end before the line does
    return as_text(rest.first(length));
  }

  Status global() {
    MSDUMP_TRY(const auto module, line());
    MSDUMP_TRY(const auto name, line());
    return push_global(module, name);
  }

  Status stack_global() {
    MSDUMP_TRY(const auto names, take(2));
    const PickleValue &module = pickle_[names[0]], &name = pickle_[names[1]];
    if (module.kind != PickleKind::kText || name.kind != PickleKind::kText) return bad("a name that is not a text");
    return push_global(module.text, name.text);
  }

  Status push_global(std::string_view module, std::string_view name) {
    if (std::max(module.size(), name.size()) > kMaxGlobalName) return bad("a name that is too long");
    const std::string full = fmt::format("{}.{}", module, name);
    auto& known = pickle_.globals;
    const auto found = std::find(known.begin(), known.end(), full);
    const auto index = static_cast<uint32_t>(found - known.begin());
    if (found == known.end()) {
      if (known.size() == kMaxGlobals) return bad("too many different names");
      known.push_back(full);
    }
    return push({.kind = PickleKind::kGlobal, .global = index});
  }

  Status call() {
    MSDUMP_TRY(const auto parts, take(2));
    const PickleValue& called = pickle_[parts[0]];
    const PickleRef name = called.kind == PickleKind::kCall ? called.callable : parts[0];
    if (pickle_[name].kind != PickleKind::kGlobal) return bad("a call of a value that is not a name");
    if (pickle_[parts[1]].kind != PickleKind::kTuple) return bad("a call without a tuple of arguments");
    return push({.kind = PickleKind::kCall, .callable = name, .argument = parts[1]});
  }

  // A value of another kind has no use for a state.
  Status build() {
    MSDUMP_TRY(const PickleRef state, pop());
    MSDUMP_TRY(const PickleRef object, top());
    if (pickle_[object].kind == PickleKind::kCall) pickle_.values[object].state = state;
    return {};
  }

  Status persistent() {
    MSDUMP_TRY(const PickleRef id, pop());
    return push({.kind = PickleKind::kPersistent, .argument = id});
  }

  ByteReader reader_;
  Pickle pickle_;
  std::vector<PickleRef> stack_;
  std::vector<size_t> marks_;  // sizes of the stack at its marks
  std::vector<std::optional<PickleRef>> memo_;
  const size_t most_steps_;  // values and references on the stack
  size_t steps_ = 0;
  uint64_t opcode_offset_ = 0;
  bool stopped_ = false;
};

}  // namespace

Result<Pickle> parse_pickle(std::span<const std::byte> bytes, uint64_t base_offset, size_t most) {
  return Machine(bytes, base_offset, most).run();
}

}  // namespace msdump::torch

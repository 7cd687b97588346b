// Reads a pickle as data. Nothing is imported or called: a class or function is its name, and a call is a name with
// arguments, which the caller interprets.
//
//   PROTO 2 to 5, FRAME                          skipped
//   NONE, NEWTRUE, NEWFALSE, BININT*, LONG1,     values
//   BINFLOAT, BINUNICODE*, BINSTRING*, BINBYTES*
//   EMPTY_*, MARK, TUPLE*, LIST, DICT, APPEND*,  containers
//   SETITEM*, ADDITEMS, FROZENSET, POP, POP_MARK, DUP
//   BINPUT*, BINGET*, MEMOIZE                    the memo: a value that occurs several times, also inside itself
//   GLOBAL, STACK_GLOBAL                         a name
//   REDUCE, NEWOBJ                               kCall; later SETITEM* and APPEND* add items to it. A call of the result of
//                                                a call has the name of the first
//   BUILD                                        the state of an object: its attributes, as a dict or a tuple
//   BINPERSID                                    kPersistent
//
// Other opcodes are refused. Limit against hostile input: a million values and references by default, some 100 MB.
// Source: the documentation of Python's pickletools.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace msdump::torch {

enum class PickleKind : uint8_t {
  kNone,
  kBool,
  kInt,
  kText,
  kOther,  // floats, bytes, integers of more than 64 bits
  kTuple,
  kList,
  kDict,
  kSet,
  kGlobal,
  kCall,
  kPersistent,
};

// Index into Pickle::values.
using PickleRef = uint32_t;

struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  PickleRef callable = 0;      // kCall: the function
  PickleRef argument = 0;      // kCall: the arguments; kPersistent: the id
  PickleRef state = 0;         // kCall: what BUILD sets; 0: nothing, as no state is the first value
  int64_t number = 0;          // kBool, kInt
  std::string_view text = {};  // kText: UTF-8, a view of the pickle
  // kTuple, kList, kSet: the items. kDict: key, value, key, value, ... kCall: items that were added later.
  std::vector<PickleRef> items = {};
  uint32_t global = 0;  // kGlobal: index into Pickle::globals
};

struct Pickle {
  std::deque<PickleValue> values;    // grows without copies
  std::vector<std::string> globals;  // "torch._utils._rebuild_tensor_v2", each once
  PickleRef root = 0;

  [[nodiscard]] const PickleValue& operator[](PickleRef value) const { return values[value]; }
  [[nodiscard]] std::string_view global_of(const PickleValue& value) const { return globals[value.global]; }
};

inline constexpr size_t kMostPickleValues = 1'000'000;

// The bytes must outlive the result. `base_offset` is their offset in the file, for messages. kTooLarge for more than `most`
// values and references.
Result<Pickle> parse_pickle(std::span<const std::byte> bytes, uint64_t base_offset, size_t most = kMostPickleValues);

}  // namespace msdump::torch

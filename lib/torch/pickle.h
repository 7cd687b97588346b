// Pickle as data: a reader of the opcodes for plain values. Nothing is imported and nothing is called: a class or
// function is its name, a call is that name with its arguments, and the reader of the tree decides what they mean.
//
//   PROTO 2 to 5, FRAME                          skipped
//   NONE, NEWTRUE, NEWFALSE, BININT*, LONG1,     values
//   BINFLOAT, BINUNICODE*, BINSTRING*, BINBYTES*
//   EMPTY_*, MARK, TUPLE*, LIST, DICT, APPEND*,  containers
//   SETITEM*, ADDITEMS, FROZENSET, POP, POP_MARK, DUP
//   BINPUT*, BINGET*, MEMOIZE                    the memo: one value in several places, also inside itself
//   GLOBAL, STACK_GLOBAL                         a name
//   REDUCE, NEWOBJ                               kCall; later SETITEM* and APPEND* put items into it. A call of what a call
//                                                gave has the name of the first
//   BUILD                                        the attributes of an object: dropped
//   BINPERSID                                    kPersistent
//
// Every other opcode is refused. Limits against hostile input: at most a million values and references in all, which take
// at most some 100 MB.
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
  kOther,  // floats, bytes, integers beyond 64 bits: valid but not needed
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
  PickleRef callable = 0;      // of a kCall: what is called
  PickleRef argument = 0;      // of a kCall: the arguments; of a kPersistent: what it stands for
  int64_t number = 0;          // of a kBool or kInt
  std::string_view text = {};  // of a kText: UTF-8, inside the bytes that were read
  // kTuple, kList, kSet: the items. kDict: key, value, key, value, ... kCall: what was put in later, as these.
  std::vector<PickleRef> items = {};
  uint32_t global = 0;  // of a kGlobal: index into Pickle::globals
};

struct Pickle {
  std::deque<PickleValue> values;    // grows without copies: a hostile pickle has a million
  std::vector<std::string> globals;  // "torch._utils._rebuild_tensor_v2", each once
  PickleRef root = 0;

  [[nodiscard]] const PickleValue& operator[](PickleRef value) const { return values[value]; }
  [[nodiscard]] std::string_view global_of(const PickleValue& value) const { return globals[value.global]; }
};

// The bytes must outlive the result. `base_offset` is where they begin in their file; only messages use it.
Result<Pickle> parse_pickle(std::span<const std::byte> bytes, uint64_t base_offset);

}  // namespace msdump::torch

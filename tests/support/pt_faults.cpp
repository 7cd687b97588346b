#include <array>
#include <stdexcept>

#include "support/pt_builder.h"

namespace msdump::test {
namespace {

using enum PtFault;

constexpr std::array<std::string_view, static_cast<size_t>(kLast_)> kNames = {"none",
                                                                              "not zip",
                                                                              "zip cut",
                                                                              "zip directory cut",
                                                                              "no data pickle",
                                                                              "two data pickles",
                                                                              "torch script",
                                                                              "old form",
                                                                              "duplicate entry",
                                                                              "pickle crc wrong",
                                                                              "pickle encrypted",
                                                                              "byte order unknown",
                                                                              "pickle empty",
                                                                              "pickle cut",
                                                                              "pickle protocol 0",
                                                                              "pickle bad opcode",
                                                                              "pickle text too long",
                                                                              "pickle stack empty",
                                                                              "pickle mark missing",
                                                                              "pickle memo missing",
                                                                              "pickle memo too high",
                                                                              "pickle not utf8",
                                                                              "pickle rest on stack",
                                                                              "pickle key without value",
                                                                              "pickle many values",
                                                                              "pickle nested deep",
                                                                              "pickle holds itself",
                                                                              "pickle billion values",
                                                                              "pickle long key",
                                                                              "global os.system",
                                                                              "global module",
                                                                              "global builtins.eval",
                                                                              "stack global os.system",
                                                                              "global too long",
                                                                              "call of no name",
                                                                              "call of dtype",
                                                                              "one compressed",
                                                                              "one storage missing",
                                                                              "one storage too small",
                                                                              "one declared too small",
                                                                              "one offset too large",
                                                                              "one offset negative",
                                                                              "one offset huge",
                                                                              "one local offset wrong",
                                                                              "one entry beyond end",
                                                                              "one transposed",
                                                                              "one strides overlap",
                                                                              "one strides missing",
                                                                              "one shape negative",
                                                                              "one shape overflows",
                                                                              "one shape bytes wrap",
                                                                              "one shape no tuple",
                                                                              "one rank above limit",
                                                                              "one storage unknown",
                                                                              "one storage untyped",
                                                                              "one dtype unknown",
                                                                              "one location meta",
                                                                              "one conjugate",
                                                                              "one sparse",
                                                                              "one too few arguments",
                                                                              "one storage no id"};

std::string with_pickle(const std::string& bytes) { return build_pt({.pickle = bytes}); }
std::string with_value(const pickle::Text& value) { return with_pickle(pickle::whole(value)); }

std::string repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string cut(const std::string& whole, size_t left) { return whole.substr(0, left); }

std::string archive_fault(PtFault fault) {
  ZipSpec zip = zip_of({});
  switch (fault) {
    case kNotZip: return std::string(100, 'x');
    case kZipCut: return cut(build_zip(zip), 300);
    case kZipDirectoryCut: return cut(build_zip(zip), build_zip(zip).size() - 120);
    case kNoDataPickle: zip.entries[0].name = "t/other.pkl"; break;
    case kTwoDataPickles: zip.entries.push_back({.name = "u/data.pkl", .data = zip.entries[0].data}); break;
    case kTorchScript: zip.entries.push_back({.name = "t/constants.pkl", .data = "\x80\x02)."}); break;
    case kOldForm: return "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.";
    case kDuplicateEntry: zip.entries.push_back(zip.entries[2]); break;
    case kPickleCrcWrong: zip.entries[0].crc = 1; break;
    case kPickleEncrypted: zip.entries[0].flags |= 1; break;
    case kByteOrderUnknown: zip.entries[1].data = "middle"; break;
    default: throw std::invalid_argument("no such fault");
  }
  return build_zip(zip);
}

// Ten lists, each of ten times the one before.
pickle::Text billion_values() {
  pickle::Text value = "]q" + std::string(1, '\0') + "(NNNNNNNNNNe0";
  for (char level = 1; level < 10; ++level) {
    value += "]q" + std::string(1, level) + "(" + repeated("h" + std::string(1, static_cast<char>(level - 1)), 10) +
             (level < 9 ? "e0" : "e");
  }
  return value;
}

std::string pickle_fault(PtFault fault) {
  using std::string_literals::operator""s;
  const std::string good = PtSpec{}.pickle;
  switch (fault) {
    case kPickleEmpty: return with_pickle("");
    case kPickleCut: return with_pickle(cut(good, good.size() / 2));
    case kPickleProtocol0: return with_pickle("\x80\x00N."s);
    case kPickleBadOpcode: return with_value("i");  // INST
    case kPickleTextTooLong: return with_value("X\xff\xff\xff\xff");
    case kPickleStackEmpty: return with_value("\x86");
    case kPickleMarkMissing: return with_value("Nt");
    case kPickleMemoMissing: return with_value("h\x07");
    case kPickleMemoTooHigh: return with_value("Nr\xff\xff\xff\xff");
    case kPickleNotUtf8: return with_value("X\x02\x00\x00\x00\xff\xfe"s);
    case kPickleRestOnStack: return with_value("NN");
    case kPickleKeyWithoutValue: return with_value("}(Nu");
    case kPickleManyValues: return with_value("](" + std::string(2'500'000, 'N') + "e");
    case kPickleNestedDeep: return with_value("N" + std::string(5000, '\x85'));
    case kPickleHoldsItself: return with_value("]q\x00h\x00"s + "a");
    case kPickleBillionValues: return with_value(billion_values());
    case kPickleLongKey: return with_value(pickle::dict({{pickle::text(std::string(5000, 'k')), tensor_call()}}));
    case kGlobalOsSystem: return with_value(pickle::call(pickle::global("os", "system"), {pickle::text("true")}));
    case kGlobalModule: return with_value(pickle::global("torch.nn", "Linear") + ")\x81");
    case kGlobalBuiltinsEval: return with_value(pickle::call(pickle::global("builtins", "eval"), {pickle::text("1")}));
    case kStackGlobalOsSystem: return with_value(pickle::text("os") + pickle::text("system") + "\x93)R");
    case kGlobalTooLong: return with_value(pickle::global("torch", std::string(1000, 'a') + "Storage"));
    case kCallOfNoName: return with_value(pickle::call(pickle::text("torch._utils._rebuild_tensor_v2"), {}));
    case kCallOfDtype: return with_value(pickle::call(pickle::global("torch", "float32"), {}));
    default: return archive_fault(fault);
  }
}

// "good" beside a tensor with the fault, whose storage has the key "1".
std::string with_bad(const pickle::Text& bad, const std::string& storage = std::string(24, '\2')) {
  return build_pt(
      {.pickle = pickle::whole(pickle::dict({{pickle::text("bad"), bad}, {pickle::text("good"), tensor_call()}})),
       .storages = {{"0", std::string(24, '\1')}, {"1", storage}}});
}

std::string with_bad_tensor(PtTensorSpec spec) {
  spec.key = "1";
  return with_bad(tensor_call(spec));
}

// The same with sound pickle; the fault is in the entry of the bad one's storage.
template <class Change>
std::string with_bad_entry(Change change) {
  ZipSpec zip = zip_of({.pickle = pickle::whole(pickle::dict(
                            {{pickle::text("bad"), tensor_call({.key = "1"})}, {pickle::text("good"), tensor_call()}})),
                        .storages = {{"0", std::string(24, '\1')}, {"1", std::string(24, '\2')}}});
  change(zip.entries[3]);
  return build_zip(zip);
}

pickle::Text rebuild_v2(const std::vector<pickle::Text>& arguments) {
  return pickle::call(pickle::global("torch._utils", "_rebuild_tensor_v2"), arguments);
}

std::string layout_fault(PtFault fault) {
  const int64_t huge = int64_t{1} << 62;
  switch (fault) {
    case kOneOffsetTooLarge: return with_bad_tensor({.offset = 1});
    case kOneOffsetNegative: return with_bad_tensor({.offset = -1});
    case kOneOffsetHuge: return with_bad_tensor({.offset = huge});
    case kOneDeclaredTooSmall: return with_bad_tensor({.elements = 5});
    case kOneTransposed: return with_bad_tensor({.shape = {2, 3}, .strides = {{1, 2}}});
    case kOneStridesOverlap: return with_bad_tensor({.shape = {2, 3}, .strides = {{0, 1}}});
    case kOneStridesMissing: return with_bad_tensor({.shape = {2, 3}, .strides = {{1}}});
    case kOneShapeNegative: return with_bad_tensor({.shape = {-2, 3}});
    case kOneShapeOverflows: return with_bad_tensor({.elements = huge, .shape = {huge, 8}, .strides = {{8, 1}}});
    case kOneShapeBytesWrap: return with_bad_tensor({.elements = huge + 6, .shape = {huge + 6}});
    case kOneRankAboveLimit: return with_bad_tensor({.shape = std::vector<int64_t>(100, 1)});
    case kOneStorageUnknown: return with_bad_tensor({.storage_class = "QUInt4x2Storage"});
    case kOneStorageUntyped: return with_bad_tensor({.storage_class = "UntypedStorage", .elements = 24});
    case kOneDtypeUnknown:
      return with_bad_tensor({.storage_class = "UntypedStorage", .elements = 24, .dtype = "bits8"});
    case kOneLocationMeta: return with_bad_tensor({.location = "meta"});
    case kOneConjugate:
      return with_bad_tensor({.metadata = pickle::dict({{pickle::text("conj"), pickle::boolean(true)}})});
    default: return pickle_fault(fault);
  }
}

}  // namespace

std::string_view name_of(PtFault fault) { return kNames.at(static_cast<size_t>(fault)); }

std::vector<PtFault> all_pt_faults() {
  std::vector<PtFault> faults;
  for (int i = 0; i < static_cast<int>(kLast_); ++i) faults.push_back(static_cast<PtFault>(i));
  return faults;
}

bool is_of_one_tensor(PtFault fault) { return fault >= kOneCompressed && fault < kLast_; }

std::string build_faulty_pt(PtFault fault) {
  switch (fault) {
    case kNone: return build_pt();
    case kOneCompressed: return with_bad_entry([](ZipEntrySpec& entry) { entry.deflated = true; });
    case kOneStorageTooSmall: return with_bad(tensor_call({.key = "1"}), std::string(20, '\2'));
    case kOneStorageMissing: return with_bad(tensor_call({.key = "2"}));
    case kOneLocalOffsetWrong: return with_bad_entry([](ZipEntrySpec& entry) { entry.local_offset = 3; });
    case kOneEntryBeyondEnd: return with_bad_entry([](ZipEntrySpec& entry) { entry.size = 100'000; });
    case kOneShapeNoTuple:
      return with_bad(
          rebuild_v2({storage_id({.key = "1"}), pickle::integer(0), pickle::integer(6), pickle::tuple({})}));
    case kOneSparse:
      return with_bad(pickle::call(pickle::global("torch._utils", "_rebuild_sparse_tensor"), {pickle::none()}));
    case kOneTooFewArguments: return with_bad(rebuild_v2({storage_id({.key = "1"})}));
    case kOneStorageNoId:
      return with_bad(
          rebuild_v2({pickle::text("1"), pickle::integer(0), pickle::integers({6}), pickle::integers({1})}));
    case kLast_: throw std::invalid_argument("no such fault");
    default: return layout_fault(fault);
  }
}

}  // namespace msdump::test

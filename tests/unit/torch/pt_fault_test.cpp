// Each named fault of a .pt file has one answer: an error for the file, or a problem of the one tensor that has it.
#include <map>

#include "support/catch.h"
#include "support/pt_builder.h"
#include "support/scratch_dir.h"
#include "torch/pt_file.h"

using namespace msdump;
using namespace msdump::test;
using msdump::torch::PtFile;

namespace {

using enum PtFault;

ErrorCode expected_code(PtFault fault) {
  switch (fault) {
    case kZipCut:
    case kZipDirectoryCut:
    case kPickleEmpty:
    case kPickleCut:
    case kPickleTextTooLong:
    case kOneStorageMissing:
    case kOneStorageTooSmall:
    case kOneDeclaredTooSmall:
    case kOneOffsetTooLarge:
    case kOneEntryBeyondEnd: return ErrorCode::kTruncated;
    case kPickleMemoTooHigh:
    case kPickleManyValues:
    case kPickleNestedDeep:
    case kPickleHoldsItself:
    case kPickleBillionValues:
    case kPickleLongKey:
    case kOneRankAboveLimit: return ErrorCode::kTooLarge;
    case kTorchScript:
    case kOldForm:
    case kPickleEncrypted:
    case kGlobalOsSystem:
    case kGlobalModule:
    case kGlobalBuiltinsEval:
    case kStackGlobalOsSystem:
    case kCallOfDtype:
    case kOneCompressed:
    case kOneTransposed:
    case kOneStridesOverlap:
    case kOneLocationMeta:
    case kOneConjugate:
    case kOneSparse: return ErrorCode::kUnsupportedFormat;
    case kOneStorageUnknown:
    case kOneStorageUntyped:
    case kOneDtypeUnknown: return ErrorCode::kUnsupportedDtype;
    default: return ErrorCode::kBadHeader;
  }
}

const std::map<PtFault, std::string> kMessages = {
    {kGlobalOsSystem, "unsupported: os.system"},
    {kGlobalModule, "unsupported: torch.nn.Linear"},
    {kStackGlobalOsSystem, "unsupported: os.system"},
    {kNoDataPickle, "a zip archive without data.pkl among its 4 entries: not a .pt file"},
    {kTorchScript, "a TorchScript archive: it holds a program, not tensors"},
    {kOldForm, "a .pt file from before PyTorch 1.6, which is not a zip archive"},
    {kOneTransposed, "the elements are not contiguous: shape 2x3, strides 1x2"},
    {kOneStorageTooSmall, "storage '1': 24 bytes needed, 20 present"},
    {kOneStorageUnknown, "unsupported: torch.QUInt4x2Storage"},
    {kOneDtypeUnknown, "unsupported: torch.bits8"},
    {kOneCompressed, "zip entry 't/data/1' is compressed"},
    {kOneSparse, "unsupported tensor: torch._utils._rebuild_sparse_tensor"},
    {kPickleBadOpcode, "pickle opcode 0x69 is not one of plain data"},
};

void check_error(PtFault fault, const Error& error, const std::string& path) {
  INFO(error.message);
  CHECK(code_word(error.code) == code_word(expected_code(fault)));
  CHECK(error.path == path);
  CHECK(error.message.find('\n') == std::string::npos);
  if (const auto message = kMessages.find(fault); message != kMessages.end()) CHECK(error.message == message->second);
}

// "bad" has the problem, "good" is read.
void check_one(PtFault fault, const PtFile& found, const std::string& path) {
  REQUIRE(found.tensors.size() == 2);
  CHECK(found.tensors[0].key == "bad");
  REQUIRE(found.tensors[0].problem);
  check_error(fault, *found.tensors[0].problem, path);
  CHECK(found.tensors[0].problem->tensor == "bad");
  CHECK(found.tensors[1].key == "good");
  CHECK_FALSE(found.tensors[1].problem);
  CHECK(found.tensors[1].bytes == 24);
}

}  // namespace

TEST_CASE("Every fault of a .pt file is reported, and costs no other tensor") {
  const ScratchDir scratch;
  for (const PtFault fault : all_pt_faults()) {
    if (fault == kNone) continue;
    INFO(name_of(fault));
    const std::string path = scratch.write("a.pt", build_faulty_pt(fault));
    const auto file = File::open(path);
    REQUIRE(file);
    const auto found = torch::read_pt(*file);
    if (is_of_one_tensor(fault)) {
      REQUIRE(found);
      check_one(fault, *found, path);
    } else {
      REQUIRE_FALSE(found);
      check_error(fault, found.error(), path);
    }
  }
}

TEST_CASE("What is wrong with a tensor is said in its problem") {
  const auto problem_of = [](const pickle::Text& value) {
    const ScratchDir scratch;
    const auto file = File::open(scratch.write("a.pt", build_pt({.pickle = pickle::whole(value)})));
    REQUIRE(file);
    const auto found = torch::read_pt(*file);
    REQUIRE(found);
    REQUIRE(found->tensors.size() == 1);
    return found->tensors[0].problem ? found->tensors[0].problem->message : "none";
  };
  const auto rebuilt = [](const pickle::Text& storage, const pickle::Text& offset, const pickle::Text& shape,
                          const pickle::Text& strides) {
    return pickle::call(pickle::global("torch._utils", "_rebuild_tensor"), {storage, offset, shape, strides});
  };
  const pickle::Text storage = storage_id({}), zero = pickle::integer(0), shape = pickle::integers({2, 3}),
                     strides = pickle::integers({3, 1});
  CHECK(problem_of(rebuilt(storage, zero, shape, strides)) == "none");
  CHECK(problem_of(rebuilt(pickle::none(), zero, shape, strides)) == "damaged tensor: it has no storage");
  CHECK(problem_of(rebuilt(storage, zero, pickle::list({zero}), strides)) == "damaged tensor: its size is not a tuple");
  CHECK(problem_of(rebuilt(storage, zero, shape, zero)) == "damaged tensor: its strides is not a tuple");
  CHECK(problem_of(rebuilt(storage, zero, shape, pickle::integers({1}))) ==
        "damaged tensor: 2 dimensions and 1 strides");
  CHECK(problem_of(rebuilt(storage, pickle::text("0"), shape, strides)) ==
        "damaged tensor: its offset is not a number of 0 or more");
  CHECK(problem_of(rebuilt(storage, pickle::integer(int64_t{1} << 62), shape, strides)) ==
        "damaged tensor: its storage's size or its offset overflows");
  const std::vector<int64_t> ones(64, 1);
  CHECK(problem_of(tensor_call({.elements = 1, .shape = ones})) == "none");
  CHECK(problem_of(tensor_call({.elements = 1, .shape = std::vector<int64_t>(65, 1)})) ==
        "65 dimensions, at most 64 are read");
  for (const char* location : {"meta", "cuda:", "cuda:x", "cuda:0:1", "cudas", ""}) {
    CHECK(problem_of(tensor_call({.location = location})) ==
          "unsupported: a storage on '" + std::string(location) + "'");
  }
  CHECK(problem_of(tensor_call({.key = std::string(65, '0')})) == "damaged tensor: its storage's key is too long");
  CHECK(problem_of(tensor_call({.metadata = pickle::list({})})) == "damaged tensor: its metadata are not a dict");
  CHECK(problem_of(tensor_call({.metadata = pickle::dict({{pickle::text("neg"), pickle::boolean(true)}})})) ==
        "unsupported: a tensor with the metadata 'neg'");
  const pickle::Text from_type = pickle::global("torch._tensor", "_rebuild_from_type_v2"),
                     parameter = pickle::global("torch.nn.parameter", "Parameter"),
                     function = pickle::global("torch._utils", "_rebuild_tensor"),
                     arguments = pickle::tuple({storage, zero, shape, strides});
  CHECK(problem_of(pickle::call(from_type, {function, parameter, arguments})) == "none");
  CHECK(problem_of(pickle::call(from_type, {function, parameter})) == "damaged tensor: a subclass without a tensor");
  CHECK(problem_of(pickle::call(from_type, {function, parameter, zero})) ==
        "damaged tensor: a subclass without a tensor");
  CHECK(problem_of(pickle::call(from_type, {pickle::text("x"), parameter, arguments})) ==
        "damaged tensor: a function that is not a name");
  CHECK(problem_of(pickle::call(pickle::global("torch._utils", "_rebuild_parameter"), {zero})) ==
        "damaged tensor: a parameter without a tensor");
}

TEST_CASE("A storage is five parts of the right kinds") {
  const std::vector<pickle::Text> parts = {pickle::text("storage"), pickle::global("torch", "FloatStorage"),
                                           pickle::text("0"), pickle::text("cpu"), pickle::integer(6)};
  const auto problem_of = [](const std::vector<pickle::Text>& id) {
    const ScratchDir scratch;
    const pickle::Text value =
        pickle::call(pickle::global("torch._utils", "_rebuild_tensor"),
                     {pickle::tuple(id) + "Q", pickle::integer(0), pickle::integers({2, 3}), pickle::integers({3, 1})});
    const auto file = File::open(scratch.write("a.pt", build_pt({.pickle = pickle::whole(value)})));
    REQUIRE(file);
    const auto found = torch::read_pt(*file);
    REQUIRE(found);
    return found->tensors.at(0).problem ? found->tensors[0].problem->message : "none";
  };
  CHECK(problem_of(parts) == "none");
  const std::string wrong = "damaged tensor: its storage is not (\"storage\", class, key, location, elements)";
  for (size_t i = 0; i < 4; ++i) {
    std::vector<pickle::Text> other = parts;
    other[i] = pickle::integer(1);
    CHECK(problem_of(other) == wrong);
  }
  CHECK(problem_of({parts[0], parts[1], parts[2], parts[3]}) == wrong);
  CHECK(problem_of({pickle::text("module"), parts[1], parts[2], parts[3], parts[4]}) == wrong);
  CHECK(problem_of({parts[0], parts[1], parts[2], parts[3], pickle::integer(-1)}) ==
        "damaged tensor: its storage's size is not a number of 0 or more");
  CHECK(problem_of({parts[0], pickle::global("torch", "float32"), parts[2], parts[3], parts[4]}) ==
        "damaged tensor: its storage has no storage class");
}

TEST_CASE("A file that only resembles one from before PyTorch 1.6 is not a zip archive") {
  const ScratchDir scratch;
  const std::string magic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
  for (const std::string& head :
       {"\x81\x02" + magic, "\x80\x02" + magic.substr(0, 12), "\x80\x02" + magic.substr(1) + "."}) {
    const auto file = File::open(scratch.write("a.pt", head));
    REQUIRE(file);
    CHECK(torch::read_pt(*file).error().message == "not a zip archive");
  }
}

TEST_CASE("Old files and TorchScript come with advice") {
  const ScratchDir scratch;
  for (const PtFault fault : {kOldForm, kTorchScript, kOneTransposed, kGlobalModule}) {
    const auto file = File::open(scratch.write("a.pt", build_faulty_pt(fault)));
    REQUIRE(file);
    const auto found = torch::read_pt(*file);
    CHECK_FALSE((found ? found->tensors[0].problem->hint : found.error().hint).empty());
  }
}

TEST_CASE("A .pt file cut to any length is an error, never a tensor beyond its end") {
  const ScratchDir scratch;
  const std::string whole = build_pt();
  for (size_t size = 0; size < whole.size() - 22; size += 3) {
    const auto file = File::open(scratch.write("a.pt", whole.substr(0, size)));
    REQUIRE(file);
    if (torch::read_pt(*file)) FAIL_CHECK("cut to " << size << " of " << whole.size() << " bytes");
  }
}

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
    {kOldForm, "a .pt file of before PyTorch 1.6, which is not a zip archive"},
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

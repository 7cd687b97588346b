// Dump files against dump files ("NPU vs NPU"), as msaccucmp compares them without a fusion rule: its rows, messages and
// faults.
//
//   operators     by the name in the file name, to the letter: numbers of another process make strangers of all. Those of
//                 the candidate by the time stamp, then those that only the reference has, by theirs
//   files         of several of one operator the last one by time stamp; two single files are a pair whatever their names
//   tensors       inputs with inputs, outputs with outputs, by position. If their numbers or one device shape differ, none
//                 of them has a row; if that is so of both, one row says why
//   elements      in host format where the file has the host's shape and the tool a conversion (is_restored); else as they
//                 lie on the device, padding and all
//   OpType        "NaN" of an operator without a partner, and of a file with a hashed name
//   Shape, scalar that of the device
//
// Where the tool ends with an exception (host shapes differ although device shapes do not; a file of the reference cannot
// be read) there is a row of NaN with the reason. dtypes that it does not know are compared; BOOL is 0 and 1.
#pragma once

#include <cstdint>
#include <vector>

#include "dump/layouts/stored_tensor.h"
#include "profiles/msaccucmp/row.h"

namespace msdump {

inline constexpr uint32_t kNoFile = UINT32_MAX;

struct MsaccucmpFilePair {
  uint32_t a = kNoFile, b = kNoFile;  // in the sides' DumpIndex::files(); one of them is there
};

// Of sides that hold dump files only, each in one folder.
[[nodiscard]] std::vector<MsaccucmpFilePair> pair_dump_files(const MsaccucmpSide& a, const MsaccucmpSide& b);

// An error only when interrupted.
Result<MsaccucmpOpRows> compare_dump_files(const MsaccucmpSide& a, const MsaccucmpSide& b,
                                           const MsaccucmpFilePair& pair, const CancelToken& cancel);

// Does the tool convert such a tensor to host format?
[[nodiscard]] bool is_restored(const PlanRequest& tensor);

}  // namespace msdump

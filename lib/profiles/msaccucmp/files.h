// Dump files against dump files ("NPU vs NPU"), as msaccucmp compares them without a fusion rule: its rows, messages and
// faults.
//
//   operators     by the exact name in the file name: operators numbered by another process do not match. First those of
//                 the candidate by time stamp, then those that only the reference has
//   files         the last one of an operator by time stamp; two single files are a pair whatever their names
//   tensors       inputs with inputs, outputs with outputs, by position. If their number or a device shape differs, none
//                 of them has a row; if that holds for inputs and outputs, one row says why
//   elements      in host format if the file has the host's shape and the tool a conversion (is_restored); else as they
//                 lie on the device, with padding
//   OpType        "NaN" for an operator without a partner and for a file with a hashed name
//   Shape, scalar those of the device
//
// Where the tool ends with an exception (host shapes differ although device shapes do not; a file of the reference cannot
// be read) there is a row of NaN with the reason. dtypes that the tool does not know are compared; BOOL is 0 and 1.
#pragma once

#include <cstdint>
#include <vector>

#include "dump/layouts/stored_tensor.h"
#include "profiles/msaccucmp/row.h"

namespace msdump {

inline constexpr uint32_t kNoFile = UINT32_MAX;

struct MsaccucmpFilePair {
  uint32_t a = kNoFile, b = kNoFile;  // in the sides' DumpIndex::files(); at least one is set
};

// For sides with dump files only, each in one folder.
[[nodiscard]] std::vector<MsaccucmpFilePair> pair_dump_files(const MsaccucmpSide& a, const MsaccucmpSide& b);

// An error only when interrupted.
Result<MsaccucmpOpRows> compare_dump_files(const MsaccucmpSide& a, const MsaccucmpSide& b,
                                           const MsaccucmpFilePair& pair, const CancelToken& cancel);

// Does the tool convert such a tensor to host format?
[[nodiscard]] bool is_restored(const PlanRequest& tensor);

}  // namespace msdump

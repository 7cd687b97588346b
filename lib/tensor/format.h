// Tensor formats: the order of the axes of a tensor in memory, on the host (NCHW) or on the device (NC1HWC0).
//
// The numbers are those of GE's `Format` enum (CANN 8.1), which Ascend dump files use. A number may be packed: bits 0-7 the
// format, bits 8-23 the sub-format (groups of FRACTAL_Z), bits 24-27 a code for C0 (C0 = 1 << (code-1), 0 = not given).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace msdump {

enum class Format : int16_t {
  kNCHW = 0,
  kNHWC = 1,
  kND = 2,
  kNC1HWC0 = 3,
  kFractalZ = 4,
  kNC1C0HWPad = 5,
  kNHWC1C0 = 6,
  kFsrNCHW = 7,
  kFractalDeconv = 8,
  kC1HWNC0 = 9,
  kFractalDeconvTranspose = 10,
  kFractalDeconvSpStrideTrans = 11,
  kNC1HWC0C04 = 12,
  kFractalZC04 = 13,
  kCHWN = 14,
  kFractalDeconvSpStride8Trans = 15,
  kHWCN = 16,
  kNC1KHKWHWC0 = 17,
  kBnWeight = 18,
  kFilterHWCK = 19,
  kHashtableLookupLookups = 20,
  kHashtableLookupKeys = 21,
  kHashtableLookupValue = 22,
  kHashtableLookupOutput = 23,
  kHashtableLookupHits = 24,
  kC1HWNCoC0 = 25,
  kMD = 26,
  kNDHWC = 27,
  kFractalZZ = 28,
  kFractalNZ = 29,
  kNCDHW = 30,
  kDHWCN = 31,
  kNDC1HWC0 = 32,
  kFractalZ3D = 33,
  kCN = 34,
  kNC = 35,
  kDHWNC = 36,
  kFractalZ3DTranspose = 37,
  kFractalZnLstm = 38,
  kFractalZG = 39,
  kReserved = 40,
  kAll = 41,
  kNull = 42,
  kNdRnnBias = 43,
  kFractalZnRnn = 44,
  kNYUV = 45,
  kNYUVA = 46,
  kNCL = 47,
  kFractalZWino = 48,
  kC1HWC0 = 49,
  kFractalNzC016 = 50,
  kFractalNzC032 = 51,
  kFractalNzC02 = 52,
  kFractalNzC04 = 53,
  kFractalNzC08 = 54,
  kMax = 255,
};

enum class Support : uint8_t {
  kHost,    // a permutation of axes, and a target of -f
  kDevice,  // padded or blocked; convert knows the inverse
  kKept,    // no public inverse: convert keeps the device layout and notes it
};

struct FormatInfo {
  Format format;
  std::string_view name;
  Support support;
  std::string_view note;  // device shape, or why it is kept; for --list-formats
};

[[nodiscard]] std::span<const FormatInfo> all_formats();
[[nodiscard]] const FormatInfo& info(Format format);
[[nodiscard]] inline std::string_view name_of(Format format) { return info(format).name; }

[[nodiscard]] std::optional<Format> format_from_number(int64_t number);
// Case-insensitive; GE's names, msaccucmp's (DECONV_SP_STRIDE8_TRANS, YUV) and MindSpore's (FRAC_NZ, FracZ, DefaultFormat).
[[nodiscard]] std::optional<Format> format_from_name(std::string_view name);

struct PackedFormat {
  Format format;
  int64_t groups;  // sub-format; 0 and 1 both mean "no groups"
};
// Splits a format number of a file. A non-zero `sub_format` field takes precedence over the packed one. No value if the
// number is no format.
[[nodiscard]] std::optional<PackedFormat> unpack_format(int64_t number, int64_t sub_format);

// The axis letters of a host format ("NCHW", "NDHWC"); empty for ND and for device formats.
[[nodiscard]] std::string_view host_axes(Format format);

}  // namespace msdump

#include "tensor/format.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "base/text.h"

namespace msdump {
namespace {

using enum Format;

constexpr std::string_view kNoInverse = "kept as on the device: no public inverse";
constexpr std::string_view kNeedsSizes = "kept as on the device: needs the input and hidden sizes of the operator";

constexpr std::array kInfo = {
    FormatInfo{kNCHW, "NCHW", Support::kHost, ""},
    FormatInfo{kNHWC, "NHWC", Support::kHost, ""},
    FormatInfo{kND, "ND", Support::kHost, "any rank, as it is"},
    FormatInfo{kNC1HWC0, "NC1HWC0", Support::kDevice, "N,C1,H,W,C0"},
    FormatInfo{kFractalZ, "FRACTAL_Z", Support::kDevice, "C1*H*W,N1,16,C0; grouped by its sub-format"},
    FormatInfo{kNC1C0HWPad, "NC1C0HWPAD", Support::kKept, kNoInverse},
    FormatInfo{kNHWC1C0, "NHWC1C0", Support::kKept, kNoInverse},
    FormatInfo{kFsrNCHW, "FSR_NCHW", Support::kKept, kNoInverse},
    FormatInfo{kFractalDeconv, "FRACTAL_DECONV", Support::kKept, kNoInverse},
    FormatInfo{kC1HWNC0, "C1HWNC0", Support::kKept, kNoInverse},
    FormatInfo{kFractalDeconvTranspose, "FRACTAL_DECONV_TRANSPOSE", Support::kKept, kNoInverse},
    FormatInfo{kFractalDeconvSpStrideTrans, "FRACTAL_DECONV_SP_STRIDE_TRANS", Support::kKept, kNoInverse},
    FormatInfo{kNC1HWC0C04, "NC1HWC0_C04", Support::kDevice, "N,ceil(C/4),H,W,4"},
    FormatInfo{kFractalZC04, "FRACTAL_Z_C04", Support::kDevice, "ceil(4*H*W/16),N1,16,16; C <= 4"},
    FormatInfo{kCHWN, "CHWN", Support::kHost, ""},
    FormatInfo{kFractalDeconvSpStride8Trans, "FRACTAL_DECONV_SP_STRIDE8_TRANS", Support::kKept, kNoInverse},
    FormatInfo{kHWCN, "HWCN", Support::kHost, ""},
    FormatInfo{kNC1KHKWHWC0, "NC1KHKWHWC0", Support::kKept, kNoInverse},
    FormatInfo{kBnWeight, "BN_WEIGHT", Support::kKept, kNoInverse},
    FormatInfo{kFilterHWCK, "FILTER_HWCK", Support::kKept, kNoInverse},
    FormatInfo{kHashtableLookupLookups, "HASHTABLE_LOOKUP_LOOKUPS", Support::kKept, kNoInverse},
    FormatInfo{kHashtableLookupKeys, "HASHTABLE_LOOKUP_KEYS", Support::kKept, kNoInverse},
    FormatInfo{kHashtableLookupValue, "HASHTABLE_LOOKUP_VALUE", Support::kKept, kNoInverse},
    FormatInfo{kHashtableLookupOutput, "HASHTABLE_LOOKUP_OUTPUT", Support::kKept, kNoInverse},
    FormatInfo{kHashtableLookupHits, "HASHTABLE_LOOKUP_HITS", Support::kKept, kNoInverse},
    FormatInfo{kC1HWNCoC0, "C1HWNCoC0", Support::kDevice, "C1,H,W,N,C0,C0 (depthwise, diagonal)"},
    FormatInfo{kMD, "MD", Support::kKept, kNoInverse},
    FormatInfo{kNDHWC, "NDHWC", Support::kHost, ""},
    FormatInfo{kFractalZZ, "FRACTAL_ZZ", Support::kKept, kNoInverse},
    FormatInfo{kFractalNZ, "FRACTAL_NZ", Support::kDevice, "...,W1,H1,16,C0"},
    FormatInfo{kNCDHW, "NCDHW", Support::kHost, ""},
    FormatInfo{kDHWCN, "DHWCN", Support::kHost, ""},
    FormatInfo{kNDC1HWC0, "NDC1HWC0", Support::kDevice, "N,D,C1,H,W,C0"},
    FormatInfo{kFractalZ3D, "FRACTAL_Z_3D", Support::kDevice, "D*C1*H*W,N1,16,C0"},
    FormatInfo{kCN, "CN", Support::kKept, kNoInverse},
    FormatInfo{kNC, "NC", Support::kHost, "rank 2, as it is"},
    FormatInfo{kDHWNC, "DHWNC", Support::kHost, ""},
    FormatInfo{kFractalZ3DTranspose, "FRACTAL_Z_3D_TRANSPOSE", Support::kKept, kNoInverse},
    FormatInfo{kFractalZnLstm, "FRACTAL_ZN_LSTM", Support::kKept, kNeedsSizes},
    FormatInfo{kFractalZG, "FRACTAL_Z_G", Support::kDevice, "as FRACTAL_Z with groups"},
    FormatInfo{kReserved, "RESERVED", Support::kHost, "treated as ND"},
    FormatInfo{kAll, "ALL", Support::kKept, kNoInverse},
    FormatInfo{kNull, "NULL", Support::kKept, kNoInverse},
    FormatInfo{kNdRnnBias, "ND_RNN_BIAS", Support::kKept, kNeedsSizes},
    FormatInfo{kFractalZnRnn, "FRACTAL_ZN_RNN", Support::kKept, kNeedsSizes},
    FormatInfo{kNYUV, "NYUV", Support::kKept, kNoInverse},
    FormatInfo{kNYUVA, "NYUV_A", Support::kKept, kNoInverse},
    FormatInfo{kNCL, "NCL", Support::kHost, "rank 3, as it is"},
    FormatInfo{kFractalZWino, "FRACTAL_Z_WINO", Support::kKept, kNoInverse},
    FormatInfo{kC1HWC0, "C1HWC0", Support::kKept, kNoInverse},
    FormatInfo{kFractalNzC016, "FRACTAL_NZ_C0_16", Support::kDevice, "as FRACTAL_NZ"},
    FormatInfo{kFractalNzC032, "FRACTAL_NZ_C0_32", Support::kDevice, "as FRACTAL_NZ"},
    FormatInfo{kFractalNzC02, "FRACTAL_NZ_C0_2", Support::kDevice, "as FRACTAL_NZ"},
    FormatInfo{kFractalNzC04, "FRACTAL_NZ_C0_4", Support::kDevice, "as FRACTAL_NZ"},
    FormatInfo{kFractalNzC08, "FRACTAL_NZ_C0_8", Support::kDevice, "as FRACTAL_NZ"},
    FormatInfo{kMax, "MAX", Support::kKept, kNoInverse},
};

struct Alias {
  std::string_view name;
  Format format;
};

constexpr std::array kAliases = {
    // msaccucmp
    Alias{"DECONV_SP_STRIDE8_TRANS", kFractalDeconvSpStride8Trans},
    Alias{"LOOKUP_LOOKUPS", kHashtableLookupLookups},
    Alias{"LOOKUP_KEYS", kHashtableLookupKeys},
    Alias{"LOOKUP_VALUE", kHashtableLookupValue},
    Alias{"LOOKUP_OUTPUT", kHashtableLookupOutput},
    Alias{"LOOKUP_HITS", kHashtableLookupHits},
    Alias{"YUV", kNYUV},
    Alias{"YUV_A", kNYUVA},
    // MindSpore
    Alias{"DefaultFormat", kND},
    Alias{"FracZ", kFractalZ},
    Alias{"FRAC_Z", kFractalZ},
    Alias{"FRAC_NZ", kFractalNZ},
    Alias{"FRACTAL_Z_c04", kFractalZC04},
    Alias{"NC1HWC0_c04", kNC1HWC0C04},
};

}  // namespace

std::span<const FormatInfo> all_formats() { return kInfo; }

const FormatInfo& info(Format format) {
  const auto* found =
      std::find_if(kInfo.begin(), kInfo.end(), [&](const FormatInfo& entry) { return entry.format == format; });
  assert(found != kInfo.end());
  return *found;
}

std::optional<Format> format_from_number(int64_t number) {
  for (const auto& entry : kInfo) {
    if (static_cast<int64_t>(entry.format) == number) return entry.format;
  }
  return std::nullopt;
}

std::optional<Format> format_from_name(std::string_view name) {
  for (const auto& entry : kInfo) {
    if (equals_ignoring_case(entry.name, name)) return entry.format;
  }
  for (const auto& alias : kAliases) {
    if (equals_ignoring_case(alias.name, name)) return alias.format;
  }
  return std::nullopt;
}

std::optional<PackedFormat> unpack_format(int64_t number, int64_t sub_format) {
  if ((number >> 28) != 0) return std::nullopt;  // also rejects negative numbers
  const int64_t packed_sub = (number >> 8) & 0xffff;
  const auto format = format_from_number(number & 0xff);
  if (!format) return std::nullopt;
  return PackedFormat{*format, sub_format != 0 ? sub_format : packed_sub};
}

std::string_view host_axes(Format format) {
  switch (format) {
    case kNCHW:
    case kNHWC:
    case kHWCN:
    case kCHWN:
    case kNCDHW:
    case kNDHWC:
    case kDHWCN:
    case kDHWNC: return name_of(format);
    default: return {};
  }
}

}  // namespace msdump

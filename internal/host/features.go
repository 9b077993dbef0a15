package host

import (
	"slices"
	"strings"
)

// x86Features gives the words of /proc/cpuinfo for the compiler's names (gcc,
// "x86 Options") where they are not the same.
var x86Features = map[string]string{
	"3dnowa":             "3dnowext",
	"abm":                "abm popcnt",
	"amx-bf16":           "amx_bf16",
	"amx-int8":           "amx_int8",
	"amx-tile":           "amx_tile",
	"avx512bf16":         "avx512_bf16",
	"avx512bitalg":       "avx512_bitalg",
	"avx512fp16":         "avx512_fp16",
	"avx512vbmi2":        "avx512_vbmi2",
	"avx512vnni":         "avx512_vnni",
	"avx512vp2intersect": "avx512_vp2intersect",
	"avx512vpopcntdq":    "avx512_vpopcntdq",
	"avxifma":            "avx_ifma",
	"avxneconvert":       "avx_ne_convert",
	"avxvnni":            "avx_vnni",
	"avxvnniint8":        "avx_vnni_int8",
	"bmi":                "bmi1",
	"lzcnt":              "abm",
	"pclmul":             "pclmulqdq",
	"prfchw":             "3dnowprefetch",
	"rdrnd":              "rdrand",
	"sahf":               "lahf_lm",
	"sha":                "sha_ni",
	"sse3":               "pni",
	"sse4":               "sse4_1 sse4_2",
	"sse4.1":             "sse4_1",
	"sse4.2":             "sse4_2",

	// The levels of the x86-64 psABI, section 3.1.1, "Micro-architecture levels".
	"x86-64":    "lm",
	"x86-64-v2": x86v2,
	"x86-64-v3": x86v3,
	"x86-64-v4": x86v3 + " avx512f avx512bw avx512cd avx512dq avx512vl",
}

const (
	x86v2 = "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3"
	x86v3 = x86v2 + " avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"
)

// armFeatures does the same for AArch64, after gcc's table for -march=native,
// aarch64-option-extensions.def.
var armFeatures = map[string]string{
	"crc":          "crc32",
	"crypto":       "aes pmull sha1 sha2",
	"dotprod":      "asimddp",
	"f32mm":        "svef32mm",
	"f64mm":        "svef64mm",
	"fp16":         "fphp asimdhp",
	"fp16fml":      "asimdfhm",
	"frintts":      "frint",
	"lse":          "atomics",
	"memtag":       "mte",
	"neon":         "asimd",
	"pauth":        "paca pacg",
	"rcpc":         "lrcpc",
	"rcpc2":        "ilrcpc",
	"rcpc3":        "lrcpc3",
	"rdma":         "asimdrdm",
	"sha2":         "sha1 sha2",
	"sha3":         "sha3 sha512",
	"simd":         "asimd",
	"sm4":          "sm3 sm4",
	"sve2-aes":     "sveaes",
	"sve2-bitperm": "svebitperm",
	"sve2-sha3":    "svesha3",
	"sve2-sm4":     "svesm4",
}

// Has says which of features, by the compiler's names (avx2, sha, neon, sve), the
// bench CPU lacks; none: it has them all. A name that neither table knows is
// looked up as it stands. Where the machine does not show its features all of
// them are missing: a core that may die of an illegal instruction is not run.
func (f Facts) Has(features []string) (missing []string) {
	table := x86Features
	if f.Arch == "aarch64" {
		table = armFeatures
	}
	for _, name := range features {
		words := name
		if w, ok := table[name]; ok {
			words = w
		}
		for _, w := range strings.Fields(words) {
			if !slices.Contains(f.Features, w) {
				missing = append(missing, name)
				break
			}
		}
	}
	return missing
}

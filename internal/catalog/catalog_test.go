package catalog

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const goodMeta = `schema: 1
id: hash-99
name: TOY
title: "TOY: a hash for tests"
api: crypthash
gate: ngcc-manifest
instances:
  - name: TOY-1024
    digest_bits: 1024
    flags: [-DTOY_DIGEST_BITS=1024]
  - name: TOY-512
    digest_bits: 512
    flags: [-DTOY_DIGEST_BITS=512]
variants:
  - name: reference
    sources: [toy.c, toy.h]
  - name: resource
    sources: [toy.c]
  - name: avx2
    arch: x86-64
    features: [avx2, aes]
    sources: [toy_avx2.c]
    flags: [-mavx2, -maes]
    instances: [TOY-512]
`

func TestParse(t *testing.T) {
	got, err := Parse("hashes/hash-99/META.yml", []byte(goodMeta))
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, l := range got.Labels() {
		labels = append(labels, l.Key()+" "+l.Variant.Kind())
	}
	want := []string{
		"hash-99/TOY-512 reference", "hash-99/TOY-512-resource resource", "hash-99/TOY-512-avx2 performance",
		"hash-99/TOY-1024 reference", "hash-99/TOY-1024-resource resource",
	}
	if d := cmp.Diff(want, labels); d != "" {
		t.Errorf("labels (-want +got):\n%s", d)
	}
	if got.Manifest != "kat/manifests/hash-99.sha256" {
		t.Errorf("manifest %q", got.Manifest)
	}
}

// Each fault of a META.yml is named with its file, line and column.
func TestParseFaults(t *testing.T) {
	cases := []struct{ name, old, new, want string }{
		{"unknown key", "gate: ngcc-manifest", "gate: ngcc-manifest\ncolour: red", `META.yml:7:1: unknown field "colour"`},
		{"unknown key inside", "    digest_bits: 512", "    digest_bits: 512\n    bits: 1", `META.yml:13:5: unknown field "bits"`},
		{"key twice", "name: TOY\n", "name: TOY\nname: TOY2\n", `META.yml:4:1: mapping key "name" already defined`},
		{"wrong type", "digest_bits: 1024", "digest_bits: lots", `META.yml:9:18: `},
		{"no yaml", "name: TOY\n", "name: [TOY\n", `META.yml:`},
		{"newer schema", "schema: 1", "schema: 2", `META.yml:1:9: schema: 2; this program reads schema 1`},
		{"folder", "id: hash-99", "id: hash-98", `META.yml:2:5: id: hash-98 lies in a folder named hash-99`},
		{"api", "api: crypthash", "api: sha3", `META.yml:5:6: api: "sha3"`},
		{"gate", "gate: ngcc-manifest", "gate: none", `META.yml:6:7: gate: "none"`},
		{"cavp without vectors", "gate: ngcc-manifest", "gate: cavp", `vectors: gate cavp needs`},
		{"bytes with bit messages", "api: crypthash", "api: crypto_hash", `META.yml:6:7: gate: ngcc-manifest has messages of every bit length`},
		{"plugin", "-maes", "-fplugin=x.so", `META.yml:23:21: flags: "-fplugin=x.so" is not allowed`},
		{"linker", "-maes", `"-Wl,-z,execstack"`, `META.yml:23:21: flags: "-Wl,-z,execstack" is not allowed`},
		{"path out", "toy.h]", "../x.h]", `META.yml:16:22: sources: "../x.h"`},
		{"absolute", "toy.h]", "/etc/x.h]", `sources: "/etc/x.h"`},
		{"digest bits", "digest_bits: 512", "digest_bits: 511", `META.yml:12:18: digest_bits: 511`},
		{"instance twice", "name: TOY-512", "name: TOY-1024", `META.yml:11:11: name: instance TOY-1024 stands twice`},
		{"performance without arch", "    arch: x86-64\n", "", `arch: variant avx2 needs its architecture`},
		{"no such instance", "[TOY-512]", "[TOY-513]", `META.yml:24:17: instances: "TOY-513" is none`},
		{"no reference", "- name: reference", "- name: neon", `variants: a reference variant is wanted`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(goodMeta, c.old) {
				t.Fatalf("%q is not in the good file", c.old)
			}
			_, err := Parse("hashes/hash-99/META.yml", []byte(strings.Replace(goodMeta, c.old, c.new, 1)))
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q\nwant it to contain %q", err, c.want)
			}
		})
	}
}

func TestCheckFlag(t *testing.T) {
	for _, f := range []string{"-O3", "-Os", "-DX", "-DX=1", "-mavx2", "-msse4.1", "-march=armv8.2-a+sha3", "-mtune=native",
		"-fno-tree-vectorize", "-funroll-loops", "-falign-functions=64", "-mprefer-vector-width=512"} {
		if err := CheckFlag(f); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
	for _, f := range []string{"", "-", "-fplugin=evil.so", "-include", "-include/etc/passwd", "@file", "-specs=x", "-Bdir", "--sysroot=/",
		"-Wl,-rpath,/", "-Wa,x", "-Wp,-MD,x", "-o", "-I/etc", "-isystem", "-Xlinker", "-mllvm", "-fdump-tree-all", "-save-temps",
		"-fprofile-use=/x", "-DX=$(id)", "-DX=\"a b\"", "-wrapper", "x.c", "-x", "-fuse-ld=evil", "-L.", "-lc", "-mlinker-version=1"} {
		if CheckFlag(f) == nil {
			t.Errorf("%q passes", f)
		}
	}
}

func toyRoot() fstest.MapFS {
	return fstest.MapFS{
		"hashes/hash-99/META.yml":   {Data: []byte(goodMeta)},
		"hashes/hash-99/toy.c":      {},
		"hashes/hash-99/toy.h":      {},
		"hashes/hash-99/toy_avx2.c": {},
		"hashes/yard/META.yml": {Data: []byte("schema: 1\nid: yard\nname: YARD\ntitle: y\napi: crypto_hash\ngate: cavp\nvectors: [yard/Y.rsp]\nyardstick: true\n" +
			"instances: [{name: YARD-256, digest_bits: 256}]\nvariants: [{name: reference, sources: [y.c]}]\n")},
		"hashes/yard/y.c": {},
	}
}

func TestLoadNamesEveryFault(t *testing.T) {
	fsys := toyRoot()
	delete(fsys, "hashes/hash-99/toy.h")
	fsys["hashes/broken/META.yml"] = &fstest.MapFile{Data: []byte("schema: [")}
	fsys["hashes/empty/x.c"] = &fstest.MapFile{}
	fsys["hashes/link/META.yml"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(goodMeta, "hash-99", "link"))}
	_, err := Load(fsys)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"hashes/broken/META.yml:1:", "hashes/empty/META.yml", "source toy.h", "hashes/link/META.yml: variant reference: source toy.c"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not named in:\n%v", want, err)
		}
	}
}

func TestLabels(t *testing.T) {
	root, err := Load(toyRoot())
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		sel  Selection
		want string // keys, or the error's start
	}{
		{Selection{}, "hash-99/TOY-512 hash-99/TOY-1024"},
		{Selection{Candidates: []string{"toy", "yard"}, Variants: []string{"all"}},
			"hash-99/TOY-512 hash-99/TOY-512-resource hash-99/TOY-512-avx2 hash-99/TOY-1024 hash-99/TOY-1024-resource yard/YARD-256"},
		{Selection{Variants: []string{"performance"}}, "hash-99/TOY-512-avx2"},
		{Selection{Instances: []string{"YARD-256"}}, "yard/YARD-256"},
		{Selection{Candidates: []string{"hash-98"}}, `no candidate "hash-98"; there are: hash-99, yard`},
		{Selection{Instances: []string{"TOY-768"}}, `no instance "TOY-768" among the candidates selected; there are: TOY-512, TOY-1024`},
		{Selection{Variants: []string{"neon"}}, `no variant "neon" among the labels selected; there are: avx2, reference, resource`},
	}
	for _, c := range cases {
		labels, err := root.Labels(c.sel)
		var keys []string
		for _, l := range labels {
			keys = append(keys, l.Key())
		}
		got := strings.Join(keys, " ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", c.sel, got, c.want)
		}
	}
}

func TestCheckSizes(t *testing.T) {
	if got, err := CheckSizes([]int{1024, 32, 1024}); err != nil || !cmp.Equal(got, []int{32, 1024}) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := CheckSizes([]int{33}); err == nil {
		t.Error("33 is no level")
	}
}

func TestNaturalCompare(t *testing.T) {
	for _, c := range [][2]string{{"QILIN-512", "QILIN-1024"}, {"hash-9", "hash-10"}, {"a", "b"}, {"a", "a1"}, {"a1", "a01"}} {
		if NaturalCompare(c[0], c[1]) >= 0 || NaturalCompare(c[1], c[0]) <= 0 || NaturalCompare(c[0], c[0]) != 0 {
			t.Errorf("%s is not before %s", c[0], c[1])
		}
	}
}

func FuzzParseMeta(f *testing.F) {
	f.Add([]byte(goodMeta))
	f.Add([]byte("schema: 1\nid: [\n"))
	f.Add([]byte("&a [*a]"))
	if real, err := os.ReadFile("../../hashes/hash-10/META.yml"); err == nil {
		f.Add(real)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("hashes/hash-99/META.yml", data)
		if (c == nil) == (err == nil) {
			t.Fatalf("candidate %v with error %v", c, err)
		}
		if err != nil {
			return
		}
		for _, l := range c.Labels() {
			for _, flag := range append(l.Instance.Flags, l.Variant.Flags...) {
				if CheckFlag(flag) != nil {
					t.Errorf("flag %q passed", flag)
				}
			}
		}
	})
}

// Package catalog reads a data root: the candidates, their instances and
// variants, and where their sources and vectors lie.
//
// A data root is a folder with hashes/, kat/, baseline/ and records/. Each
// candidate is a folder hashes/<id>/ with a META.yml and C sources.
package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// APIs of a core.
const (
	// CryptHash is int CryptHash(int digest_bits, const unsigned char *msg,
	// unsigned long long msg_bits, unsigned char *digest).
	CryptHash = "crypthash"
	// CryptoHash is int crypto_hash(unsigned char *out, const unsigned char *in,
	// unsigned long long inlen), inlen in bytes, as SUPERCOP and PQClean have it.
	CryptoHash = "crypto_hash"
)

// Gates of a candidate.
const (
	// GateManifest replays the official NGCC schedule and looks its digests up
	// in a manifest.
	GateManifest = "ngcc-manifest"
	// GateCAVP checks every vector of NIST CAVP .rsp files.
	GateCAVP = "cavp"
)

// The variants that every architecture has; any other name is a performance
// variant and names its target.
const (
	Reference = "reference"
	Resource  = "resource"
)

// Levels are the message sizes S1 to S8 in bytes.
var Levels = []int{32, 128, 512, 1024, 4096, 8192, 16384, 65536}

// Root is a data root.
type Root struct {
	FS         fs.FS
	Candidates []*Candidate // in natural order of id
}

// Candidate is a hash algorithm family, one META.yml.
type Candidate struct {
	ID        string
	Name      string
	Title     string
	API       string
	Gate      string
	Manifest  string   // path in the data root, with GateManifest
	Vectors   []string // paths in the data root, with GateCAVP
	Yardstick bool     // measured only when asked for by id
	Instances []Instance
	Variants  []Variant
}

// Instance is one parameter set.
type Instance struct {
	Name       string
	DigestBits int
	Flags      []string
}

// Variant is one way in which a candidate is implemented.
type Variant struct {
	Name     string   // reference, resource, or a performance target such as avx2
	Sources  []string // file names in the candidate's folder; .h files are staged, not compiled
	Flags    []string
	Arch     string   // x86-64 or aarch64; empty: any
	Features []string // CPU features by the compiler's names
	Only     []string // instances; empty: all
}

// Kind is the guide's word for the variant: reference, performance or resource.
func (v Variant) Kind() string {
	if v.Name == Reference || v.Name == Resource {
		return v.Name
	}
	return "performance"
}

// Label names a core: one instance of one variant.
type Label struct {
	Candidate *Candidate
	Instance  Instance
	Variant   Variant
}

// String is the label's name: the instance, plus the variant where it is not
// the reference.
func (l Label) String() string {
	if l.Variant.Name == Reference {
		return l.Instance.Name
	}
	return l.Instance.Name + "-" + l.Variant.Name
}

// Key is the label's key in file names and selections: hash-23/QILIN-512.
func (l Label) Key() string { return l.Candidate.ID + "/" + l.String() }

// Operation is the name of timing a message of n bytes: hash_1024.
func Operation(n int) string { return fmt.Sprintf("hash_%d", n) }

// Dir is the candidate's folder in the data root.
func (c *Candidate) Dir() string { return path.Join("hashes", c.ID) }

// Labels lists the candidate's labels, instances first.
func (c *Candidate) Labels() []Label {
	var out []Label
	for _, in := range c.Instances {
		for _, v := range c.Variants {
			if len(v.Only) == 0 || slices.Contains(v.Only, in.Name) {
				out = append(out, Label{c, in, v})
			}
		}
	}
	return out
}

// Load reads every candidate of the data root fsys. All faults of all files
// are reported, each with file:line:column.
func Load(fsys fs.FS) (*Root, error) {
	entries, err := fs.ReadDir(fsys, "hashes")
	if err != nil {
		return nil, fmt.Errorf("no data root here: %w (a data root has a folder hashes/ with a META.yml a candidate)", err)
	}
	root := &Root{FS: fsys}
	var faults []error
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		name := path.Join("hashes", e.Name(), "META.yml")
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w (every folder of hashes/ is a candidate and needs its META.yml)", name, err))
			continue
		}
		c, err := Parse(name, data)
		if err == nil {
			err = checkFiles(fsys, c, name)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		root.Candidates = append(root.Candidates, c)
	}
	if err := errors.Join(append(faults, unique(root.Candidates)...)...); err != nil {
		return nil, err
	}
	if len(root.Candidates) == 0 {
		return nil, errors.New("hashes/ holds no candidate: add a folder with a META.yml")
	}
	slices.SortFunc(root.Candidates, func(a, b *Candidate) int { return NaturalCompare(a.ID, b.ID) })
	return root, nil
}

// unique refuses instance names that two candidates share: labels are written
// without their candidate in reports.
func unique(cs []*Candidate) []error {
	owner := map[string]string{}
	var faults []error
	for _, c := range cs {
		for _, in := range c.Instances {
			if o, ok := owner[in.Name]; ok && o != c.ID {
				faults = append(faults, fmt.Errorf("instance %s stands in both %s and %s: rename one", in.Name, o, c.ID))
			}
			owner[in.Name] = c.ID
		}
	}
	return faults
}

// checkFiles makes sure that what META.yml names is there. Missing manifests
// and vectors are not its business: the gate is closed by default and names
// them.
func checkFiles(fsys fs.FS, c *Candidate, meta string) error {
	var faults []error
	for _, v := range c.Variants {
		for _, s := range v.Sources {
			info, err := fs.Stat(fsys, path.Join(c.Dir(), s))
			switch {
			case err != nil:
				faults = append(faults, fmt.Errorf("%s: variant %s: source %s: %w", meta, v.Name, s, err))
			case !info.Mode().IsRegular():
				faults = append(faults, fmt.Errorf("%s: variant %s: source %s is not a regular file", meta, v.Name, s))
			}
		}
	}
	return errors.Join(faults...)
}

// NaturalCompare orders strings with runs of digits as numbers, so that
// QILIN-512 comes before QILIN-1024.
func NaturalCompare(a, b string) int {
	for a != "" && b != "" {
		da, db := digits(a), digits(b)
		if da > 0 && db > 0 {
			na, nb := strings.TrimLeft(a[:da], "0"), strings.TrimLeft(b[:db], "0")
			if len(na) != len(nb) {
				return len(na) - len(nb)
			}
			if c := strings.Compare(na, nb); c != 0 {
				return c
			}
			if da != db {
				return da - db
			}
			a, b = a[da:], b[db:]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxMeta bounds a META.yml, in bytes.
const maxMeta = 64 << 10

// MetaSchema is the schema number of META.yml.
const MetaSchema = 1

type meta struct {
	Schema    int            `yaml:"schema"`
	ID        string         `yaml:"id"`
	Name      string         `yaml:"name"`
	Title     string         `yaml:"title"`
	API       string         `yaml:"api"`
	Gate      string         `yaml:"gate"`
	Vectors   []string       `yaml:"vectors"`
	Yardstick bool           `yaml:"yardstick"`
	Instances []metaInstance `yaml:"instances"`
	Variants  []metaVariant  `yaml:"variants"`
}

type metaInstance struct {
	Name       string   `yaml:"name"`
	DigestBits int      `yaml:"digest_bits"`
	Flags      []string `yaml:"flags"`
}

type metaVariant struct {
	Name      string   `yaml:"name"`
	Sources   []string `yaml:"sources"`
	Flags     []string `yaml:"flags"`
	Arch      string   `yaml:"arch"`
	Features  []string `yaml:"features"`
	Instances []string `yaml:"instances"`
}

var (
	idPattern      = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)
	namePattern    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9+.-]{0,39}$`)
	featurePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,19}$`)
)

// Parse reads one META.yml, named name in errors. Unknown keys, wrong types and
// values out of range are errors with file:line:column.
func Parse(name string, data []byte) (*Candidate, error) {
	if len(data) > maxMeta {
		return nil, fmt.Errorf("%s: %d bytes; a META.yml has at most %d", name, len(data), maxMeta)
	}
	var m meta
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&m); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: empty; see CONTRIBUTING for its form", name)
		}
		return nil, positioned(name, err)
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, positioned(name, err)
	}
	if len(file.Docs) != 1 {
		return nil, fmt.Errorf("%s: %d YAML documents; one is wanted", name, len(file.Docs))
	}
	ck := &checker{name: name, file: file}
	ck.head(&m)
	ck.instances(&m)
	ck.variants(&m)
	if err := errors.Join(ck.faults...); err != nil {
		return nil, err
	}
	return m.candidate(), nil
}

// positioned rewrites an error of the YAML library as file:line:column: message.
func positioned(name string, err error) error {
	var ye yaml.Error
	if errors.As(err, &ye) && ye.GetToken() != nil && ye.GetToken().Position != nil {
		p := ye.GetToken().Position
		return fmt.Errorf("%s:%d:%d: %s", name, p.Line, p.Column, ye.GetMessage())
	}
	return fmt.Errorf("%s: %w", name, err)
}

// checker gathers faults with the place of the value they are about.
type checker struct {
	name   string
	file   *ast.File
	faults []error
}

// fault records a fault about the value at a YAML path ($.instances[1].name);
// where that value is absent, the place is that of its nearest parent.
func (c *checker) fault(at, format string, args ...any) {
	line, col := 1, 1
	for p := at; p != ""; p = parent(p) {
		yp, err := yaml.PathString(p)
		if err != nil {
			continue
		}
		node, err := yp.FilterFile(c.file)
		if err == nil && node != nil && node.GetToken() != nil {
			line, col = node.GetToken().Position.Line, node.GetToken().Position.Column
			break
		}
	}
	c.faults = append(c.faults, fmt.Errorf("%s:%d:%d: %s", c.name, line, col, fmt.Sprintf(format, args...)))
}

func parent(p string) string {
	i := strings.LastIndexAny(p, ".[")
	if i < 0 {
		return ""
	}
	return p[:i]
}

func (c *checker) head(m *meta) {
	if m.Schema != MetaSchema {
		c.fault("$.schema", "schema: %d; this program reads schema %d", m.Schema, MetaSchema)
	}
	if !idPattern.MatchString(m.ID) {
		c.fault("$.id", "id: %q; an id is lower case letters, digits and -", m.ID)
	} else if dir := path.Base(path.Dir(c.name)); dir != m.ID {
		c.fault("$.id", "id: %s lies in a folder named %s: make them equal", m.ID, dir)
	}
	if !namePattern.MatchString(m.Name) {
		c.fault("$.name", "name: %q; a name is letters, digits, +, . and -", m.Name)
	}
	if m.Title == "" || strings.ContainsAny(m.Title, "\n\r") {
		c.fault("$.title", "title: the algorithm's full title, on one line, is wanted")
	}
	if m.API != CryptHash && m.API != CryptoHash {
		c.fault("$.api", "api: %q; one of %s (lengths in bits), %s (bytes) is wanted", m.API, CryptHash, CryptoHash)
	}
	switch m.Gate {
	case GateManifest:
		if m.API == CryptoHash {
			c.fault("$.gate", "gate: %s has messages of every bit length, and api %s takes bytes: use %s", m.Gate, m.API, GateCAVP)
		}
		if len(m.Vectors) > 0 {
			c.fault("$.vectors", "vectors: gate %s reads kat/manifests/%s.sha256; leave vectors out", m.Gate, m.ID)
		}
	case GateCAVP:
		if len(m.Vectors) == 0 {
			c.fault("$.vectors", "vectors: gate %s needs at least one .rsp file, as a path under kat/", m.Gate)
		}
		for i, v := range m.Vectors {
			if !fs.ValidPath(v) || path.Ext(v) != ".rsp" {
				c.fault(fmt.Sprintf("$.vectors[%d]", i), "vectors: %q; the path of a .rsp file under kat/ is wanted", v)
			}
		}
	default:
		c.fault("$.gate", "gate: %q; one of %s, %s is wanted", m.Gate, GateManifest, GateCAVP)
	}
}

func (c *checker) instances(m *meta) {
	if len(m.Instances) == 0 {
		c.fault("$.instances", "instances: at least one is wanted")
	}
	seen := map[string]bool{}
	for i, in := range m.Instances {
		at := fmt.Sprintf("$.instances[%d]", i)
		if !namePattern.MatchString(in.Name) {
			c.fault(at+".name", "name: %q; an instance's name is letters, digits, +, . and -", in.Name)
		}
		if seen[in.Name] {
			c.fault(at+".name", "name: instance %s stands twice", in.Name)
		}
		seen[in.Name] = true
		if in.DigestBits < 8 || in.DigestBits > 4096 || in.DigestBits%8 != 0 {
			c.fault(at+".digest_bits", "digest_bits: %d; a multiple of 8 from 8 to 4096 is wanted", in.DigestBits)
		}
		c.flags(at+".flags", in.Flags)
	}
}

func (c *checker) variants(m *meta) {
	seen := map[string]bool{}
	for i, v := range m.Variants {
		at := fmt.Sprintf("$.variants[%d]", i)
		if !idPattern.MatchString(v.Name) || strings.Contains(v.Name, "-") {
			c.fault(at+".name", "name: %q; a variant is %s, %s or its target in lower case letters and digits (avx2)", v.Name, Reference, Resource)
		}
		if seen[v.Name] {
			c.fault(at+".name", "name: variant %s stands twice", v.Name)
		}
		seen[v.Name] = true
		c.target(at, v)
		c.sources(at+".sources", v.Sources)
		c.flags(at+".flags", v.Flags)
		for j, name := range v.Instances {
			if !slices.ContainsFunc(m.Instances, func(in metaInstance) bool { return in.Name == name }) {
				c.fault(fmt.Sprintf("%s.instances[%d]", at, j), "instances: %q is none of this candidate's", name)
			}
		}
	}
	if !seen[Reference] {
		c.fault("$.variants", "variants: a %s variant is wanted", Reference)
	}
}

func (c *checker) target(at string, v metaVariant) {
	switch v.Arch {
	case "x86-64", "aarch64":
	case "":
		if len(v.Features) > 0 || (v.Name != Reference && v.Name != Resource) {
			c.fault(at+".arch", "arch: variant %s needs its architecture: x86-64 or aarch64", v.Name)
		}
	default:
		c.fault(at+".arch", "arch: %q; one of x86-64, aarch64 is wanted", v.Arch)
	}
	for j, f := range v.Features {
		if !featurePattern.MatchString(f) {
			c.fault(fmt.Sprintf("%s.features[%d]", at, j), "features: %q; a CPU feature by the compiler's name (avx2, sha3) is wanted", f)
		}
	}
}

func (c *checker) sources(at string, sources []string) {
	compiled := 0
	for j, s := range sources {
		ext := path.Ext(s)
		if !fs.ValidPath(s) || strings.ContainsRune(s, '\\') || !slices.Contains([]string{".c", ".h", ".S"}, ext) {
			c.fault(fmt.Sprintf("%s[%d]", at, j), "sources: %q; a .c, .S or .h file inside the candidate's folder is wanted", s)
		}
		if ext != ".h" {
			compiled++
		}
	}
	if compiled == 0 {
		c.fault(at, "sources: at least one .c or .S file is wanted")
	}
}

func (c *checker) flags(at string, flags []string) {
	for j, f := range flags {
		if err := CheckFlag(f); err != nil {
			c.fault(fmt.Sprintf("%s[%d]", at, j), "flags: %v", err)
		}
	}
}

func (m *meta) candidate() *Candidate {
	c := &Candidate{ID: m.ID, Name: m.Name, Title: m.Title, API: m.API, Gate: m.Gate, Yardstick: m.Yardstick}
	if c.Gate == GateManifest {
		c.Manifest = path.Join("kat", "manifests", c.ID+".sha256")
	}
	for _, v := range m.Vectors {
		c.Vectors = append(c.Vectors, path.Join("kat", v))
	}
	for _, in := range m.Instances {
		c.Instances = append(c.Instances, Instance(in))
	}
	for _, v := range m.Variants {
		c.Variants = append(c.Variants, Variant{
			Name: v.Name, Sources: v.Sources, Flags: v.Flags, Arch: v.Arch, Features: v.Features, Only: v.Instances,
		})
	}
	slices.SortFunc(c.Instances, func(a, b Instance) int { return NaturalCompare(a.Name, b.Name) })
	return c
}

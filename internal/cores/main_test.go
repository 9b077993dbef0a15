package cores

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/kat"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/sandbox"
	"github.com/ngcc/bench-action/internal/toolchain"
)

// dataRoot is the module's own data root.
var dataRoot = os.DirFS("../..")

// work is a folder for what several tests share.
var work string

func TestMain(m *testing.M) {
	sandbox.Main()
	dir, err := os.MkdirTemp("", "ngcc-cores")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	work = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// missing skips for want of what a test needs, or fails where nothing may be missing.
func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("NGCC_REQUIRE_ALL") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// need makes sure that commands are installed.
func need(t testing.TB, commands ...string) {
	t.Helper()
	for _, c := range commands {
		if _, err := exec.LookPath(c); err != nil {
			missing(t, "%s is not installed", c)
		}
	}
}

func heavy(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes many seconds: left out by -short")
	}
}

var loadRoot = sync.OnceValues(func() (*catalog.Root, error) { return catalog.Load(dataRoot) })

func root(t testing.TB) *catalog.Root {
	t.Helper()
	r, err := loadRoot()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// labels are all labels of all candidates, the yardsticks' too.
func labels(t testing.TB) []catalog.Label {
	t.Helper()
	var out []catalog.Label
	for _, c := range root(t).Candidates {
		out = append(out, c.Labels()...)
	}
	return out
}

func hostArch() string {
	return map[string]string{"amd64": "x86-64", "arm64": "aarch64"}[runtime.GOARCH]
}

// built is every label as one compiler made it at the guide's flags.
type built struct {
	compiler *toolchain.Compiler
	dir      records.Dir
	labels   map[string]records.LabelBuild // by catalog.Label.Key
	lacks    error                         // what the compiler lacks to be used: a C library, an emulator
	err      error
}

var (
	buildsMu sync.Mutex
	builds   = map[string]*built{}
)

// build builds every label with cc, once for all tests.
func build(t testing.TB, cc string) *built {
	t.Helper()
	need(t, strings.Fields(cc)[0])
	all := labels(t)
	buildsMu.Lock()
	defer buildsMu.Unlock()
	b := builds[cc]
	if b == nil {
		b = &built{dir: records.Dir{Path: filepath.Join(work, "build-"+strings.ReplaceAll(cc, " ", "_"))}}
		b.err = b.build(cc, root(t), all)
		builds[cc] = b
	}
	if b.lacks != nil {
		missing(t, "%v", b.lacks)
	}
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b
}

func (b *built) build(cc string, r *catalog.Root, all []catalog.Label) (err error) {
	ctx := context.Background()
	if err := os.MkdirAll(b.dir.Path, 0o755); err != nil {
		return err
	}
	if b.compiler, b.lacks = toolchain.Find(ctx, cc, hostArch()); b.lacks != nil {
		return nil
	}
	builder := &toolchain.Builder{Compiler: b.compiler, Root: r, Dir: b.dir, Workers: runtime.NumCPU()}
	out, err := builder.Build(ctx, all)
	if err != nil {
		return err
	}
	b.labels = map[string]records.LabelBuild{}
	for _, lb := range out.Labels {
		b.labels[lb.Candidate+"/"+lb.Label] = lb
	}
	return nil
}

// label is one label as b has it; it skips a variant for another architecture,
// and fails if the label did not compile.
func (b *built) label(t testing.TB, l catalog.Label) records.LabelBuild {
	t.Helper()
	lb := b.labels[l.Key()]
	switch lb.Status {
	case records.BuildOK:
	case records.BuildNotRunnable:
		t.Skip(lb.Error) // a build of the other architecture covers it
	default:
		t.Fatalf("build %s: %s", lb.Status, lb.Error)
	}
	return lb
}

var gatherHost = sync.OnceValues(func() (host.Facts, error) { return host.Gather(os.DirFS("/"), 0) })

// runnable skips a label whose code this CPU cannot run.
func (b *built) runnable(t testing.TB, l catalog.Label) {
	t.Helper()
	if b.compiler.Emulated() {
		return
	}
	facts, err := gatherHost()
	if err != nil {
		t.Fatal(err)
	}
	_, features := b.compiler.Needs(l)
	if lacks := facts.Has(features); len(lacks) > 0 {
		missing(t, "this CPU lacks %s", strings.Join(lacks, ", "))
	}
}

// vectors are the small vectors of one instance.
func vectors(t testing.TB, l catalog.Label) []kat.Vector {
	t.Helper()
	all, err := loadVectors()
	if err != nil {
		t.Fatal(err)
	}
	var out []kat.Vector
	for _, v := range all {
		if v.Candidate == l.Candidate.ID && v.Instance == l.Instance.Name {
			out = append(out, v)
		}
	}
	return out
}

package witness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/sandbox"
)

// Callgrind is valgrind's tool that counts instructions.
type Callgrind struct {
	Path    string // of valgrind
	Version string // "3.19.0"
}

// Unavailable says why valgrind cannot be used, and what to do.
type Unavailable struct{ Reason string }

// Error is the reason.
func (u *Unavailable) Error() string { return u.Reason }

// FindCallgrind looks for valgrind in PATH. Its error is *Unavailable when there
// is none that starts.
func FindCallgrind(ctx context.Context) (*Callgrind, error) {
	path, err := exec.LookPath("valgrind")
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, &Unavailable{"valgrind is not installed: install it (apt-get install valgrind) to have instructions counted"}
	}
	p, err := sandbox.Start(ctx, sandbox.Spec{
		Path: path, Args: []string{"--version"}, CPU: -1, Timeout: time.Minute, MaxOutput: 4096,
	})
	if err != nil {
		return nil, fmt.Errorf("witness: %w", err)
	}
	r, err := p.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	version, found := strings.CutPrefix(strings.TrimSpace(string(r.Output)), "valgrind-")
	if err != nil || r.TimedOut || r.Signal != 0 || r.ExitCode != 0 || !found {
		return nil, &Unavailable{fmt.Sprintf("%s does not start: it ended with exit code %d and said %.200q", path, r.ExitCode, r.Output)}
	}
	return &Callgrind{Path: path, Version: version}, nil
}

// Spec says what to count.
type Spec struct {
	Core  driver.Core
	Bytes int // length of each message, 8 at least
	Calls int // that count; 0: CallsFor(Bytes)
	// Expected holds hex digests of Perf(Bytes, 0), (Bytes, 1), …: the last
	// call's is checked when it is among them.
	Expected []string
	Timeout  time.Duration // 0: DefaultTimeout
}

// DefaultTimeout is how long one count may take. Callgrind runs code 30 to 100
// times slower.
const DefaultTimeout = 2 * time.Minute

// warmupCalls come before those that count: a core may make tables at its first.
const warmupCalls = 1

// CallsFor is the number of calls that are counted of messages of that length:
// enough to show a cost that changes from call to call, few enough for two
// seconds.
func CallsFor(bytes int) int {
	const most, enough, large = 16, 8192, 256 << 10
	if bytes > large {
		return 1
	}
	return min(max(enough/max(bytes, 1), 2), most)
}

// Measure counts with what Callgrind there is.
func Measure(ctx context.Context, d *driver.Driver, s Spec) (Count, error) {
	c, err := FindCallgrind(ctx)
	var none *Unavailable
	if errors.As(err, &none) {
		return missing(s.Bytes, NoValgrind, none.Reason), nil
	}
	if err != nil {
		return Count{}, err
	}
	return c.Count(ctx, d, s)
}

// Command is the command before the driver's own; out is the profile's file.
func (c *Callgrind) Command(out string) []string {
	return []string{
		c.Path, "--tool=callgrind", "--toggle-collect=" + driver.OnceCounted, "--branch-sim=yes",
		"--callgrind-out-file=" + out, "--vgdb=no", "--sigill-diagnostics=yes",
	}
}

// Count counts the instructions of some calls of a core. That valgrind cannot
// run the core is a Count that says so, not an error; that the core fails in
// another way is the driver's *CoreError. The number is the same for every run
// on one machine: the core is loaded under one name in an empty environment. It
// needs no quiet machine, but disturbs one: never beside a timing, unless
// driver.StayOff keeps this process off the bench CPU and its siblings.
func (c *Callgrind) Count(ctx context.Context, d *driver.Driver, s Spec) (Count, error) {
	if len(d.Emulator) > 0 {
		return missing(s.Bytes, Emulated, "the core runs under "+filepath.Base(d.Emulator[0])+", which valgrind cannot look into"), nil
	}
	if s.Calls == 0 {
		s.Calls = CallsFor(s.Bytes)
	}
	if s.Timeout == 0 {
		s.Timeout = DefaultTimeout
	}
	dir, err := os.MkdirTemp("", "ngcc-witness-*")
	if err != nil {
		return Count{}, fmt.Errorf("witness: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := copyFile(filepath.Join(dir, coreName), s.Core.Library); err != nil {
		return Count{}, fmt.Errorf("witness: %w", err)
	}
	once := driver.OnceSpec{
		Core: s.Core, Bytes: s.Bytes, Warmup: warmupCalls, Calls: s.Calls, Dir: dir, Timeout: s.Timeout,
	}
	once.Core.Library = "./" + coreName
	if s.Calls >= 1 && s.Calls <= len(s.Expected) {
		once.Expected = s.Expected[s.Calls-1]
	}
	output, err := d.Once(ctx, once, c.Command(profileName))
	if err != nil {
		return failed(s, output, err)
	}
	return c.read(filepath.Join(dir, profileName), s)
}

// The names of files in a count's own folder. They are the same for every count:
// a name's length could move what the core allocates.
const (
	coreName    = "core.so"
	profileName = "callgrind.out"
)

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}

// What valgrind prints of an instruction that it does not know, on x86-64 (10
// bytes, of which the first 6 are kept: they tell most instructions) and AArch64.
var (
	unhandledBytes = regexp.MustCompile(`unhandled instruction bytes:((?: 0x[0-9A-Fa-f]+){1,6})`)
	unhandledWord  = regexp.MustCompile(`unhandled instruction (0x[0-9A-Fa-f]+)`)
	unrecognised   = regexp.MustCompile(`Unrecognised instruction at address`)
	cannotStart    = regexp.MustCompile(`(?m)^valgrind: (.*)$`)
)

// failed makes of a process that ended badly a Count that says why, or the error.
func failed(s Spec, output []byte, err error) (Count, error) {
	var core *driver.CoreError
	if !errors.As(err, &core) {
		return Count{}, err
	}
	const cannot = "valgrind cannot run this core: "
	ill := core.Kind == driver.KindCrashed && strings.Contains(core.Detail, "SIGILL")
	if core.Kind == driver.KindTimedOut {
		return missing(s.Bytes, TooLong, fmt.Sprintf("valgrind was ended after %v: count fewer calls or a shorter message", s.Timeout)), nil
	}
	if m := unhandledBytes.FindSubmatch(output); ill && m != nil {
		return missing(s.Bytes, Unsupported, cannot+"unrecognised instruction"+string(m[1])+" …"+instructionSet(string(m[1]))), nil
	}
	if m := unhandledWord.FindSubmatch(output); ill && m != nil {
		return missing(s.Bytes, Unsupported, cannot+"unrecognised instruction "+string(m[1])), nil
	}
	if ill && unrecognised.Match(output) {
		return missing(s.Bytes, Unsupported, cannot+"unrecognised instruction"), nil
	}
	if m := cannotStart.FindSubmatch(output); core.Kind == driver.KindExited && m != nil {
		return missing(s.Bytes, NoValgrind, "valgrind does not start: "+strings.ToValidUTF8(string(m[1]), "?")), nil
	}
	return Count{}, err
}

// instructionSet names what instruction bytes show plainly: the EVEX prefix is
// 0x62, and SHA's opcodes are 0F 38 C8 to CD and 0F 3A CC (Intel SDM, volume 2).
func instructionSet(text string) string {
	var b []byte
	for f := range strings.FieldsSeq(text) {
		v, err := strconv.ParseUint(f, 0, 8)
		if err != nil {
			return ""
		}
		b = append(b, byte(v))
	}
	if len(b) > 0 && b[0] == 0x62 {
		return " (AVX-512)"
	}
	if len(b) > 0 && b[0]&0xf0 == 0x40 { // REX
		b = b[1:]
	}
	if len(b) > 2 && b[0] == 0x0f && (b[1] == 0x38 && b[2] >= 0xc8 && b[2] <= 0xcd || b[1] == 0x3a && b[2] == 0xcc) {
		return " (SHA)"
	}
	return ""
}

// read makes a Count of the profile in a file.
func (c *Callgrind) read(path string, s Spec) (Count, error) {
	f, err := os.Open(path)
	if err != nil {
		return Count{}, fmt.Errorf("witness: callgrind wrote no profile: %w", err)
	}
	defer f.Close()
	return countOf(f, "callgrind "+c.Version, s.Bytes, s.Calls)
}

// countOf makes a Count of a profile. What the core's calls cost is what the
// driver's counting function called; the loop around them is left out.
func countOf(r io.Reader, source string, msgBytes, calls int) (Count, error) {
	p, err := parseProfile(r)
	if err != nil {
		return Count{}, fmt.Errorf("witness: %w", err)
	}
	root := p.funcs[driver.OnceCounted]
	if root == nil || len(root.calls) == 0 {
		return Count{}, fmt.Errorf("witness: the profile has no call from %s: was the driver stripped?", driver.OnceCounted)
	}
	out := Count{Status: Counted, Source: source, MessageBytes: msgBytes, Calls: calls, HasBranches: slices.Contains(p.events, "Bc")}
	for _, costs := range root.calls {
		out.Instructions += p.cost(costs, "Ir")
		out.Branches += p.cost(costs, "Bc") + p.cost(costs, "Bi")
		out.Mispredicted += p.cost(costs, "Bcm") + p.cost(costs, "Bim")
	}
	if out.Instructions == 0 || out.Instructions > math.MaxInt64 || out.Instructions+p.cost(root.self, "Ir") != p.cost(p.totals, "Ir") {
		return Count{}, fmt.Errorf("witness: the profile does not add up: %d instructions in calls and %d around them, %d in all",
			out.Instructions, p.cost(root.self, "Ir"), p.cost(p.totals, "Ir"))
	}
	out.Functions = p.functions(out.Instructions)
	return out, nil
}

// functions are the costs of all functions but the driver's, no cost greater
// than the whole.
func (p *profile) functions(whole uint64) []FunctionCost {
	var out []FunctionCost
	for name, f := range p.funcs {
		fc := FunctionCost{Name: name, File: f.file, Object: f.object, Self: p.cost(f.self, "Ir")}
		if name == driver.OnceCounted || fc.Self == 0 {
			continue
		}
		fc.Inclusive = fc.Self
		for callee, costs := range f.calls {
			if callee != name { // its own levels are in Self already
				fc.Inclusive += min(p.cost(costs, "Ir"), whole)
			}
		}
		fc.Inclusive = min(fc.Inclusive, whole)
		out = append(out, fc)
	}
	slices.SortFunc(out, func(a, b FunctionCost) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// cost is the cost of an event by its name; 0 when it was not counted.
func (p *profile) cost(costs []uint64, event string) uint64 {
	if i := slices.Index(p.events, event); i >= 0 && i < len(costs) {
		return costs[i]
	}
	return 0
}

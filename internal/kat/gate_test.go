package kat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/records"
)

// quickRoot is made once: the slow generator of the tests takes its time.
var quickRoot = sync.OnceValue(func() fstest.MapFS { return toyRoot("KAT_2_12", "KAT_2_23") })

// rootWith is quickRoot with files changed; empty contents remove a file.
func rootWith(files map[string]string) fstest.MapFS {
	root := maps.Clone(quickRoot())
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
		if text == "" {
			delete(root, name)
		}
	}
	return root
}

const toyManifestPath = "kat/manifests/toy-1.sha256"

func manifestText() string { return string(quickRoot()[toyManifestPath].Data) }

func crash(kind driver.ErrorKind, bits uint64) error {
	return &driver.CoreError{Kind: kind, Detail: "signal 11", Bits: bits, HasMessage: true}
}

func TestGatePass(t *testing.T) {
	o := toyOptions(quickRoot(), nil)
	o.LibraryDigest, o.CodeDigest, o.Inputs = "lib", "code", "in"
	var heard []string
	o.Progress = func(text string) { heard = append(heard, text) }
	out, log, err := Gate(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if out.Result != records.GatePass || out.CodeDigest != "code" || out.Inputs != "in" || out.Schema != records.Schema {
		t.Errorf("result %+v", out)
	}
	var files []string
	for _, f := range out.Files {
		files = append(files, f.Name+" "+f.Mode+" "+f.Result)
		if f.Want != f.Got {
			t.Errorf("%s: want %s, got %s", f.Name, f.Want, f.Got)
		}
	}
	if diff := cmp.Diff([]string{
		"KAT_2_12_TOY-512.txt strict PASS", "KAT_2_23_TOY-512.txt strict PASS", "kat/vectors.csv 9 vectors PASS",
	}, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if len(out.Messages) != 2 || out.Messages[1].Bytes != 128 || len(out.Messages[1].Digests) != TimedMessages {
		t.Fatalf("timed messages %+v", out.Messages)
	}
	m := driver.Message{Bits: 1024, Rule: driver.RuleNumbered, Number: 15}
	if got, want := out.Messages[1].Digests[15], fmt.Sprintf("%x", toyHash(1024, toyBytes(m))); got != want {
		t.Errorf("digest of message 15 of 128 bytes: %s, want %s", got, want)
	}
	if len(heard) < 5 || !slices.Contains(heard, "TOY-512 KAT_2_12_TOY-512.txt 4097/4097") {
		t.Errorf("progress %q", heard)
	}
	_, again, err := Gate(t.Context(), o)
	if err != nil || string(again) != string(log) {
		t.Errorf("the log changes from run to run: %v\n%s\n%s", err, log, again)
	}
	sum := strings.Fields(manifestText())[0]
	if line := fmt.Sprintf("FILE KAT_2_12_TOY-512.txt 4097 want %s got %s PASS\n", sum, sum); !strings.Contains(string(log), line) {
		t.Errorf("no line %q in the log:\n%s", line, log)
	}
}

func TestGateFull(t *testing.T) {
	root := rootWith(map[string]string{toyManifestPath: manifestText() + toyManifest("KAT_2_33", "KAT_Loop")})
	o := toyOptions(root, nil)
	o.Mode = ModeFull
	if result, detail, log := mustGate(t, o); result != records.GatePass || strings.Count(log, "FILE ") != 4 {
		t.Errorf("%s: %s\n%s", result, detail, log)
	}
	// Long files are not run once a quick one failed, and that is no pass.
	o = toyOptions(root, spoil(func(m driver.Message) bool { return m.Bits == 3 && m.Data != nil }))
	o.Mode = ModeFull
	out, log, err := Gate(t.Context(), o)
	if err != nil || out.Result != FailMismatch || len(out.Files) != 4 || out.Files[1].Result != records.GatePass ||
		out.Files[3].Result != notRun || strings.Count(string(log), "NOT RUN\n") != 2 {
		t.Errorf("%v, %+v\n%s", err, out, log)
	}
	// Full needs all four entries.
	o = toyOptions(quickRoot(), nil)
	o.Mode = ModeFull
	if result, detail, _ := mustGate(t, o); result != FailEntryMissing || !strings.Contains(detail, "KAT_Loop_TOY-512.txt, KAT_2_33_TOY-512.txt") {
		t.Errorf("%s: %s", result, detail)
	}
}

// Everything that keeps a check from being made is a failure by name; a missing
// vector file never counts as a pass.
func TestGateClosedByDefault(t *testing.T) {
	lines := strings.SplitAfter(manifestText(), "\n")
	limited := strings.ReplaceAll(manifestText(), "strict", "strict:9999")
	for name, c := range map[string]struct {
		files  map[string]string
		change func(o *Options)
		want   string
		detail string
	}{
		"no manifest":       {files: map[string]string{toyManifestPath: ""}, want: FailManifestMissing, detail: toyManifestPath},
		"empty manifest":    {files: map[string]string{toyManifestPath: "\n"}, want: FailManifestUnreadable, detail: toyManifestPath + ":1: "},
		"bad manifest":      {files: map[string]string{toyManifestPath: lines[0] + "x\n"}, want: FailManifestUnreadable, detail: toyManifestPath + ":2: "},
		"one entry":         {files: map[string]string{toyManifestPath: lines[0]}, want: FailEntryMissing, detail: "KAT_2_23_TOY-512.txt"},
		"too many records":  {files: map[string]string{toyManifestPath: limited}, want: FailManifestUnreadable, detail: "asks for 9999 records"},
		"bad vectors":       {files: map[string]string{DefaultVectors: "x\n"}, want: FailVectorsUnreadable, detail: DefaultVectors + ":1: "},
		"vectors' digest":   {files: map[string]string{DefaultVectors: vectorsHead + "toy-1,TOY-512,8,0,perf,00\n"}, want: FailVectorsUnreadable, detail: "digest_bits is 8"},
		"another instance":  {change: func(o *Options) { o.Instance = "TOY-256" }, want: FailEntryMissing, detail: "TOY-256"},
		"unknown gate":      {change: func(o *Options) { o.Kind = "none" }, want: FailKind, detail: "none"},
		"bytes":             {change: func(o *Options) { o.API = catalog.CryptoHash }, files: map[string]string{DefaultVectors: ""}, want: FailKind, detail: "bytes"},
		"manifest a folder": {files: map[string]string{toyManifestPath: "", toyManifestPath + "/x": "x"}, want: FailManifestUnreadable, detail: toyManifestPath},
	} {
		o := toyOptions(rootWith(c.files), nil)
		if c.change != nil {
			c.change(&o)
		}
		if result, detail, _ := mustGate(t, o); result != c.want || !strings.Contains(detail, c.detail) {
			t.Errorf("%s: %s: %s; want %s with %q", name, result, detail, c.want, c.detail)
		}
	}
}

func TestGateManifestForms(t *testing.T) {
	var b strings.Builder
	for _, p := range []string{"KAT_2_12", "KAT_2_23"} {
		text := toyText(p)
		var kept strings.Builder
		for line := range strings.Lines(text) {
			if !strings.Contains(line, "_Len =") {
				kept.WriteString(line)
			}
		}
		fmt.Fprintf(&b, "%s nolen %s/%s_%s.txt\n", lineSum(kept.String()), toyInstance, p, toyInstance)
	}
	first := strings.Join(strings.SplitAfter(toyText("KAT_2_12"), "\n\n")[:5], "")
	limited := fmt.Sprintf("%s strict:5 %s/KAT_2_12_%s.txt\n", lineSum(first), toyInstance, toyInstance) +
		strings.SplitAfter(manifestText(), "\n")[1]
	for name, text := range map[string]string{"CRLF": crlf(manifestText()), "nolen": b.String(), ":N": limited} {
		root := rootWith(map[string]string{toyManifestPath: text, DefaultVectors: crlf(string(quickRoot()[DefaultVectors].Data))})
		if result, detail, _ := mustGate(t, toyOptions(root, nil)); result != records.GatePass {
			t.Errorf("%s: %s: %s", name, result, detail)
		}
	}
}

func TestGateMismatch(t *testing.T) {
	official := "kat/manifests/toy-1/TOY-512/KAT_2_12_TOY-512.txt"
	seven := func(m driver.Message) bool { return m.Bits == 7 }
	for name, c := range map[string]struct {
		files  map[string]string
		where  func(m driver.Message) bool
		want   string
		detail []string
	}{
		"named vector": {
			where: seven, want: FailMismatch,
			detail: []string{"KAT_2_12_TOY-512.txt: want sha256", "first small vector that fails: kat/vectors.csv:4: 7 bits, perf: want ", ", got "},
		},
		"longer only": {
			where: func(m driver.Message) bool { return m.Bits == bits223 }, want: FailMismatch,
			detail: []string{"KAT_2_23_TOY-512.txt", "none of the 9 small vectors (up to 4097 bits) fails, so only longer messages differ"},
		},
		"another length": {
			where: func(m driver.Message) bool { return m.Bits == 9 }, want: FailMismatch,
			detail: []string{"none of the 9 small vectors (up to 4097 bits) fails, so other lengths or contents differ"},
		},
		"no vectors": {
			files: map[string]string{DefaultVectors: ""}, where: seven, want: FailMismatch,
			detail: []string{"no small vectors for TOY-512 in kat/vectors.csv"},
		},
		"official text": {
			files: map[string]string{official: crlf(toyText("KAT_2_12"))}, where: seven, want: FailMismatch,
			detail: []string{official + ":36: record 7, 7 bits: want "},
		},
		"other text": {
			files: map[string]string{official: "Msg_Len = 0\n"}, where: seven, want: FailMismatch,
			detail: []string{official + " is not the text that the manifest's line 1 is of"},
		},
		// What the official files do not test: unused low bits that leak in.
		"dirty bits": {
			where: func(m driver.Message) bool { return m.Rule == driver.RulePerfDirty && m.Bits == 7 }, want: FailVector,
			detail: []string{"kat/vectors.csv:5: 7 bits, perf-dirty: want "},
		},
	} {
		out, log, err := Gate(t.Context(), toyOptions(rootWith(c.files), spoil(c.where)))
		if err != nil {
			t.Fatal(err)
		}
		if out.Result != c.want || out.Messages != nil {
			t.Errorf("%s: %s, timed messages %v; want %s and none", name, out.Result, out.Messages, c.want)
		}
		for _, d := range c.detail {
			if !strings.Contains(out.Detail, d) {
				t.Errorf("%s: no %q in %q\n%s", name, d, out.Detail, log)
			}
		}
	}
}

func TestGateCoreFaults(t *testing.T) {
	// The core crashes in its first process only: the gate goes on with another,
	// finds nothing wrong with the vectors, and the result is still the crash.
	sessions := 0
	o := toyOptions(quickRoot(), func(session, call int, m driver.Message, digest []byte) ([]byte, error) {
		sessions = session
		if session == 1 && m.Bits == 100 {
			return nil, crash(driver.KindCrashed, m.Bits)
		}
		return digest, nil
	})
	out, log, err := Gate(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if out.Result != string(driver.KindCrashed) || sessions != 2 || out.Files[1].Result != notRun ||
		!strings.Contains(out.Detail, "KAT_2_12_TOY-512.txt, message of 100 bits: signal 11; none of the 9") {
		t.Errorf("%d sessions, %+v\n%s", sessions, out, log)
	}
	// It always returns non-zero for 7 bits: the vector is named.
	o = toyOptions(quickRoot(), func(_, _ int, m driver.Message, digest []byte) ([]byte, error) {
		if m.Bits == 7 {
			return nil, fmt.Errorf("driver: %w", crash(driver.KindReturned, 7))
		}
		return digest, nil
	})
	if result, detail, _ := mustGate(t, o); result != string(driver.KindReturned) ||
		!strings.Contains(detail, "first small vector that fails: kat/vectors.csv:4: 7 bits, perf") {
		t.Errorf("%s: %s", result, detail)
	}
	// It fails on a timed message only.
	o = toyOptions(quickRoot(), func(_, _ int, m driver.Message, digest []byte) ([]byte, error) {
		if m.Rule == driver.RuleNumbered && m.Number == 3 {
			return nil, crash(driver.KindTimedOut, m.Bits)
		}
		return digest, nil
	})
	if result, detail, _ := mustGate(t, o); result != string(driver.KindTimedOut) || !strings.Contains(detail, "timed messages") {
		t.Errorf("%s: %s", result, detail)
	}
	// It cannot be loaded, or leaves a process behind when all is done.
	o = toyOptions(quickRoot(), nil)
	o.Open = func(context.Context) (Hasher, error) {
		return nil, &driver.CoreError{Kind: driver.KindLoad, Detail: "no CryptHash\nRESULT toy-1 TOY-512 PASS"}
	}
	if result, detail, _ := mustGate(t, o); result != string(driver.KindLoad) ||
		strings.Contains(detail, "\n") || strings.Contains(detail, "vector") {
		t.Errorf("%s: %s", result, detail)
	}
	o.Open = func(context.Context) (Hasher, error) {
		return &toy{closed: &driver.CoreError{Kind: driver.KindSurvivors}}, nil
	}
	if result, detail, _ := mustGate(t, o); result != string(driver.KindSurvivors) {
		t.Errorf("%s: %s", result, detail)
	}
}

// Faults that say nothing of the core are errors, not results.
func TestGateOwnFaults(t *testing.T) {
	boom := errors.New("no more processes")
	o := toyOptions(quickRoot(), nil)
	o.Open = func(context.Context) (Hasher, error) { return nil, boom }
	if out, _, err := Gate(t.Context(), o); out != nil || !errors.Is(err, boom) {
		t.Errorf("%+v, %v", out, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o = toyOptions(quickRoot(), func(_, _ int, m driver.Message, digest []byte) ([]byte, error) {
		if m.Bits == 5 {
			cancel()
			return nil, crash(driver.KindExited, 5) // what killing the driver looks like
		}
		return digest, nil
	})
	if out, _, err := Gate(ctx, o); out != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", out, err)
	}
	for _, change := range []func(o *Options){
		func(o *Options) { o.Mode = "some" }, func(o *Options) { o.Files = nil },
		func(o *Options) { o.Open = nil }, func(o *Options) { o.DigestBits = 0 },
	} {
		o := toyOptions(quickRoot(), nil)
		change(&o)
		if _, _, err := Gate(t.Context(), o); err == nil {
			t.Errorf("options %+v are taken", o)
		}
	}
}

func TestGateConcurrently(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if out, _, err := Gate(t.Context(), toyOptions(quickRoot(), nil)); err != nil || out.Result != records.GatePass {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
	wg.Wait()
}

func TestInputs(t *testing.T) {
	base := toyOptions(quickRoot(), nil)
	seen := map[string]string{}
	for name, change := range map[string]func(o *Options) string{
		"as it is": func(*Options) string { return "d" },
		"driver":   func(*Options) string { return "e" },
		"library":  func(o *Options) string { o.LibraryDigest = "l"; return "d" },
		"mode":     func(o *Options) string { o.Mode = ModeFull; return "d" },
		"sizes":    func(o *Options) string { o.Bytes = o.Bytes[:1]; return "d" },
		"manifest": func(o *Options) string { o.Files = rootWith(map[string]string{toyManifestPath: "x"}); return "d" },
		"absent":   func(o *Options) string { o.Files = rootWith(map[string]string{toyManifestPath: ""}); return "d" },
		"vectors":  func(o *Options) string { o.Files = rootWith(map[string]string{DefaultVectors: "x"}); return "d" },
	} {
		o := base
		driverDigest := change(&o)
		sum, err := Inputs(o, driverDigest)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[sum]; ok {
			t.Errorf("%s and %s have the same inputs", name, other)
		}
		seen[sum] = name
	}
}

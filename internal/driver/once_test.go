package driver

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func (p *platform) onceSpec(t testing.TB, core string) OnceSpec {
	return OnceSpec{
		Core: p.core(t, core), Bytes: 1024, Warmup: 2, Calls: 3,
		Expected: expected(1024, 3)[2], Timeout: patience,
	}
}

func TestOnce(t *testing.T) {
	onEach(t, func(t *testing.T, p *platform) {
		d := p.use(t)
		for _, core := range []string{"good", "good_bytes", "talkative"} {
			if out, err := d.Once(t.Context(), p.onceSpec(t, core), nil); err != nil {
				t.Errorf("%s: %v\n%s", core, err, out)
			}
		}
	})
}

// A wrapper stands before the driver, sees its arguments and may print.
func TestOnceWrapped(t *testing.T) {
	d := native.use(t)
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Once(t.Context(), native.onceSpec(t, "good"), []string{shell, "-c", `echo "$5 $6"; exec "$@"`, "sh"})
	if err != nil || string(out) != "--api crypthash\n" {
		t.Errorf("%v, output %q", err, out)
	}
	out, err = d.Once(t.Context(), native.onceSpec(t, "good"), []string{shell, "-c", "echo no; exit 3"})
	if e := coreError(t, err); e.Kind != KindExited || string(out) != "no\n" {
		t.Errorf("a wrapper that ends: %v, output %q", err, out)
	}
	if _, err := d.Once(t.Context(), native.onceSpec(t, "good"), []string{"/no/such/tool"}); err == nil {
		t.Error("a missing wrapper was no error")
	}
}

func TestOnceMisbehaving(t *testing.T) {
	onEach(t, func(t *testing.T, p *platform) {
		d := p.use(t)
		for core, kind := range map[string]ErrorKind{
			"wrong": KindWrongDigest, "nonzero": KindReturned, "crash": KindCrashed, "exit": KindExited,
			"loop": KindTimedOut, "unwritten": KindWrongDigest, "fork": KindSurvivors, "nameless": KindLoad,
		} {
			spec := p.onceSpec(t, core)
			if kind == KindTimedOut {
				spec.Timeout = time.Second
			}
			_, err := d.Once(t.Context(), spec, nil)
			if e := coreError(t, err); e.Kind != kind {
				t.Errorf("%s: got %v; want %s", core, err, kind)
			}
		}
	})
}

func TestOnceRefuses(t *testing.T) {
	d := native.use(t)
	for name, change := range map[string]func(*OnceSpec){
		"api":    func(s *OnceSpec) { s.Core.API = "x" },
		"bytes":  func(s *OnceSpec) { s.Bytes = 7 },
		"calls":  func(s *OnceSpec) { s.Calls = 0 },
		"warmup": func(s *OnceSpec) { s.Warmup = -1 },
		"digest": func(s *OnceSpec) { s.Expected = "ab" },
		"dir":    func(s *OnceSpec) { s.Dir = "/no/such/folder" },
	} {
		spec := native.onceSpec(t, "good")
		change(&spec)
		_, err := d.Once(t.Context(), spec, nil)
		var core *CoreError
		if err == nil || errors.As(err, &core) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseOnce(f *testing.F) {
	f.Add("ngcc-once 1\ndigest abcd\nend\n")
	f.Add("error 18 SIGILL\n")
	f.Fuzz(func(t *testing.T, text string) {
		digest, err := parseOnce(strings.NewReader(text), 2)
		if err == nil && len(digest) != 2 {
			t.Errorf("%q: %x", text, digest)
		}
	})
}

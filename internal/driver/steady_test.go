package driver

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/stats"
)

func TestSteady(t *testing.T) {
	onEach(t, func(t *testing.T, p *platform) {
		cpus, err := AllowedCPUs()
		if err != nil {
			t.Fatal(err)
		}
		cpu := cpus[len(cpus)-1]
		s, err := p.use(t).Steady(t.Context(), cpu, "auto")
		if err != nil {
			t.Fatal(err)
		}
		var least int64 = 1 << 60
		for _, w := range s.Windows {
			least = min(least, w.Nanoseconds)
		}
		if s.CPU != cpu || len(s.Windows) != 21 || least < 49_900_000 {
			t.Errorf("CPU %d, %d windows, the shortest of %d ns", s.CPU, len(s.Windows), least)
		}
		// By definition a tenth of the probes is not above the level.
		if q := s.QuietShare(); q < 0.1 || q > 1 || s.BusyFactor() < 1 || s.OwnNs == 0 {
			t.Errorf("quiet share %v, busy factor %v, own time %d ns", q, s.BusyFactor(), s.OwnNs)
		}
		// The generic timer and the TSC are driven at a constant rate.
		if s.Counter != host.CoreCycles && s.RateDrift() > 0.01 {
			t.Errorf("the rate of %s drifts by %v", s.Counter, s.RateDrift())
		}
		t.Logf("quiet %.3f, busy probes %.2f times the level, level drift %.4f, rate %.4f/ns, drift %.2g, %d gaps, longest %d ns, lost %.4f, %d switches",
			s.QuietShare(), s.BusyFactor(), s.LevelDrift(), s.TicksPerNs(), s.RateDrift(), s.Gaps(), s.LongestNs(), s.LostShare(), s.Switches)
	})
}

func TestSteadyNamedCounter(t *testing.T) {
	d := native.use(t)
	if s, err := d.Steady(t.Context(), -1, "clock"); err != nil || s.Counter != host.Clock || s.TicksPerNs() < 0.99 || s.TicksPerNs() > 1.01 {
		t.Errorf("clock: %+v, %v", s, err)
	}
	_, err := d.Steady(t.Context(), -1, "sundial")
	if e := coreError(t, err); e.Kind != KindCounter {
		t.Errorf("sundial: %v", err)
	}
}

// The C code's level and tolerance are those by which blocks are judged.
func TestSteadyConstants(t *testing.T) {
	data, err := os.ReadFile("csrc/steady.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("#define LEVEL_PERCENT %.0f\n", 100*stats.QuietQuantile),
		fmt.Sprintf("#define QUIET_PERCENT %.0f\n", 100*stats.QuietTolerance),
		fmt.Sprintf("#define WINDOWS %d\n", steadyWindows),
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("steady.c has no %q", want)
		}
	}
}

// steadyText is an answer of mode steady, all windows alike.
func steadyText(window string) string {
	return "ngcc-steady 1\ncounter tsc\nnote core-cycles: no\ncpu 1\nprobe-rounds 750\nlevel-ticks 4784\nbusy-ticks 5720\n" +
		"switches 3\ncpu-ns 1000\nwindows 21\n" + strings.Repeat(window+"\n", 21) + "end\n"
}

const steadyWindow = "53533279 138979984 9356 9243 4784 9207383 35455656 14"

func TestParseSteady(t *testing.T) {
	good := steadyText(steadyWindow)
	s, err := parseSteady(strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	if w := s.Windows[20]; w != (host.SteadyWindow{Nanoseconds: 53533279, Ticks: 138979984, Probes: 9356, Quiet: 9243, LevelTicks: 4784, LongestNs: 9207383, LostNs: 35455656, Gaps: 14}) {
		t.Errorf("%+v", w)
	}
	for name, bad := range map[string]string{
		"empty":           "",
		"cut":             good[:len(good)-1],
		"no end":          strings.TrimSuffix(good, "end\n"),
		"more":            good + "\n",
		"a window less":   strings.Replace(good, steadyWindow+"\n", "", 1),
		"a window more":   strings.Replace(good, steadyWindow+"\n", steadyWindow+"\n"+steadyWindow+"\n", 1),
		"windows":         strings.Replace(good, "windows 21", "windows 1000000000", 1),
		"no time":         steadyText("0 1 1 1 1 1 0 0"),
		"no probes":       steadyText("1 1 0 0 1 1 0 0"),
		"too many quiet":  steadyText("1 1 1 2 1 1 0 0"),
		"lost without":    steadyText("1 1 1 1 1 1 1 0"),
		"seven":           steadyText("1 1 1 1 1 1 0"),
		"leading zero":    steadyText("01 1 1 1 1 1 0 0"),
		"huge":            steadyText("9223372036854775807 1 1 1 1 1 0 0"),
		"negative":        steadyText("1 1 1 1 1 -1 0 0"),
		"level 0":         strings.Replace(good, "level-ticks 4784", "level-ticks 0", 1),
		"unknown counter": strings.Replace(good, "counter tsc", "counter sundial", 1),
		"error":           "error 25 tsc: no\n",
	} {
		if s, err := parseSteady(strings.NewReader(bad)); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func FuzzParseSteady(f *testing.F) {
	f.Add(steadyText(steadyWindow))
	f.Add(steadyText("1 1 1 1 1 1 0 0"))
	f.Add("error 18 SIGILL\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSteady(strings.NewReader(text))
		if err != nil {
			return
		}
		if q := s.QuietShare(); len(s.Windows) != 21 || !(q >= 0 && q <= 1) || !(s.LostShare() >= 0 && s.LostShare() <= 1) ||
			!(s.TicksPerNs() > 0 || s.Counter == host.CoreCycles) || !(s.LevelDrift() >= 0) || !(s.RateDrift() >= 0) {
			t.Errorf("%q: %+v", text, s)
		}
	})
}

package cores

import (
	"context"
	"crypto/sha3"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/kat"
	"github.com/ngcc/bench-action/internal/stats"
)

// goals are the ratios to OpenSSL's SHA3-512 at 65536 bytes that prototypes of
// portable code at the reference flags reached on another machine (a Xeon with
// gcc 12.2); within 15 % of them is wanted.
var goals = map[string]float64{"FEILIAN512": 0.55, "Pavelor-512": 2.8, "QILIN-512": 0.64, "TaiChi-512": 1.15}

const (
	goalBytes      = 65536
	yardstickRuns  = 5           // of core and yardstick each, taking turns
	yardstickRunNs = 100_000_000 // least time of each in batches

	lowQuantile = 0.1              // of a process's batches: what quiet moments allow
	hostWait    = 10 * time.Minute // for others who time on this host
)

// BenchmarkYardstick relates the reference cores to OpenSSL's SHA3-512 on the
// same CPU at the same time: the ratio of ticks a call, median of five rounds.
// It fails on wrong digests, never on speed.
func BenchmarkYardstick(b *testing.B) {
	y := newYardstick(b)
	var table []string
	for _, l := range labels(b) {
		if l.Candidate.Yardstick || l.Variant.Name != catalog.Reference {
			continue
		}
		for _, bytes := range []int{goalBytes, 32} {
			var row string
			b.Run(fmt.Sprintf("%s/%d", l, bytes), func(b *testing.B) {
				// One measurement, however long the benchmark wants to run.
				if row == "" {
					row = y.compare(b, l, bytes)
				}
				y.report(b, row)
			})
			if row != "" {
				table = append(table, row)
			}
		}
	}
	if len(table) > 0 {
		fmt.Printf("\n"+rowFormat+"\n%s\n\n", "instance", "bytes", "x SHA3-512", "least to greatest", "ticks/byte", "goal", strings.Join(table, "\n"))
	}
}

const rowFormat = "%-13s %6s %11s  %-18s %10s  %s"

type yardstick struct {
	built   *built
	driver  *driver.Driver
	openssl driver.Core
	cpu     int
	ratios  map[string]float64 // by row
}

func newYardstick(b *testing.B) *yardstick {
	b.Helper()
	y := &yardstick{built: build(b, "cc"), ratios: map[string]float64{}}
	library := filepath.Join(work, "evp_sha3.so")
	cmd := exec.Command("cc", "-std=c99", "-Wall", "-Wextra", "-O2", "-fPIC", "-shared", "-o", library, "testdata/evp_sha3.c", "-lcrypto")
	if out, err := cmd.CombinedOutput(); err != nil {
		missing(b, "OpenSSL's libcrypto 3 is not there to compile with (libssl-dev): %v\n%s", err, out)
	}
	y.openssl = driver.Core{Library: library, API: catalog.CryptoHash, DigestBits: 512}
	y.driver = compileDriver(b, y.built)
	cpus, err := driver.AllowedCPUs()
	if err != nil {
		b.Fatal(err)
	}
	y.cpu = cpus[len(cpus)-1]
	if err := driver.StayOff(y.cpu); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), hostWait)
	defer cancel()
	unlock, err := driver.LockHost(ctx, func(pid int) { fmt.Printf("waiting: process %d is timing on this host\n", pid) })
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(unlock)
	return y
}

// compare times core and yardstick in turns and returns the table's row.
func (y *yardstick) compare(b *testing.B, l catalog.Label, bytes int) string {
	lb := y.built.label(b, l)
	core := driver.Core{Library: y.built.dir.Abs(lb.Library), API: lb.API, DigestBits: lb.DigestBits}
	coreDigests := y.digests(b, core, bytes)
	var sha3Digests []string
	for k := range kat.TimedMessages {
		sum := sha3.Sum512(driver.Perf(bytes, uint64(k)))
		sha3Digests = append(sha3Digests, hex.EncodeToString(sum[:]))
	}
	var ratios, perByte []float64
	for range yardstickRuns {
		c := y.low(b, core, bytes, coreDigests)
		ratios = append(ratios, c/y.low(b, y.openssl, bytes, sha3Digests))
		perByte = append(perByte, c/float64(bytes))
	}
	slices.Sort(ratios)
	slices.Sort(perByte)
	ratio := stats.Median(ratios)
	goal := ""
	if g := goals[l.String()]; g != 0 && bytes == goalBytes {
		goal = fmt.Sprintf("%.2f (%+.0f %%)", g, 100*(ratio/g-1))
	}
	row := strings.TrimRight(fmt.Sprintf(rowFormat, l, strconv.Itoa(bytes), fmt.Sprintf("%.3f", ratio),
		fmt.Sprintf("%.3f to %.3f", ratios[0], ratios[len(ratios)-1]), fmt.Sprintf("%.2f", stats.Median(perByte)), goal), " ")
	y.ratios[row] = ratio
	return row
}

func (y *yardstick) report(b *testing.B, row string) {
	b.ReportMetric(y.ratios[row], "xSHA3-512")
	b.ReportMetric(0, "ns/op") // of no meaning here: 0 leaves it out
}

// digests are what a timing expects: a core's own, made where the gate makes
// them. TestGate says that they are right.
func (y *yardstick) digests(b *testing.B, core driver.Core, bytes int) []string {
	b.Helper()
	ctx := context.Background()
	s, err := y.driver.Serve(ctx, core, driver.ServeOptions{CPU: -1, Timeout: answerTimeout})
	if err != nil {
		b.Fatal(err)
	}
	var out []string
	err = s.HashAll(ctx, kat.TimedMessages, func(i int) driver.Message {
		return driver.Message{Bits: 8 * uint64(bytes), Rule: driver.RuleNumbered, Number: uint64(i)}
	}, func(_ int, digest []byte) error {
		out = append(out, hex.EncodeToString(digest))
		return nil
	})
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// low is the ticks a call of a process's quiet batches.
func (y *yardstick) low(b *testing.B, core driver.Core, bytes int, expected []string) float64 {
	b.Helper()
	r, err := y.driver.Time(context.Background(), driver.TimeSpec{
		Core: core, Bytes: bytes, CPU: y.cpu, MinNs: yardstickRunNs, Expected: expected, Timeout: answerTimeout,
	})
	if err != nil {
		b.Fatal(err)
	}
	var perCall []float64
	for _, batch := range r.Batches {
		perCall = append(perCall, float64(batch.Ticks)/float64(batch.Calls))
	}
	slices.Sort(perCall)
	return stats.Quantile(perCall, lowQuantile)
}

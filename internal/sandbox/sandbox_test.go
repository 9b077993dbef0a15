package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// victimEnv makes the test binary a program that can be killed: it runs, under
// the sandbox, the shell command that the variable holds.
const victimEnv = "NGCC_TEST_VICTIM"

func TestMain(m *testing.M) {
	Main()
	if command := os.Getenv(victimEnv); command != "" {
		p, err := Start(context.Background(), shell(command))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("started")
		_, _ = p.Wait()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// shell is a Spec that runs a command of /bin/sh.
func shell(command string) Spec {
	return Spec{
		Path: "/bin/sh", Args: []string{"-c", command}, CPU: -1,
		Env: []string{"PATH=" + os.Getenv("PATH")}, MaxOutput: 1 << 16,
	}
}

func run(t *testing.T, spec Spec) (Result, error) {
	t.Helper()
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return p.Wait()
}

func TestExit(t *testing.T) {
	for _, test := range []struct {
		command string
		want    Result
	}{
		{"echo out; echo err >&2", Result{Output: []byte("out\nerr\n")}},
		{"exit 7", Result{ExitCode: 7}},
		{"kill -SEGV $$", Result{Signal: syscall.SIGSEGV}},
	} {
		got, err := run(t, shell(test.command))
		if err != nil {
			t.Errorf("%s: %v", test.command, err)
		}
		if got.ExitCode != test.want.ExitCode || got.Signal != test.want.Signal ||
			string(got.Output) != string(test.want.Output) || got.Survivors != 0 || got.TimedOut {
			t.Errorf("%s: got %+v, want %+v", test.command, got, test.want)
		}
	}
}

func TestCannotStart(t *testing.T) {
	_, err := run(t, Spec{Path: "/no/such/program", CPU: -1})
	if err == nil || !strings.Contains(err.Error(), "/no/such/program: no such file") {
		t.Errorf("missing program: %v", err)
	}
	_, err = run(t, Spec{Path: "/bin/true", CPU: 1000})
	if err == nil || !strings.Contains(err.Error(), "CPU 1000") {
		t.Errorf("missing CPU: %v", err)
	}
	spec := shell("true")
	spec.Dir = "/no/such/folder"
	if _, err = run(t, spec); err == nil {
		t.Error("a missing folder was not an error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, shell("true")); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}

func TestEnvironmentIsEmpty(t *testing.T) {
	t.Setenv("NGCC_TEST_SECRET", "token")
	got, err := run(t, Spec{Path: "/usr/bin/env", CPU: -1, MaxOutput: 1000})
	if err != nil || len(got.Output) != 0 {
		t.Errorf("the child's environment: %q, %v", got.Output, err)
	}
	// The supervisor is of the same user: what it holds can be read.
	got, err = run(t, shell("tr '\\0' '\\n' < /proc/$PPID/environ"))
	if err != nil || len(got.Output) != 0 {
		t.Errorf("the supervisor's environment: %q, %v", got.Output, err)
	}
}

// A descriptor without close-on-exec, as a runner may leave one, does not reach
// the child; what the Spec names does.
func TestFiles(t *testing.T) {
	leak, err := syscall.Open("/dev/null", syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(leak)
	in, extra := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "extra")
	for _, name := range []string{in, extra} {
		if err := os.WriteFile(name, []byte(filepath.Base(name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spec := shell("cat; cat <&3; echo; ls /proc/self/fd")
	spec.Stdin, _ = os.Open(in)
	file, _ := os.Open(extra)
	spec.ExtraFiles = []*os.File{file}
	got, err := run(t, spec)
	spec.Stdin.Close()
	file.Close()
	// ls itself opens the folder as 4.
	if want := "inextra\n0\n1\n2\n3\n4\n"; err != nil || string(got.Output) != want {
		t.Errorf("got %q, %v; want %q", got.Output, err, want)
	}
}

func TestLimits(t *testing.T) {
	spec := shell("ulimit -t; ulimit -f; ulimit -c; ulimit -n; ulimit -v")
	spec.Limits = Limits{CPUSeconds: 9, FileSize: 1024, OpenFiles: 17, AddressSpace: 6 << 30}
	got, err := run(t, spec)
	// POSIX: -f is in units of 512 bytes; dash gives -v in KiB.
	if want := "9\n2\n0\n17\n6291456\n"; err != nil || string(got.Output) != want {
		t.Errorf("got %q, %v; want %q", got.Output, err, want)
	}
	spec = shell("while :; do :; done")
	spec.Limits.CPUSeconds = 1
	if got, err := run(t, spec); err != nil || got.Signal != syscall.SIGXCPU && got.Signal != syscall.SIGKILL {
		t.Errorf("a child that used up its CPU time: %+v, %v", got, err)
	}
}

func TestPinned(t *testing.T) {
	cpus, err := AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	cpu := cpus[len(cpus)-1]
	spec := shell("grep Cpus_allowed_list /proc/self/status /proc/$PPID/status")
	spec.CPU = cpu
	got, err := run(t, spec)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(got.Output)), "\n")
	if len(lines) != 2 || !strings.HasSuffix(lines[0], "\t"+strconv.Itoa(cpu)) {
		t.Fatalf("the child runs on %q, want CPU %d", lines, cpu)
	}
	if len(cpus) > 1 && strings.HasSuffix(lines[1], "\t"+strconv.Itoa(cpu)) {
		t.Errorf("the supervisor is on the bench CPU: %q", lines[1])
	}
}

func TestTimeout(t *testing.T) {
	spec := shell("sleep 1000 & sleep 1000")
	spec.Timeout = 200 * time.Millisecond
	got, err := run(t, spec)
	if err != nil || !got.TimedOut || got.Signal != syscall.SIGKILL {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestCancel(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	p, err := Start(ctx, shell("sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	cancel(why)
	if _, err := p.Wait(); err != why {
		t.Errorf("got %v", err)
	}
}

func TestTooMuchOutput(t *testing.T) {
	spec := shell("while :; do echo more; done")
	spec.MaxOutput = 1000
	got, err := run(t, spec)
	if err != ErrOutput || len(got.Output) != 1000 {
		t.Errorf("got %d bytes, %v", len(got.Output), err)
	}
	spec = shell("echo 12345")
	spec.MaxOutput = 6
	if got, err := run(t, spec); err != nil || string(got.Output) != "12345\n" {
		t.Errorf("output of just the limit: %q, %v", got.Output, err)
	}
}

func TestSurvivors(t *testing.T) {
	for _, test := range []struct {
		command string
		want    int
	}{
		{"sleep 1000 &", 1},
		{"sleep 1000 & setsid sleep 1000 & (setsid sh -c 'sleep 1000 & sleep 1000 & echo > ready; wait' &) ; " +
			"while [ ! -e ready ]; do sleep 0.01; done", 5},
		// Processes that have ended are no survivors.
		{"(sh -c 'echo $$ > pid' &) ; " +
			"while [ ! -s pid ] || ! grep -q 'State:.Z' /proc/$(cat pid)/status; do sleep 0.01; done", 0},
	} {
		dir := t.TempDir()
		spec := shell(test.command)
		spec.Dir = dir
		got, err := run(t, spec)
		if err != nil || got.Survivors != test.want {
			t.Errorf("%s: %d survivors, %v; want %d", test.command, got.Survivors, err, test.want)
		}
		if left := processesIn(dir); len(left) > 0 {
			t.Errorf("%s: left %v", test.command, left)
		}
	}
}

// processesIn lists the processes whose working directory is dir, which all
// descendants of a process started there share.
func processesIn(dir string) []string {
	var list []string
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, l := range links {
		if at, err := os.Readlink(l); err == nil && at == dir {
			name, _ := os.ReadFile(filepath.Join(filepath.Dir(l), "cmdline"))
			list = append(list, filepath.Dir(l)+" "+strings.ReplaceAll(string(name), "\x00", " "))
		}
	}
	return list
}

// A program that is killed at any moment leaves nothing: neither its helpers,
// nor the child, nor what the child hid in sessions of its own.
func TestProgramKilled(t *testing.T) {
	for i := range 40 {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/proc/self/exe")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), victimEnv+"=sleep 1000 & (setsid sh -c 'sleep 1000 & sleep 1000' &) ; sleep 1000")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i%4 != 0 { // else perhaps before the helper is there
			_, _ = io.ReadFull(out, make([]byte, len("started\n")))
		}
		time.Sleep(time.Duration(rand.IntN(30_000)) * time.Microsecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		waitUntilEmpty(t, dir)
	}
}

// The supervisor does the same when it is asked to end.
func TestSupervisorTerminated(t *testing.T) {
	dir := t.TempDir()
	spec := shell("setsid sleep 1000 & kill -TERM $PPID; sleep 1000")
	spec.Dir = dir
	if got, err := run(t, spec); err != nil || got.Signal != syscall.SIGKILL {
		t.Errorf("got %+v, %v", got, err)
	}
	waitUntilEmpty(t, dir)
}

func waitUntilEmpty(t *testing.T, dir string) {
	t.Helper()
	var left []string
	for range 500 {
		if left = processesIn(dir); len(left) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("still there after ten seconds: %v", left)
}

// A supervisor that is killed takes the child with it (but not what the child
// started) and is reported.
func TestSupervisorKilled(t *testing.T) {
	dir := t.TempDir()
	spec := shell("kill -KILL $PPID; while :; do :; done")
	spec.Dir = dir
	if _, err := run(t, spec); err == nil || !strings.Contains(err.Error(), "was it killed?") {
		t.Errorf("got %v", err)
	}
	waitUntilEmpty(t, dir)
}

func TestStayOff(t *testing.T) {
	cpus, err := AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	if len(cpus) < 2 {
		t.Skip("one CPU only")
	}
	defer func() {
		set, _ := allowed()
		if err := moveThreads(&set); err != nil {
			t.Error(err)
		}
	}()
	if err := StayOff(cpus[0]); err != nil {
		t.Fatal(err)
	}
	// Threads that are blocked in system calls force new ones.
	for range 8 {
		go func() {
			var ts = syscall.Timespec{Nsec: 3e8}
			_ = syscall.Nanosleep(&ts, nil)
		}()
	}
	time.Sleep(50 * time.Millisecond)
	tasks, _ := filepath.Glob("/proc/self/task/*/status")
	for _, name := range tasks {
		status, _ := os.ReadFile(name)
		_, list, _ := strings.Cut(string(status), "Cpus_allowed_list:\t")
		list, _, _ = strings.Cut(list, "\n")
		if list == strconv.Itoa(cpus[0]) || strings.HasPrefix(list, strconv.Itoa(cpus[0])+"-") ||
			strings.HasPrefix(list, strconv.Itoa(cpus[0])+",") {
			t.Errorf("%s: may run on %s", name, list)
		}
	}
	if again, err := AllowedCPUs(); err != nil || len(again) != len(cpus) {
		t.Errorf("allowed CPUs changed from %v to %v, %v", cpus, again, err)
	}
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		p, err := Start(context.Background(), Spec{Path: "/bin/true", CPU: -1})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Wait(); err != nil {
			b.Fatal(err)
		}
	}
}

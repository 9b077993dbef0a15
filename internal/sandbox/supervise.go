package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// clearTime is how long the supervisor tries to kill what a child left behind
// before it names what cannot be killed.
const clearTime = 10 * time.Second

// supervisor is the state of a supervising process.
type supervisor struct {
	mu     sync.Mutex
	child  int // its process id while it may be killed, else 0
	killed bool
}

// supervise is the whole life of a supervising process.
func supervise() {
	// The child's parent-death signal is tied to the thread that starts it.
	runtime.LockOSThread()
	var s supervisor
	e := s.run()
	report := os.NewFile(fdReport, "report")
	_ = json.NewEncoder(report).Encode(e)
	os.Exit(0)
}

// run receives the job, starts the child, and returns when nothing of it is left.
func (s *supervisor) run() end {
	syscall.CloseOnExec(fdControl)
	syscall.CloseOnExec(fdReport)
	control := os.NewFile(fdControl, "control")
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return end{Err: fmt.Sprintf("cannot become a subreaper: %v", err)}
	}
	var j job
	if err := json.NewDecoder(control).Decode(&j); err != nil {
		return end{Err: fmt.Sprintf("no job arrived: %v", err)}
	}
	if j.CPU >= 0 {
		if err := StayOff(j.CPU); err != nil {
			return end{Err: err.Error()}
		}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() {
		<-signals
		s.kill()
	}()
	go func() {
		// Ends when the program closes its end of the pipe, or has died.
		_, _ = io.Copy(io.Discard, control)
		s.kill()
	}()
	return s.attend(j)
}

// attend starts the child, waits for it and clears away what it left.
func (s *supervisor) attend(j job) end {
	pid, started, err := startChild(j)
	if err != nil {
		return end{Err: fmt.Sprintf("cannot start %s: %v", j.Path, err)}
	}
	s.mu.Lock()
	s.child = pid
	if s.killed {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	s.mu.Unlock()
	// Whoever holds the other ends of these must see them close with the child.
	dropFiles(j.Extra)

	failure, _ := io.ReadAll(io.LimitReader(started, 4096))
	started.Close()
	status := s.wait(pid)
	e := end{Code: status.ExitStatus()}
	if status.Signaled() {
		e.Code, e.Signal = 0, int(status.Signal())
	}
	if len(failure) > 0 {
		e.Err = fmt.Sprintf("cannot start %s: %s", j.Path, failure)
	}
	var stuck []string
	if e.Survivors, stuck = clearAway(); len(stuck) > 0 {
		e.Err = fmt.Sprintf("%s left processes that could not be killed: %s", j.Path, strings.Join(stuck, ", "))
	}
	return e
}

// kill kills the child, now or as soon as it is started.
func (s *supervisor) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killed = true
	if s.child > 0 {
		_ = syscall.Kill(s.child, syscall.SIGKILL)
	}
}

// wait waits until the child has ended and returns its status.
func (s *supervisor) wait(child int) syscall.WaitStatus {
	// Wait without reaping first, so that kill never meets a reused process id.
	for unix.Waitid(unix.P_PID, child, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.child = 0
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(child, &status, 0, nil); err != syscall.EINTR {
			return status
		}
	}
}

// startChild starts the confiner of a job. What can be read from started is why
// the job's program could not be executed, or nothing once it is.
func startChild(j job) (pid int, started *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	defer w.Close()
	files := []uintptr{0, 1, 2}
	for i := range j.Extra {
		files = append(files, uintptr(fdExtra+i))
	}
	order, err := json.Marshal(confinement{CPU: j.CPU, Limits: j.Limits, Status: len(files)})
	if err != nil {
		return 0, nil, err
	}
	files = append(files, w.Fd())
	argv := append([]string{confineName, string(order), j.Path}, j.Args...)
	pid, err = syscall.ForkExec("/proc/self/exe", argv, &syscall.ProcAttr{
		Dir: j.Dir, Env: j.Env, Files: files,
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		r.Close()
		return 0, nil, err
	}
	return pid, r, nil
}

// dropFiles puts /dev/null in place of the first three files and closes the
// extra ones.
func dropFiles(extra int) {
	if null, err := syscall.Open(os.DevNull, syscall.O_RDWR|syscall.O_CLOEXEC, 0); err == nil {
		for fd := range 3 {
			_ = syscall.Dup3(null, fd, 0)
		}
		syscall.Close(null)
	}
	for i := range extra {
		syscall.Close(fdExtra + i)
	}
}

// clearAway kills every descendant of this process and returns how many there
// were, and which could not be killed. A descendant whose parent is killed
// becomes a child of this process, so killing children until there are none
// reaches all, however they forked; the kernel's ECHILD says that none is left.
func clearAway() (survivors int, stuck []string) {
	seen := map[int]bool{}
	for deadline := time.Now().Add(clearTime); ; {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG|syscall.WALL, nil)
		if err == syscall.ECHILD {
			return len(seen), nil
		}
		if pid > 0 || err == syscall.EINTR {
			continue
		}
		alive := children()
		for _, pid := range alive {
			seen[pid] = true
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if len(alive) > 0 && time.Now().After(deadline) {
			for _, pid := range alive {
				stuck = append(stuck, strconv.Itoa(pid))
			}
			return len(seen), stuck
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// children lists the processes whose parent is this one and that have not ended.
func children() []int {
	self := os.Getpid()
	var list []int
	names, _ := os.ReadDir("/proc")
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + n.Name() + "/stat")
		if err != nil {
			continue // ended meanwhile
		}
		// "pid (any name) state ppid …": the name may hold parentheses.
		rest := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
		fields := strings.Fields(rest)
		if len(fields) > 1 && fields[0] != "Z" && fields[0] != "X" && fields[1] == strconv.Itoa(self) {
			list = append(list, pid)
		}
	}
	return list
}

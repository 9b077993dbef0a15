package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// confinement is what the supervisor tells the confiner, in its first argument.
type confinement struct {
	CPU    int    `json:"cpu"`
	Limits Limits `json:"limits"`
	Status int    `json:"status"` // descriptor that a failure is written to
}

// confine is the whole life of a confining process: it confines itself and
// becomes the program that its other arguments name.
func confine() {
	// Affinity and parent-death signal belong to the thread that calls execve.
	runtime.LockOSThread()
	var c confinement
	if len(os.Args) < 3 || json.Unmarshal([]byte(os.Args[1]), &c) != nil {
		os.Exit(127)
	}
	err := c.apply()
	if err == nil {
		err = syscall.Exec(os.Args[2], os.Args[2:], os.Environ())
	}
	fmt.Fprint(os.NewFile(uintptr(c.Status), "status"), err)
	os.Exit(127)
}

// apply sets everything on this process that survives execve.
func (c confinement) apply() error {
	if err := closeOnExec(c.Status); err != nil {
		return fmt.Errorf("cannot close files: %w", err)
	}
	// A set-user-ID program could not be killed by the supervisor.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot set no_new_privs: %w", err)
	}
	if c.CPU >= 0 {
		var set unix.CPUSet
		set.Set(c.CPU)
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return fmt.Errorf("cannot use CPU %d: %w: choose one that this process may run on", c.CPU, err)
		}
	}
	return c.Limits.apply()
}

// apply sets the limits on this process. The address space comes last: this
// process may itself be larger than the limit.
func (l Limits) apply() error {
	for _, r := range []struct {
		name       string
		resource   int
		soft, hard uint64
		leave      bool
	}{
		{"core file", syscall.RLIMIT_CORE, 0, 0, false},
		{"CPU", syscall.RLIMIT_CPU, l.CPUSeconds, l.CPUSeconds + 1, l.CPUSeconds == 0},
		{"file size", syscall.RLIMIT_FSIZE, l.FileSize, l.FileSize, l.FileSize == 0},
		{"open file", syscall.RLIMIT_NOFILE, l.OpenFiles, l.OpenFiles, l.OpenFiles == 0},
		{"address space", syscall.RLIMIT_AS, l.AddressSpace, l.AddressSpace, l.AddressSpace == 0},
	} {
		if r.leave {
			continue
		}
		var had syscall.Rlimit
		if err := syscall.Getrlimit(r.resource, &had); err != nil {
			return fmt.Errorf("cannot read the %s limit: %w", r.name, err)
		}
		want := syscall.Rlimit{Cur: min(r.soft, had.Max), Max: min(r.hard, had.Max)}
		if err := syscall.Setrlimit(r.resource, &want); err != nil {
			return fmt.Errorf("cannot set the %s limit: %w", r.name, err)
		}
	}
	return nil
}

// closeOnExec marks every descriptor from first on to be closed by execve:
// those of this process, and any that the program inherited without that mark.
func closeOnExec(first int) error {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, n := range names {
		if fd, err := strconv.Atoi(n.Name()); err == nil && fd >= first {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}

// Package sandbox runs compilers, the driver and the cores in it under a
// re-executed helper of this program, so that nothing of theirs outlives a run.
//
// Two stages of the program's own binary stand between it and the child. The
// supervisor (argv[0] "__ngcc-supervise") adopts every orphan of the child,
// waits, kills and counts what the child left behind, and does the same as soon
// as the program is gone: it holds the read end of a pipe whose only write end
// is the program's, and the kernel closes that even on kill -9. The confiner
// (argv[0] "__ngcc-confine") sets limits, CPU and file descriptors on itself and
// then becomes the child by execve, so that no instruction of the child runs
// without them.
//
// Not covered: a child that kills its supervisor (it runs as the same user) dies
// with it and is reported, but processes that it started before may stay.
package sandbox

import (
	"errors"
	"os"
)

// The names by which a re-executed binary knows its stage.
const (
	superviseName = "__ngcc-supervise"
	confineName   = "__ngcc-confine"
)

// ErrOutput says that a child wrote more than its Spec.MaxOutput and was killed.
var ErrOutput = errors.New("sandbox: the process printed more than it may and was killed")

// hooked records that Main was called, without which a re-executed binary would
// run the whole program again.
var hooked bool

// Main must be called first in main and in TestMain. It returns at once, except
// in a process that Start re-executed, where it does that process's work and
// never returns.
func Main() {
	if len(os.Args) > 0 {
		switch os.Args[0] {
		case superviseName:
			supervise()
		case confineName:
			confine()
		}
	}
	hooked = true
}

// Limits are resource limits of a child; zero leaves a limit as it is, except
// that core files are never written.
type Limits struct {
	CPUSeconds   uint64 // user and system time; SIGXCPU when it is used up
	AddressSpace uint64 // bytes of address space
	FileSize     uint64 // bytes that any file may grow to; pipes do not count
	OpenFiles    uint64 // one more than the greatest file descriptor
}

// job is what the program tells the supervisor.
type job struct {
	Path   string   `json:"path"`
	Args   []string `json:"args"`
	Dir    string   `json:"dir"`
	Env    []string `json:"env"`
	Extra  int      `json:"extra"` // files beyond stdin, stdout and stderr
	CPU    int      `json:"cpu"`
	Limits Limits   `json:"limits"`
}

// end is what the supervisor tells the program when all is over.
type end struct {
	Err       string `json:"err,omitempty"` // the child could not be started or cleared away
	Code      int    `json:"code"`
	Signal    int    `json:"signal"`
	Survivors int    `json:"survivors"`
}

// The supervisor's file descriptors beyond the first three.
const (
	fdControl = 3 // read end: a job, then nothing until the program closes it or dies
	fdReport  = 4 // write end: one end
	fdExtra   = 5 // the first of the child's extra files
)

package driver

import "github.com/ngcc/bench-action/internal/sandbox"

// StayOff keeps this process, all its threads now and later, off the bench CPU,
// so that what it does disturbs no timing. It does nothing when no other CPU is
// allowed.
func StayOff(cpu int) error { return sandbox.StayOff(cpu) }

// AllowedCPUs lists the CPUs that this process was started with, in ascending
// order, whatever StayOff took away since.
func AllowedCPUs() ([]int, error) { return sandbox.AllowedCPUs() }

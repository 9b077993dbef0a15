package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// allowed is the set of CPUs that this process was started with.
var allowed = sync.OnceValues(func() (unix.CPUSet, error) {
	var set unix.CPUSet
	err := unix.SchedGetaffinity(0, &set)
	return set, err
})

// AllowedCPUs lists the CPUs that this process was allowed when it first asked,
// in ascending order; StayOff does not take its CPU from the list.
func AllowedCPUs() ([]int, error) {
	set, err := allowed()
	if err != nil {
		return nil, fmt.Errorf("cannot read the CPU affinity: %w", err)
	}
	var cpus []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// StayOff keeps every thread of this process, present and to come, off a CPU.
// It does nothing when no other CPU is allowed.
func StayOff(cpu int) error {
	set, err := allowed()
	if err != nil {
		return fmt.Errorf("cannot read the CPU affinity: %w", err)
	}
	set.Clear(cpu)
	if set.Count() == 0 {
		return nil
	}
	if err := moveThreads(&set); err != nil {
		return fmt.Errorf("cannot stay off CPU %d: %w", cpu, err)
	}
	return nil
}

// moveThreads gives every thread of this process a set of CPUs. A thread inherits
// its creator's, so after a pass that met no new thread all later ones have it.
func moveThreads(set *unix.CPUSet) error {
	moved := map[int]bool{}
	for fresh := true; fresh; {
		fresh = false
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("cannot list threads: %w", err)
		}
		for _, t := range tasks {
			tid, err := strconv.Atoi(t.Name())
			if err != nil || moved[tid] {
				continue
			}
			if err := unix.SchedSetaffinity(tid, set); err != nil && err != unix.ESRCH {
				return fmt.Errorf("cannot move thread %d: %w", tid, err)
			}
			moved[tid], fresh = true, true
		}
	}
	return nil
}

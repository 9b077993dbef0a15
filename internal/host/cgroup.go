package host

import (
	"path"
	"strconv"
	"strings"
)

// cgroupV2 and cgroupV1 are where the control groups of the two versions lie
// (kernel, Documentation/admin-guide/cgroup-v2.rst, and scheduler/sched-bwc.rst
// for version 1).
var (
	cgroupV2 = []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}
	cgroupV1 = []string{"sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct", "sys/fs/cgroup/cpuacct,cpu"}
)

// cpuLimit is the tightest limit on CPU time that a control group of this process
// sets, in CPUs, and its file below the root; 0 without one. A container's groups
// hang at the root of what it sees, so each group is looked for with its path and
// without.
func (r root) cpuLimit() (cpus float64, file string) {
	take := func(limit float64, name string) {
		if limit > 0 && (cpus == 0 || limit < cpus) {
			cpus, file = limit, name
		}
	}
	for line := range strings.Lines(r.text("proc/self/cgroup")) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, ok := strings.Cut(rest, ":")
		switch {
		case !ok:
		case id == "0" && controllers == "":
			for _, name := range groupFiles(cgroupV2, group, "cpu.max") {
				quota, period, _ := strings.Cut(r.line(name), " ")
				take(quotaCPUs(quota, period), name)
			}
		case hasWord(strings.ReplaceAll(controllers, ",", " "), "cpu"):
			for _, name := range groupFiles(cgroupV1, group, "cpu.cfs_quota_us") {
				take(quotaCPUs(r.line(name), r.line(path.Join(path.Dir(name), "cpu.cfs_period_us"))), name)
			}
		}
	}
	return cpus, file
}

// groupFiles are the files of that name in a group and all above it.
func groupFiles(mounts []string, group, name string) (files []string) {
	group = path.Clean("/" + group) // never above the mount
	for {
		for _, m := range mounts {
			files = append(files, path.Join(m, group, name))
		}
		if group == "/" {
			return files
		}
		group = path.Dir(group)
	}
}

// quotaCPUs is quota through period, both in microseconds; 0: no limit ("max", or
// -1 in version 1).
func quotaCPUs(quota, period string) float64 {
	q, err := strconv.ParseUint(quota, 10, 63)
	p, err2 := strconv.ParseUint(period, 10, 63)
	if err != nil || err2 != nil || p == 0 {
		return 0
	}
	return float64(q) / float64(p)
}

// limitedUs is for how long groups with that limit were stopped since they
// began, in microseconds; 0 where it is not shown.
func (r root) limitedUs(limitFile string) int64 {
	for line := range strings.Lines(r.text(path.Join(path.Dir(limitFile), "cpu.stat"))) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case err != nil || n < 0:
		case key == "throttled_usec":
			return n
		case key == "throttled_time": // version 1, nanoseconds
			return n / 1000
		}
	}
	return 0
}

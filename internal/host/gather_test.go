package host

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the .golden files")

// snapshot reads a machine from testdata: files in the txtar format, "-- name --"
// before each, after a comment that says where they are from.
func snapshot(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	var file *fstest.MapFile
	for line := range bytes.Lines(data) {
		if n, ok := strings.CutPrefix(string(line), "-- "); ok && strings.HasSuffix(n, " --\n") {
			file = &fstest.MapFile{}
			files[strings.TrimSuffix(n, " --\n")] = file
		} else if file != nil {
			file.Data = append(file.Data, line...)
		}
	}
	return files
}

// TestGather compares all that is said of each machine: facts, table, clock
// policy and problems.
func TestGather(t *testing.T) {
	for _, test := range []struct {
		name string
		cpu  int
	}{
		{"epyc-kvm", 0},
		{"i7-12700", 2},
		{"rk3588", 6},
		{"snapdragon-x", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := Gather(snapshot(t, test.name), test.cpu)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			enc := json.NewEncoder(&got)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			if err := enc.Encode(f); err != nil {
				t.Fatal(err)
			}
			for _, row := range f.Table() {
				fmt.Fprintf(&got, "%-20s%s\n", row[0], row[1])
			}
			fmt.Fprintf(&got, "\npolicy: %+v\n", f.ClockPolicy(2596142))
			for _, p := range f.Problems() {
				fmt.Fprintf(&got, "\n%s: %s\n    %s\n", p.Name, p.Detail, p.Mend)
			}
			golden := filepath.Join("testdata", test.name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got.String()), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("not as in %s (-want +got; -update rewrites it):\n%s", golden, diff)
			}
		})
	}
}

func TestGatherSmallCore(t *testing.T) {
	for _, test := range []struct {
		name             string
		cpu              int
		coreType, pmu    string
		model, microcode string
	}{
		{"i7-12700", 17, "cpu_atom", "cpu_atom", "12th Gen Intel(R) Core(TM) i7-12700", "0x38"},
		{"rk3588", 0, "Arm Cortex-A55", "armv8_cortex_a55", "Arm Cortex-A55", "r2p0"},
	} {
		f, err := Gather(snapshot(t, test.name), test.cpu)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{f.CoreType, f.PMU, f.CPUModel, f.Microcode}
		if diff := cmp.Diff([]string{test.coreType, test.pmu, test.model, test.microcode}, got); diff != "" {
			t.Errorf("%s CPU %d (-want +got):\n%s", test.name, test.cpu, diff)
		}
	}
}

func TestGatherRefusesCPU(t *testing.T) {
	for _, cpu := range []int{-1, 1, 20} { // 1 is the sibling that SMT off took away
		_, err := Gather(snapshot(t, "i7-12700"), cpu)
		if want := "is not online (online: 0,2,4,6,8,10,12,14,16-19)"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("CPU %d: error %v, want one with %q", cpu, err, want)
		}
	}
}

func TestGatherNothing(t *testing.T) {
	f, err := Gather(fstest.MapFS{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Facts{}, f); diff != "" {
		t.Errorf("facts of an empty machine:\n%s", diff)
	}
	for _, row := range f.Table() {
		if row[0] == "" || row[1] == "" {
			t.Errorf("empty cell in row %q", row)
		}
	}
}

// TestGatherDamaged gives every file of every machine bad contents in turn.
func TestGatherDamaged(t *testing.T) {
	for _, name := range []string{"epyc-kvm", "i7-12700", "rk3588", "snapdragon-x"} {
		files := snapshot(t, name)
		for file := range files {
			good := files[file]
			for _, bad := range []*fstest.MapFile{
				{}, {Data: []byte("\n\n\n")}, {Data: []byte("-1")}, {Data: []byte("0-99999999999999999999")},
				{Data: []byte("\xff\x00:\x1b[31m:\n:")}, {Mode: fs.ModeDir | 0o755},
			} {
				files[file] = bad
				f, _ := Gather(files, 2) // it must not panic; an error is right if online is lost
				f.Table()
				f.BenchTable()
				f.Problems()
				f.Look(files)
				f.Has([]string{"avx2"})
			}
			files[file] = good
		}
	}
}

// TestGatherHere holds for whatever machine runs the test.
func TestGatherHere(t *testing.T) {
	cpus, err := ParseCPUList(root{os.DirFS("/")}.line("sys/devices/system/cpu/online"))
	if err != nil || len(cpus) == 0 {
		t.Skip("no Linux sysfs here")
	}
	f, err := Gather(os.DirFS("/"), cpus[0])
	if err != nil {
		t.Fatal(err)
	}
	if f.Arch == "" || f.CPUModel == "" || f.CoreType == "" || f.Kernel == "" || f.MemoryKiB == 0 || len(f.AllowedCPUs) == 0 || len(f.Features) == 0 {
		t.Errorf("facts of this machine lack what every machine shows: %+v", f)
	}
	if libc := Libc(t.Context()); libc == "" {
		t.Error("no libc found on this machine")
	}
}

func TestVirtualisation(t *testing.T) {
	for _, test := range []struct {
		name  string
		flag  bool
		files map[string]string
		want  string
	}{
		{"bare metal", false, map[string]string{"sys/class/dmi/id/sys_vendor": "LENOVO", "sys/class/dmi/id/product_name": "21BX"}, ""},
		{"flag only", true, nil, "virtual machine"},
		{"GitHub's runners", true, map[string]string{"sys/class/dmi/id/sys_vendor": "Microsoft Corporation", "sys/class/dmi/id/product_name": "Virtual Machine"}, "virtual machine (Hyper-V)"},
		{"a Surface", false, map[string]string{"sys/class/dmi/id/sys_vendor": "Microsoft Corporation", "sys/class/dmi/id/product_name": "Surface Laptop 7"}, ""},
		{"Graviton", false, map[string]string{"sys/class/dmi/id/sys_vendor": "Amazon EC2", "sys/class/dmi/id/product_name": "m7g.large"}, "virtual machine (Amazon EC2)"},
		{"Graviton, whole", false, map[string]string{"sys/class/dmi/id/sys_vendor": "Amazon EC2", "sys/class/dmi/id/product_name": "m7g.metal"}, ""},
		{"qemu -M virt", false, map[string]string{"proc/device-tree/compatible": "linux,dummy-virt\x00"}, "virtual machine (QEMU or Firecracker)"},
		{"WSL", true, map[string]string{"proc/sys/kernel/osrelease": "6.6.87.2-microsoft-standard-WSL2"}, "virtual machine (WSL)"},
		{"podman", false, map[string]string{"run/.containerenv": ""}, "podman container"},
		{"Kubernetes, cgroup v1", true, map[string]string{"proc/1/cgroup": "4:cpu:/kubepods/burstable/pod1/2"}, "virtual machine, kubepods container"},
	} {
		files := fstest.MapFS{}
		for name, data := range test.files {
			files[name] = &fstest.MapFile{Data: []byte(data)}
		}
		if got := (root{files}).virtualisation(test.flag); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestMuslVersion(t *testing.T) {
	// As Alpine 3.20's loader prints it.
	const out = "musl libc (x86_64)\nVersion 1.2.5\nDynamic Program Loader\nUsage: /lib/ld-musl-x86_64.so.1 [options] [--] pathname [args]\n"
	if got := muslVersion(out); got != "musl 1.2.5" {
		t.Errorf("got %q", got)
	}
	if got := muslVersion("Version 3"); got != "" {
		t.Errorf("another program's version: %q", got)
	}
}

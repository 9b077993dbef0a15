package host

import "strings"

// hypervisors are known by how their firmware names vendor or product in DMI, as
// systemd-detect-virt has it (src/basic/virt.c).
var hypervisors = []struct{ sign, name string }{
	{"KVM", "KVM"},
	{"OpenStack", "KVM"},
	{"KubeVirt", "KVM"},
	{"QEMU", "QEMU"},
	{"Amazon EC2", "Amazon EC2"},
	{"Google Compute Engine", "Google Compute Engine"},
	{"Alibaba Cloud", "Alibaba Cloud"},
	{"VMware", "VMware"},
	{"VMW", "VMware"},
	{"innotek GmbH", "VirtualBox"},
	{"VirtualBox", "VirtualBox"},
	{"Xen", "Xen"},
	{"Bochs", "Bochs"},
	{"Parallels", "Parallels"},
	{"BHYVE", "bhyve"},
	{"Hyper-V", "Hyper-V"},
	{"Microsoft Corporation Virtual Machine", "Hyper-V"},
	{"Apple Virtualization", "Apple Virtualization"},
	{"DigitalOcean", "DigitalOcean"},
	{"Hetzner vServer", "Hetzner"},
}

// virtualisation says what stands between the process and the machine: a virtual
// machine, a container, both ("virtual machine (KVM), docker container"), or
// nothing. flag is x86's hypervisor flag.
func (r root) virtualisation(flag bool) string {
	var layers []string
	for _, layer := range []string{r.virtualMachine(flag), r.container()} {
		if layer != "" {
			layers = append(layers, layer)
		}
	}
	return strings.Join(layers, ", ")
}

// virtualMachine begins with "virtual machine", or is empty.
func (r root) virtualMachine(flag bool) string {
	name := r.hypervisor()
	switch {
	case name != "":
		return "virtual machine (" + name + ")"
	case flag:
		return "virtual machine"
	}
	return ""
}

// hypervisor is its name, from what it gives away besides x86's flag.
func (r root) hypervisor() string {
	kernel := strings.ToLower(r.line("proc/sys/kernel/osrelease"))
	if strings.Contains(kernel, "microsoft") && strings.Contains(kernel, "wsl") {
		return "WSL"
	}
	product := r.line("sys/class/dmi/id/product_name")
	dmi := r.line("sys/class/dmi/id/sys_vendor") + " " + product
	for _, h := range hypervisors {
		// Amazon's bare machines bear its name too: m7g.metal.
		if strings.Contains(dmi, h.sign) && !strings.Contains(product, ".metal") {
			return h.name
		}
	}
	if r.line("sys/hypervisor/type") == "xen" {
		return "Xen"
	}
	if strings.Contains(r.line("sys/devices/system/clocksource/clocksource0/available_clocksource"), "kvm-clock") {
		return "KVM"
	}
	// AArch64 without firmware tables, such as Firecracker and qemu -M virt.
	tree := r.line("proc/device-tree/hypervisor/compatible")
	switch {
	case strings.Contains(tree, "kvm"):
		return "KVM"
	case strings.Contains(tree, "xen"):
		return "Xen"
	case tree != "":
		return tree
	case strings.Contains(r.line("proc/device-tree/compatible"), "linux,dummy-virt"):
		return "QEMU or Firecracker"
	}
	return ""
}

// container ends in "container", or is empty.
func (r root) container() string {
	if name := r.line("run/systemd/container"); name != "" {
		return name + " container"
	}
	if r.exists("run/.containerenv") {
		return "podman container"
	}
	if r.exists(".dockerenv") {
		return "docker container"
	}
	// With cgroup v2 and a namespace of its own this file says only "0::/".
	groups := r.text("proc/1/cgroup")
	for _, sign := range []string{"kubepods", "docker", "libpod", "containerd", "lxc"} {
		if strings.Contains(groups, sign) {
			return sign + " container"
		}
	}
	return ""
}

// machine is vendor and product by DMI, or else the device tree's model.
func (r root) machine() string {
	vendor, product := r.line("sys/class/dmi/id/sys_vendor"), r.line("sys/class/dmi/id/product_name")
	if strings.HasPrefix(product, vendor) {
		vendor = ""
	}
	if name := strings.TrimSpace(vendor + " " + product); name != "" {
		return name
	}
	return r.line("proc/device-tree/model")
}

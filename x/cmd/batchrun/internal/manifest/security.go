package manifest

import (
	"fmt"
	"maps"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
)

// checkSecurity checks the securityContext of a pod or a container field by field. A
// field with an effect is either honoured or refused.
func (d *document) checkSecurity(path string, value any) {
	context, _ := value.(map[string]any)
	path += ".securityContext"
	for _, field := range slices.Sorted(maps.Keys(context)) {
		if v := context[field]; !isUnset(v) && v != false {
			d.checkSecurityField(path+"."+field, field, v)
		}
	}
	if context["allowPrivilegeEscalation"] == false && context["privileged"] == true {
		d.reject(path+".allowPrivilegeEscalation", "false: contradicts privileged: true")
	}
}

func (d *document) checkSecurityField(at, field string, value any) {
	number := fmt.Sprint(value)
	switch field {
	case "runAsUser":
		d.checkID(at, number, os.Getuid())
	case "runAsGroup", "fsGroup":
		d.checkID(at, number, os.Getgid())
	case "runAsNonRoot":
		if os.Getuid() == 0 {
			d.reject(at, "true: not supported by this runner, whose processes run as root")
		}
	case "privileged":
		if os.Geteuid() != 0 {
			d.reject(at, "true: not supported by this runner, which does not run as root")
		}
	case "supplementalGroups":
		d.checkGroups(at, value)
	case "capabilities":
		d.checkCapabilities(at, value)
	case "seccompProfile", "appArmorProfile":
		profile, _ := value.(map[string]any)
		if kind := profile["type"]; kind != "RuntimeDefault" && kind != "Unconfined" {
			d.reject(at+".type", "%v: not supported by this runner", brief(kind))
		}
		d.ignored = append(d.ignored, "securityContext."+field)
	case "allowPrivilegeEscalation": // false is honoured, true is the default
	case "procMount", "fsGroupChangePolicy", "supplementalGroupsPolicy", "seLinuxChangePolicy":
		d.ignored = append(d.ignored, "securityContext."+field)
	default:
		d.reject(at, "%s: not supported by this runner", brief(value))
	}
}

func (d *document) checkID(at, want string, own int) {
	if want != fmt.Sprint(own) {
		d.reject(at, "%s: not supported by this runner, whose processes run as %d", want, own)
	}
}

func (d *document) checkGroups(at string, value any) {
	own, _ := os.Getgroups()
	list, _ := value.([]any)
	for i, v := range list {
		if !slices.ContainsFunc(own, func(g int) bool { return fmt.Sprint(g) == fmt.Sprint(v) }) {
			d.reject(fmt.Sprintf("%s[%d]", at, i),
				"%v: not supported by this runner, whose processes have the groups %v", v, own)
		}
	}
}

// checkCapabilities accepts dropped capabilities. It accepts added ones only if processes have all
// capabilities anyway.
func (d *document) checkCapabilities(at string, value any) {
	both, _ := value.(map[string]any)
	for _, field := range []string{"add", "drop"} {
		list, _ := both[field].([]any)
		for i, v := range list {
			name, _ := v.(string)
			path := fmt.Sprintf("%s.%s[%d]", at, field, i)
			switch {
			case pod.CapabilityNumbers(name) == nil:
				d.reject(path, "%q: is not a capability of Linux", name)
			case field == "add" && os.Geteuid() != 0:
				d.reject(path, "%q: not supported by this runner, which does not run as root", name)
			}
		}
	}
}

// giveUp translates the securityContext of a container into the rights that the container's process
// drops.
func giveUp(c *corev1.Container, out *pod.ContainerSpec) {
	s := c.SecurityContext
	if s == nil {
		return
	}
	out.NoNewPrivileges = s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation
	if s.Capabilities == nil {
		return
	}
	for _, name := range s.Capabilities.Drop {
		out.Drop = append(out.Drop, pod.CapabilityNumbers(string(name))...)
	}
	for _, name := range s.Capabilities.Add { // additions are applied last
		kept := pod.CapabilityNumbers(string(name))
		out.Drop = slices.DeleteFunc(out.Drop, func(n int) bool { return slices.Contains(kept, n) })
	}
}

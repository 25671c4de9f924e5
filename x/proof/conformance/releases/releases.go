// Package releases builds test binaries with the controllers and the API server's code of a release
// of Kubernetes, and lets such a binary know which release it has. The folder has a go.mod and a
// go.sum for the newest known patch of each minor release, except [release.Newest], for which the
// module has its own. An older patch is compiled with the same libraries.
//
// A build cannot have two releases. Code that depends on the release is in files whose names end
// with the first release that they fit, with build tags such as before134: a binary of 1.33 has the
// tags before134 to before137.
package releases

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/batchplan/batchplan/job/release"
)

// compiled is the release that the binary has, set when it is linked.
var compiled = "1.37"

// Flags returns the flags with which Go compiles a release. The binary has no debug information, like
// those of go test. The argument modfile is the go.mod of the release, see [Named], and the argument
// more has further build tags.
func Flags(r release.Release, modfile string, more ...string) []string {
	const variable = "github.com/batchplan/batchplan/x/proof/conformance/releases.compiled"
	tags := more
	for _, other := range release.All() {
		if r.IsBefore(other) && !release.Newest().IsBefore(other) {
			tags = append(tags, fmt.Sprintf("before1%d", other.Minor()))
		}
	}
	return []string{
		"-vet=off",
		"-modfile=" + modfile,
		"-tags=" + strings.Join(tags, ","),
		"-ldflags=-s -w -X=" + variable + "=" + r.Defaults().String(),
	}
}

// Named returns the path of the go.mod of a minor release, without ".mod". Root is the folder of
// this module.
func Named(root string, r release.Release) string {
	if r.Minor() == release.Newest().Minor() {
		return filepath.Join(root, "go")
	}
	return filepath.Join(root, "releases", fmt.Sprintf("1.%d", r.Minor()))
}

// Choose parses the release of a run, which may name feature gates. To switch the gates, it calls
// the function set with texts such as "Gate=false", and set passes them to the code of Kubernetes.
// An empty text means the binary's release. A release that the binary does not have is an error.
func Choose(which string, set func(string) error) (release.Release, error) {
	built, err := release.Parse(compiled)
	if err != nil || which == "" {
		return built, err
	}
	r, err := release.Parse(which)
	if err != nil {
		return release.Release{}, err
	}
	if r.Defaults() != built {
		return release.Release{}, fmt.Errorf("release %s: this binary has the code of %s", r, built)
	}
	return r, set(strings.Join(gatesOf(r), ","))
}

// gatesOf returns the gates of a release in the form of Kubernetes. It adds GenericWorkload,
// without which Kubernetes refuses WorkloadWithJob.
func gatesOf(r release.Release) (gates []string) {
	for gate := range r.Switchable().All() {
		gates = append(gates, fmt.Sprintf("%s=%t", gate, r.Has(gate)))
		if gate == release.WorkloadWithJob {
			gates = append(gates, fmt.Sprintf("GenericWorkload=%t", r.Has(gate)))
		}
	}
	return gates
}

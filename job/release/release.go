// Package release names the releases of Kubernetes and their feature gates, as far as
// they change what the batch controllers or the API server decide.
//
// A [Release] is a value that can be compared, stored and used as a key:
//
//	r := release.V133
//	other, err := release.Parse("1.33,JobPodReplacementPolicy=false")
//	patch := release.V135.At(4)
//
// job.Kubernetes and cronjob.Kubernetes turn it into options. Each is compared with the
// controllers and the API server's code of that release.
package release

import (
	"fmt"
	"strconv"
	"strings"
)

// Release is a release of Kubernetes, with the feature gates that are switched away from their
// defaults. One without a patch stands for the newest patch that the library knows, which
// docs/releases.md says. The zero value is [Newest] with its defaults.
// Releases can be compared with == and used as keys.
type Release struct {
	// minor is 0 for that of Newest, and patch one more than the patch, or 0 without one.
	minor, patch uint16
	switched     Gates
}

const (
	firstMinor = 31
	lastMinor  = firstMinor + len(newest) - 1
	maxPatch   = 1<<16 - 2
)

// newest is the newest patch of each minor release that the library knows.
var newest = [...]int{14, 13, 13, 10, 8, 5, 2}

// The minor releases, with default gates. Nothing may be assigned to them.
var (
	V131 = Release{minor: 31}
	V132 = Release{minor: 32}
	V133 = Release{minor: 33}
	V134 = Release{minor: 34}
	V135 = Release{minor: 35}
	V136 = Release{minor: 36}
	V137 = Release{minor: 37}
)

// Newest is the newest release that the library is compared with, whose patch docs/releases.md
// says, and what the zero value of a Release means. It moves with a version of the library whose
// changelog says so under Semantics.
var Newest = V137

// All returns the releases in order, each with default gates.
func All() []Release {
	var all []Release
	for minor := firstMinor; minor <= lastMinor; minor++ {
		all = append(all, Release{minor: uint16(minor)})
	}
	return all
}

// Minor returns the number after "1.".
func (r Release) Minor() int {
	if r.minor == 0 {
		return lastMinor
	}
	return int(r.minor)
}

// named returns the release with its minor number, which the zero value does not have.
func (r Release) named() Release {
	r.minor = uint16(r.Minor())
	return r
}

// At returns the release with a patch, which is limited to 0 to 65534.
func (r Release) At(patch int) Release {
	r = r.named()
	r.patch = uint16(max(0, min(patch, maxPatch)) + 1)
	return r
}

// Patch returns the patch. Without one it is the newest that the library knows.
func (r Release) Patch() int {
	if r.HasPatch() {
		return int(r.patch) - 1
	}
	return newest[r.Minor()-firstMinor]
}

// HasPatch reports whether the release names a patch.
func (r Release) HasPatch() bool { return r.patch != 0 }

// Equal is ==. Package go-cmp calls it.
func (r Release) Equal(other Release) bool { return r == other }

// IsBefore reports whether the release is older than another, whatever the gates. Patches of a
// minor release are compared only if both are named.
func (r Release) IsBefore(other Release) bool {
	if r.Minor() == other.Minor() && r.HasPatch() && other.HasPatch() {
		return r.Patch() < other.Patch()
	}
	return r.Minor() < other.Minor()
}

// IsFrom reports whether the release has what came with the releases since: the first patch of each
// minor release, or a minor release from its first patch on. It stays in every later minor release.
func (r Release) IsFrom(since ...Release) bool {
	has := false
	for _, s := range since {
		if r.Minor() == s.Minor() {
			return !r.IsBefore(s)
		}
		has = has || s.IsBefore(r)
	}
	return has
}

// Defaults returns the release with default gates.
func (r Release) Defaults() Release {
	r = r.named()
	r.switched = Gates{}
	return r
}

// Has reports whether the gate is on: by default, because it is switched, or because its code was
// removed, which made it permanent.
func (r Release) Has(gate Gate) bool {
	return gate.isKnown() && gate.effective(r.Minor()) != r.switched.Has(gate)
}

// On returns the gates for which [Release.Has] is true.
func (r Release) On() (on Gates) {
	for gate := Gate(1); gate.isKnown(); gate++ {
		if r.Has(gate) {
			on = on.With(gate)
		}
	}
	return on
}

// Off returns the gates that are off, and those that the release does not have yet.
func (r Release) Off() (off Gates) {
	for gate := Gate(1); gate.isKnown(); gate++ {
		if !r.Has(gate) {
			off = off.With(gate)
		}
	}
	return off
}

// With switches a gate. An error says that the release does not have it, or that it is
// locked, and lists the gates that can be switched.
func (r Release) With(name string, on bool) (Release, error) {
	r = r.named()
	gate := gateOf(name)
	problem := ""
	switch {
	case gate == 0 && !isPermanent(name):
		problem = "is not known"
	case gate == 0:
		problem = "is locked to true"
	default:
		switch gate.state(r.Minor()) {
		case isAbsent:
			problem = "does not exist in this release"
		case isLocked:
			problem = "is locked to true"
		}
	}
	if problem != "" {
		if on && problem == "is locked to true" {
			return r, nil
		}
		return Release{}, fmt.Errorf("gate %q of Kubernetes 1.%d %s: %s", name, r.Minor(), problem, choices(r))
	}

	r.switched = r.switched.Without(gate)
	if r.Has(gate) != on {
		r.switched = r.switched.With(gate)
	}
	return r, nil
}

func choices(r Release) string {
	var names []string
	for _, gate := range r.Switchable() {
		names = append(names, gate.String())
	}
	if len(names) == 0 {
		return "no gate can be switched"
	}
	return "can be switched: " + strings.Join(names, ", ")
}

// Switchable returns the gates that can be switched in the release.
func (r Release) Switchable() (gates []Gate) {
	for gate := Gate(1); gate.isKnown(); gate++ {
		if s := gate.state(r.Minor()); s == isOn || s == isOff {
			gates = append(gates, gate)
		}
	}
	return gates
}

// String returns the release and the gates that are switched, such as
// "1.33,JobManagedBy=false". [Parse] reads it.
func (r Release) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "1.%d", r.Minor())
	if r.HasPatch() {
		fmt.Fprintf(&b, ".%d", r.Patch())
	}
	for gate := range r.switched.All() {
		fmt.Fprintf(&b, ",%s=%t", gate, r.Has(gate))
	}
	return b.String()
}

// Parse reads a release such as "1.33", "v1.33.4" or "1.33,JobManagedBy=false". An error lists
// the releases, or the gates that can be switched.
func Parse(text string) (Release, error) {
	version, gates, _ := strings.Cut(text, ",")
	r, ok := parseVersion(strings.TrimSpace(version))
	if !ok {
		var known []string
		for _, r := range All() {
			known = append(known, r.String())
		}
		return Release{}, fmt.Errorf("release %q is not known: want one of %s", version, strings.Join(known, ", "))
	}

	for gate := range strings.SplitSeq(gates, ",") {
		if gate = strings.TrimSpace(gate); gate == "" {
			continue
		}

		name, value, _ := strings.Cut(gate, "=")
		on, err := strconv.ParseBool(value)
		if err != nil {
			return Release{}, fmt.Errorf("gate %q: want %s=true or %s=false", gate, name, name)
		}
		if r, err = r.With(name, on); err != nil {
			return Release{}, err
		}
	}
	return r, nil
}

func parseVersion(text string) (Release, bool) {
	// What providers add, as in "1.34.4-gke.100", does not matter.
	if i := strings.IndexAny(text, "-+"); i >= 0 {
		text = text[:i]
	}
	parts := strings.Split(strings.TrimPrefix(text, "v"), ".")
	if len(parts) < 2 || len(parts) > 3 || parts[0] != "1" {
		return Release{}, false
	}
	minor, err := strconv.ParseUint(parts[1], 10, 8)
	if err != nil || minor < firstMinor || minor > uint64(lastMinor) {
		return Release{}, false
	}
	r := Release{minor: uint16(minor)}
	if len(parts) == 2 {
		return r, true
	}
	patch, err := strconv.ParseUint(parts[2], 10, 16)
	return r.At(int(patch)), err == nil && patch <= maxPatch
}

// MarshalText is [Release.String].
func (r Release) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText is [Parse].
func (r *Release) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err == nil {
		*r = parsed
	}
	return err
}

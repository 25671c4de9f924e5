// Package release names the releases of Kubernetes and their feature gates, as far as
// they change what the batch controllers or the API server decide.
//
// A [Release] is a value that can be compared, stored and used as a key:
//
//	r := release.V133()
//	other, err := release.Parse("1.33,JobPodReplacementPolicy=false")
//	patch := release.V135().At(4)
//
// job.Kubernetes and cronjob.Kubernetes turn it into options. The decisions for each release are
// compared with its controllers and its API server.
package release

import (
	"fmt"
	"strconv"
	"strings"
)

// Release is a release of Kubernetes, with the feature gates that are switched away from their
// defaults. Without a patch it stands for the newest patch that the library knows, see
// docs/releases.md. The zero value is [Newest] with its defaults. Releases can be compared with ==
// and used as keys.
type Release struct {
	// behind is the number of minor releases from this one to Newest, so that the zero value is
	// Newest.
	behind uint16
	// patch is the patch plus 1, or 0 without a patch.
	patch    uint16
	switched Gates
}

const (
	firstMinor = 31
	lastMinor  = firstMinor + len(newest) - 1
	maxPatch   = 1<<16 - 2
)

// newest is the newest patch of each minor release that the library knows.
var newest = [...]int{14, 13, 13, 10, 8, 5, 2}

// V131 returns Kubernetes 1.31, with default gates.
func V131() Release { return minor(31) }

// V132 returns Kubernetes 1.32, with default gates.
func V132() Release { return minor(32) }

// V133 returns Kubernetes 1.33, with default gates.
func V133() Release { return minor(33) }

// V134 returns Kubernetes 1.34, with default gates.
func V134() Release { return minor(34) }

// V135 returns Kubernetes 1.35, with default gates.
func V135() Release { return minor(35) }

// V136 returns Kubernetes 1.36, with default gates.
func V136() Release { return minor(36) }

// V137 returns Kubernetes 1.37, with default gates.
func V137() Release { return minor(37) }

// Newest returns the newest release that the library is compared with. docs/releases.md names its
// patch. The zero Release is the same. A later version of the library may return a newer release,
// and its changelog then lists that under Semantics.
func Newest() Release { return minor(lastMinor) }

func minor(n int) Release { return Release{behind: uint16(lastMinor - n)} }

// All returns the releases in order, each with default gates.
func All() []Release {
	var all []Release
	for n := firstMinor; n <= lastMinor; n++ {
		all = append(all, minor(n))
	}
	return all
}

// Minor returns the number after "1.".
func (r Release) Minor() int { return lastMinor - int(r.behind) }

// At returns the release with a patch. A patch below 0 counts as 0, and a patch above 65534 as
// 65534. No release has that many.
func (r Release) At(patch int) Release {
	r.patch = uint16(max(0, min(patch, maxPatch)) + 1)
	return r
}

// Patch returns the patch. Without one, it returns the newest patch that the library knows.
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

// IsBefore reports whether the release is older than another. Gates do not matter. Patches of a
// minor release are compared only if both are named.
func (r Release) IsBefore(other Release) bool {
	if r.Minor() == other.Minor() && r.HasPatch() && other.HasPatch() {
		return r.Patch() < other.Patch()
	}
	return r.Minor() < other.Minor()
}

// IsFrom reports whether the release has a change. Argument since lists the releases that brought
// it: each is the first patch of a minor release that has the change, or a minor release that has
// it from the beginning. Every later minor release has it as well.
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
	r.switched = Gates{}
	return r
}

// Has reports whether the gate is on: by default, because [Release.With] has switched it on, or
// because its code was removed, which made the gate permanent.
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

// With switches a gate on or off. It returns an error if the release does not have the gate, or if
// the gate is locked. The error lists the gates that can be switched. Switching a locked gate to
// the state that it has changes nothing.
func (r Release) With(gate Gate, on bool) (Release, error) {
	if !gate.isKnown() {
		return Release{}, r.refusal(gate.String(), isUnknown)
	}
	switch gate.state(r.Minor()) {
	case isAbsent:
		return Release{}, r.refusal(gate.String(), "does not exist in this release")
	case isLocked:
		if !on {
			return Release{}, r.refusal(gate.String(), isLockedOn)
		}
		return r, nil
	}

	r.switched = r.switched.Without(gate)
	if r.Has(gate) != on {
		r.switched = r.switched.With(gate)
	}
	return r, nil
}

// withNamed is With for the name of a gate. The gate may also be one that is locked in every
// release.
func (r Release) withNamed(name string, on bool) (Release, error) {
	gate := gateOf(name)
	switch {
	case gate != 0:
		return r.With(gate, on)
	case !isPermanent(name):
		return Release{}, r.refusal(name, isUnknown)
	case !on:
		return Release{}, r.refusal(name, isLockedOn)
	}
	return r, nil
}

const (
	isUnknown  = "is not known"
	isLockedOn = "is locked to true"
)

func (r Release) refusal(gate, problem string) error {
	choices := "no gate can be switched"
	if can := r.Switchable(); !can.IsZero() {
		choices = "can be switched: " + strings.ReplaceAll(can.String(), ",", ", ")
	}
	return fmt.Errorf("gate %q of Kubernetes 1.%d %s: %s", gate, r.Minor(), problem, choices)
}

// Switchable returns the gates that can be switched in the release.
func (r Release) Switchable() (gates Gates) {
	for gate := Gate(1); gate.isKnown(); gate++ {
		if s := gate.state(r.Minor()); s == isOn || s == isOff {
			gates = gates.With(gate)
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
		if r, err = r.withNamed(name, on); err != nil {
			return Release{}, err
		}
	}
	return r, nil
}

func parseVersion(text string) (Release, bool) {
	// Suffixes of providers, as in "1.34.4-gke.100", do not matter.
	if i := strings.IndexAny(text, "-+"); i >= 0 {
		text = text[:i]
	}
	parts := strings.Split(strings.TrimPrefix(text, "v"), ".")
	if len(parts) < 2 || len(parts) > 3 || parts[0] != "1" {
		return Release{}, false
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil || n < firstMinor || n > lastMinor {
		return Release{}, false
	}
	r := minor(n)
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

// Package release names the releases of Kubernetes and their feature gates, as far as
// they change what the batch controllers or the API server decide.
//
// A [Release] is a number, so it can be compared, stored and used as a key:
//
//	r := release.V133
//	other, err := release.Parse("1.33,JobPodReplacementPolicy=false")
//	patch := release.V135.At(4)
//
// [job.Kubernetes] and [cronjob.Kubernetes] turn it into options. Each is compared with the
// controllers and the API server's code of that release.
//
// [job.Kubernetes]: https://pkg.go.dev/github.com/batchplan/batchplan/job#Kubernetes
// [cronjob.Kubernetes]: https://pkg.go.dev/github.com/batchplan/batchplan/cronjob#Kubernetes
package release

import (
	"fmt"
	"strconv"
	"strings"
)

// Release is a release of Kubernetes, with the feature gates that are switched away from their
// defaults. One without a patch stands for the newest patch that the library knows, which
// docs/releases.md says. The zero value is [Newest] with its defaults.
type Release uint32

// The minor releases, with default gates.
const (
	V131 Release = 31 + iota
	V132
	V133
	V134
	V135
	V136
	V137
)

// Newest is the newest release that the library is compared with, whose patch docs/releases.md
// says, and what the zero value of a Release means. It moves with a version of the library whose
// changelog says so under Semantics.
const Newest = V137

const first, last = V131, Newest

// All returns the releases in order, each with default gates.
func All() []Release {
	var all []Release
	for r := first; r <= last; r++ {
		all = append(all, r)
	}
	return all
}

// Minor returns the number after "1.".
func (r Release) Minor() int {
	if m := r & minorBits; m != 0 {
		return int(m)
	}
	return int(Newest)
}

// The low bits of a Release are its minor number, then come the gates that are switched, and one
// more than the patch, or 0 without one.
const (
	minorBits  = 1<<8 - 1
	gateShift  = 8
	patchShift = 24
	patchBits  = (1<<8 - 1) << patchShift
	maxPatch   = 1<<8 - 2
)

// newest is the newest patch of each minor release that the library knows.
var newest = [...]int{14, 13, 13, 10, 8, 5, 2}

func (r Release) switched() Gates { return Gates(r >> gateShift) }

// At returns the release with a patch, which is limited to 0 to 254.
func (r Release) At(patch int) Release {
	number := Release(max(0, min(patch, maxPatch)) + 1)
	return Release(r.Minor()) | r&^(minorBits|patchBits) | number<<patchShift
}

// Patch returns the patch. Without one it is the newest that the library knows.
func (r Release) Patch() int {
	if r.HasPatch() {
		return int(r>>patchShift) - 1
	}
	return newest[r.Minor()-int(first)]
}

// HasPatch reports whether the release names a patch.
func (r Release) HasPatch() bool { return r&patchBits != 0 }

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
func (r Release) Defaults() Release { return Release(r.Minor()) | r&patchBits }

// Has reports whether all the gates are on.
func (r Release) Has(gates Gates) bool { return r.On()&gates == gates }

// On returns the gates that are on: those that are, and those whose code was removed
// since, which made them permanent.
func (r Release) On() (on Gates) {
	for i := range table {
		if table[i].effective(r.Minor()) {
			on |= 1 << i
		}
	}
	return on ^ r.switched()
}

// Off returns the gates that are off, and those that the release does not have yet.
func (r Release) Off() Gates { return ^r.On() & (1<<len(table) - 1) }

// With switches a gate. An error says that the release does not have it, or that it is
// locked, and lists the gates that can be switched.
func (r Release) With(gate string, on bool) (Release, error) {
	r = Release(r.Minor()) | r&^minorBits
	i := indexOf(gate)
	problem := ""
	switch {
	case i < 0 && !isPermanent(gate):
		problem = "is not known"
	case i < 0:
		problem = "is locked to true"
	default:
		switch table[i].state(r.Minor()) {
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
		return 0, fmt.Errorf("gate %q of Kubernetes 1.%d %s: %s", gate, r.Minor(), problem, choices(r))
	}
	bit := Release(1) << i << gateShift
	if r.Has(1<<i) != on {
		r ^= bit
	}
	return r, nil
}

func choices(r Release) string {
	names := r.Switchable()
	if len(names) == 0 {
		return "no gate can be switched"
	}
	return "can be switched: " + strings.Join(names, ", ")
}

// Switchable returns the names of the gates that can be switched in the release.
func (r Release) Switchable() (names []string) {
	for i := range table {
		if s := table[i].state(r.Minor()); s == isOn || s == isOff {
			names = append(names, table[i].name)
		}
	}
	return names
}

// String returns the release and the gates that are switched, such as
// "1.33,JobManagedBy=false". [Parse] reads it.
func (r Release) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "1.%d", r.Minor())
	if r.HasPatch() {
		fmt.Fprintf(&b, ".%d", r.Patch())
	}
	for i := range table {
		if gate := Gates(1) << i; r.switched()&gate != 0 {
			fmt.Fprintf(&b, ",%s=%t", table[i].name, r.Has(gate))
		}
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
		return 0, fmt.Errorf("release %q is not known: want one of %s", version, strings.Join(known, ", "))
	}
	for gate := range strings.SplitSeq(gates, ",") {
		if gate = strings.TrimSpace(gate); gate == "" {
			continue
		}
		name, value, _ := strings.Cut(gate, "=")
		on, err := strconv.ParseBool(value)
		if err != nil {
			return 0, fmt.Errorf("gate %q: want %s=true or %s=false", gate, name, name)
		}
		if r, err = r.With(name, on); err != nil {
			return 0, err
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
		return 0, false
	}
	minor, err := strconv.ParseUint(parts[1], 10, 8)
	r := Release(minor)
	if err != nil || r < first || r > last {
		return 0, false
	}
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

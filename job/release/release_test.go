package release

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/testfile"
)

func TestParse(t *testing.T) {
	tests := []struct {
		text, want, err string
	}{
		{"1.31", "1.31", ""},
		{"v1.33.13", "1.33.13", ""},
		{"1.35.0", "1.35.0", ""},
		{"1.35.4,MutablePodResourcesForSuspendedJobs=true", "1.35.4,MutablePodResourcesForSuspendedJobs=true", ""},
		{"1.35.255", "1.35.255", ""},
		{"1.35.65535", "", "is not known"},
		{"1.30.2", "", "want one of 1.31, 1.32, 1.33, 1.34, 1.35, 1.36, 1.37"},
		{"1.34.4-gke.1000", "1.34.4", ""},
		{"1.36 , MutablePodResourcesForSuspendedJobs=true", "1.36", ""},
		{"1.33,JobManagedBy=false", "1.33,JobManagedBy=false", ""},
		{"1.31,JobManagedBy=true,JobSuccessPolicy=false,", "1.31,JobManagedBy=true,JobSuccessPolicy=false", ""},
		{"1.33,JobManagedBy=false,JobManagedBy=true", "1.33", ""},
		{"1.33,JobSuccessPolicy=true", "1.33", ""},
		{"1.33,JobPodFailurePolicy=true", "1.33", ""},
		{"1.33,JobSuccessPolicy=false", "", `gate "JobSuccessPolicy" of Kubernetes 1.33 is locked to true: can be switched: JobManagedBy, JobPodReplacementPolicy`},
		{"1.36,ElasticIndexedJob=false", "", "is locked to true: can be switched: Mutable"},
		{"1.33,StaleControllerConsistencyJob=true", "", "does not exist in this release"},
		{"1.33,GangOfJobs=true", "", `gate "GangOfJobs" of Kubernetes 1.33 is not known: can be switched: JobManagedBy`},
		{"1.33,JobManagedBy", "", "want JobManagedBy=true or JobManagedBy=false"},
		{"1.33,JobManagedBy=maybe", "", "want JobManagedBy=true"},
		{"1.99", "", "is not known"},
		{"2.33", "", "is not known"},
		{"1.36.x", "", "is not known"},
		{"1.36.1.2", "", "is not known"},
		{"", "", "is not known"},
	}

	for _, test := range tests {
		r, err := Parse(test.text)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("Parse(%q): error %v, want %q", test.text, err, test.err)
			}
			continue
		}

		if err != nil || r.String() != test.want {
			t.Errorf("Parse(%q) = %v, %v, want %s", test.text, r, err, test.want)
		}
		if again, err := Parse(r.String()); err != nil || again != r {
			t.Errorf("%v reads as %v, %v", r, again, err)
		}

		data, _ := json.Marshal(r)
		var again Release
		if err := json.Unmarshal(data, &again); err != nil || again != r {
			t.Errorf("%s reads as %v, %v", data, again, err)
		}
	}
}

// TestOff: the gates that are off in each release are those in docs/releases.md.
func TestOff(t *testing.T) {
	newer := GatesOf(MutableSchedulingDirectivesForSuspendedJobs, MutablePodResourcesForSuspendedJobs,
		StaleControllerConsistencyJob, WorkloadWithJob)
	for r, want := range map[Release]Gates{
		V131(): newer.With(JobManagedBy),
		V132(): newer,
		V135(): newer,
		V136(): GatesOf(WorkloadWithJob),
		{}:     GatesOf(WorkloadWithJob),
	} {
		all := slices.Sorted(r.On().With(slices.Collect(r.Off().All())...).All())
		if r.Off() != want || len(all) != len(table) || r.On().Without(all...) != (Gates{}) {
			t.Errorf("%v: off %v, want %v, on %v", r, r.Off(), want, r.On())
		}
		for _, gate := range all {
			if r.Has(gate) == want.Has(gate) || r.Off().Has(gate) != want.Has(gate) ||
				r.On().Has(gate) == want.Has(gate) {
				t.Errorf("%v: %v is on: %t, want %t", r, gate, r.Has(gate), !want.Has(gate))
			}
		}
	}

	r, err := V135().With(MutablePodResourcesForSuspendedJobs, true)
	if err != nil || !r.Has(MutablePodResourcesForSuspendedJobs) || r.Has(StaleControllerConsistencyJob) || r.Has(0) ||
		r.Has(WorkloadWithJob+1) || r.Defaults() != V135() {
		t.Errorf("%v, %v: on %v", r, err, r.On())
	}
}

func TestZero(t *testing.T) {
	var r Release
	if r != Newest() || r.String() != "1.37" || r.Defaults() != Newest() || !V136().IsBefore(r) ||
		r.IsBefore(Newest()) {
		t.Errorf("the zero release is %v", r)
	}
	if set, err := r.With(StaleControllerConsistencyJob, false); err != nil ||
		set.String() != "1.37,StaleControllerConsistencyJob=false" {
		t.Errorf("%v, %v", set, err)
	}
}

// TestPatches: patches order the releases of a minor version. A release without a patch is not
// before any of its patches.
func TestPatches(t *testing.T) {
	old, next := V135().At(4), V135().At(8)
	if old == next || old == V135() || V135().Patch() != 8 || old.Patch() != 4 || V135().HasPatch() || !old.HasPatch() {
		t.Errorf("%v, %v and %v: patches %d, %d and %d", old, next, V135(), old.Patch(), next.Patch(), V135().Patch())
	}
	if all := All(); all[len(all)-1] != Newest() || Newest().Minor() != lastMinor || all[0] != V131() {
		t.Errorf("%d releases to %v, and newest patches of %d", len(all), Newest(), len(newest))
	}
	for _, test := range []struct {
		r, other Release
		want     bool
	}{
		{old, next, true}, {next, old, false}, {old, old, false}, {V135(), next, false}, {V135(), V135().At(9), false},
		{old, V135(), false}, {old, V136(), true}, {V136(), next, false}, {V134(), old, true}, {Release{}.At(1), Newest().At(2), true},
	} {
		if got := test.r.IsBefore(test.other); got != test.want {
			t.Errorf("%v is before %v: %t", test.r, test.other, got)
		}
	}

	mended := []Release{V134().At(10), V135().At(8), V136()}
	for r, want := range map[Release]bool{
		V133(): false, V134().At(9): false, V134().At(10): true, V134(): true,
		V135().At(7): false, V135().At(8): true, V135(): true,
		V136().At(0): true, V137(): true, {}: true,
	} {
		if r.IsFrom(mended...) != want {
			t.Errorf("%v has what came with %v: %t", r, mended, !want)
		}
	}

	// With a patch, gates can be switched as without one.
	gated, err := old.With(MutablePodResourcesForSuspendedJobs, true)
	if err != nil || gated.Patch() != 4 || gated.Defaults() != old || gated.At(8).On() != gated.On() {
		t.Errorf("%v, %v: defaults %v", gated, err, gated.Defaults())
	}
}

// TestTable: each gate has a name, and a state for each release.
func TestTable(t *testing.T) {
	all := strings.Split(names, "|")
	if len(all) != len(table) || JobManagedBy != 1 || WorkloadWithJob != Gate(len(table)) {
		t.Fatalf("%d names, %d rows", len(all), len(table))
	}
	for i, row := range table {
		if row.name != all[i] || len(row.states) != len(All()) || strings.Trim(row.states, ".-+L") != "" {
			t.Errorf("row %d: %+v, name %s", i, row, all[i])
		}
		var again Gates
		gate := Gate(i + 1)
		if gate.String() != row.name || again.UnmarshalText([]byte(row.name)) != nil || again != GatesOf(gate) ||
			again.String() != row.name {
			t.Errorf("%s prints as %v and reads as %v", row.name, gate, again)
		}
	}
}

// TestTableIsDocumented: docs/releases.md has the table, and the newest patches.
func TestTableIsDocumented(t *testing.T) {
	text := testfile.Read(t, "../../docs/releases.md")
	intro, _, _ := strings.Cut(text, "## Gates")
	for _, r := range All() {
		if patch := r.At(r.Patch()).String(); !strings.Contains(intro, patch) {
			t.Errorf("docs/releases.md lacks %s", patch)
		}
	}
	for _, row := range table {
		line := "\n| " + row.name
		for _, state := range []byte{isOff, isOn, isLocked} {
			line += " | "
			if i := strings.IndexByte(row.states, state); i >= 0 {
				line += All()[i].String()
			}
		}
		if line += " |\n"; !strings.Contains(text, line) {
			t.Errorf("docs/releases.md lacks %q", line)
		}
	}
}

package release

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/testfile"
)

func TestParse(t *testing.T) {
	tests := []struct {
		text, want, err string
	}{
		{"1.31", "1.31", ""},
		{"v1.33.13", "1.33", ""},
		{"1.30.2", "", "want one of 1.31, 1.32, 1.33, 1.34, 1.35, 1.36, 1.37"},
		{"1.34.4-gke.1000", "1.34", ""},
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

// The gates of each release, as docs/releases.md has them.
func TestOff(t *testing.T) {
	for r, want := range map[Release]Gates{
		V131: JobManagedBy | MutableSchedulingDirectivesForSuspendedJobs | MutablePodResourcesForSuspendedJobs | StaleControllerConsistencyJob | WorkloadWithJob,
		V132: MutableSchedulingDirectivesForSuspendedJobs | MutablePodResourcesForSuspendedJobs | StaleControllerConsistencyJob | WorkloadWithJob,
		V135: MutableSchedulingDirectivesForSuspendedJobs | MutablePodResourcesForSuspendedJobs | StaleControllerConsistencyJob | WorkloadWithJob,
		V136: WorkloadWithJob,
		0:    WorkloadWithJob,
	} {
		if r.Off() != want || r.On()&want != 0 || r.On()|want != 1<<len(table)-1 {
			t.Errorf("%v: off %v, want %v", r, r.Off(), want)
		}
	}
	r, err := V135.With("MutablePodResourcesForSuspendedJobs", true)
	if err != nil || !r.Has(MutablePodResourcesForSuspendedJobs) || r.Has(MutablePodResourcesForSuspendedJobs|StaleControllerConsistencyJob) || r.Defaults() != V135 {
		t.Errorf("%v, %v: on %v", r, err, r.On())
	}
}

func TestZero(t *testing.T) {
	var r Release
	if r.String() != "1.37" || r.Defaults() != Newest || !V136.IsBefore(r) || r.IsBefore(Newest) {
		t.Errorf("the zero release is %v", r)
	}
	if set, err := r.With("StaleControllerConsistencyJob", false); err != nil || set.String() != "1.37,StaleControllerConsistencyJob=false" {
		t.Errorf("%v, %v", set, err)
	}
}

// Each gate has its name, and a state for each release.
func TestTable(t *testing.T) {
	all := strings.Split(names, "|")
	if len(all) != len(table) || JobManagedBy != 1 || WorkloadWithJob != 1<<(len(table)-1) {
		t.Fatalf("%d names, %d rows", len(all), len(table))
	}
	for i, row := range table {
		if row.name != all[i] || len(row.states) != len(All()) || strings.Trim(row.states, ".-+L") != "" {
			t.Errorf("row %d: %+v, name %s", i, row, all[i])
		}
		var again Gates
		if gate := Gates(1) << i; gate.String() != row.name || again.UnmarshalText([]byte(row.name)) != nil || again != gate {
			t.Errorf("%s prints as %v and reads as %v", row.name, gate, again)
		}
	}
}

// The documentation has the table.
func TestTableIsDocumented(t *testing.T) {
	text := testfile.Read(t, "../../docs/releases.md")
	for _, row := range table {
		line := "\n| " + row.name
		for _, state := range []byte{isOff, isOn, isLocked} {
			line += " | "
			if i := strings.IndexByte(row.states, state); i >= 0 {
				line += (first + Release(i)).String()
			}
		}
		if line += " |\n"; !strings.Contains(text, line) {
			t.Errorf("docs/releases.md lacks %q", line)
		}
	}
}

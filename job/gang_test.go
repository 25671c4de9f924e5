package job

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobpod"
)

// gangOf returns a spec of three pods in a gang. Its arguments are the JSON of the gang and of
// further fields.
func gangOf(size, more string) string {
	return `{"parallelism": 3, "completions": 3, "scheduling": {"schedulingPolicy": {"gang": {` + size + `}}}` + more + `}`
}

// groupsOf prints in one line how a plan treats groups: its writes, the group of its pods, and its
// notes.
func groupsOf(p *Plan) string {
	var out []string
	for _, g := range p.Groups {
		verb := "create"
		if g.UID != "" {
			verb = "resize " + string(g.UID)
		}
		out = append(out, fmt.Sprintf("%s %s %s %s %d", verb, g.Kind, g.Name, g.Template, g.MinCount))
	}
	if len(p.Create) > 0 {
		out = append(out, fmt.Sprintf("pods in %q", p.Create[0].Group.Name))
	}
	for _, n := range p.Notes {
		out = append(out, n.Field+" "+n.Value)
	}
	return cmp.Or(strings.Join(out, "; "), "nothing")
}

func TestJ44_Groups(t *testing.T) {
	const (
		workload = "j-746d6c8fd8"
		group    = "j-746d6c8fd8-j-pgt-0-5c688747d9"
		made     = "create Workload " + workload + " j-pgt-0 %d; create PodGroup " + group + " j-pgt-0 %d; pods in \"" + group + "\""
	)
	own := func(size int32) jobgroup.Workload {
		return jobgroup.Workload{Ref: jobgroup.Ref{Name: "w", UID: "uid-w"},
			Templates: []jobgroup.Template{{Name: "t", MinCount: size}}}
	}
	member := func(name string, size int32) jobgroup.PodGroup {
		return jobgroup.PodGroup{Ref: jobgroup.Ref{Name: name, UID: UID("uid-" + name)}, Workload: "w", MinCount: size}
	}
	has := func(w []jobgroup.Workload, g ...jobgroup.PodGroup) func(*Snapshot) {
		return func(s *Snapshot) { s.Groups.Workloads, s.Groups.PodGroups = w, g }
	}
	lent := func(template string, w ...jobgroup.Workload) func(*Snapshot) {
		return func(s *Snapshot) { s.Groups = jobgroup.Groups{Controlled: true, Template: &template, Workloads: w} }
	}
	all := func(changes ...func(*Snapshot)) func(*Snapshot) {
		return func(s *Snapshot) {
			for _, change := range changes {
				change(s)
			}
		}
	}
	started := func(s *Snapshot) { s.Job.Status.StartTime = s.Now }
	foreign := own(3)
	foreign.Foreign = true
	two := own(3)
	two.Templates = append(two.Templates, jobgroup.Template{Name: "u", MinCount: 4})
	other := member("g", 3)
	other.Foreign = true
	elsewhere := member("g", 3)
	elsewhere.Workload = "x"

	for _, test := range []struct {
		name, spec string
		change     func(*Snapshot)
		want       string
	}{
		// Which jobs get groups.
		{"a job without a policy is in a group that is no gang", `{}`, nil, fmt.Sprintf(made, 0, 0)},
		{"basic is the same", `{"scheduling": {"schedulingPolicy": {"basic": {}}}}`, nil, fmt.Sprintf(made, 0, 0)},
		{"a gang has the size of parallelism", gangOf("", ""), nil, fmt.Sprintf(made, 3, 3)},
		{"a gang has the size that is asked for", gangOf(`"minCount": 2`, ""), nil, fmt.Sprintf(made, 2, 2)},
		{"a gang of no pods has the size 1", `{"parallelism": 0, "scheduling": {"schedulingPolicy": {"gang": {}}}}`, nil,
			strings.TrimSuffix(fmt.Sprintf(made, 1, 1), `; pods in "`+group+`"`)},
		{"a gang that the job never fills", `{"parallelism": 3, "completions": 2, "scheduling": {"schedulingPolicy": {"gang": {}}}}`, nil, fmt.Sprintf(made, 3, 3) + "; job.spec.completions 2"},
		{"a gang without completions", `{"parallelism": 3, "scheduling": {"schedulingPolicy": {"gang": {}}}}`, nil, fmt.Sprintf(made, 3, 3)},
		{"a job that is created suspended", gangOf("", `, "suspend": true`), nil,
			strings.TrimSuffix(fmt.Sprintf(made, 3, 3), `; pods in "`+group+`"`)},
		{"the option is off", `{}`, func(s *Snapshot) { s.Options.Gangs = false }, `pods in ""`},
		{"the option is off, and a gang is asked for", gangOf("", ""), func(s *Snapshot) { s.Options.Gangs = false },
			`pods in ""; job.spec.scheduling {"schedulingPolicy":{"gang":{}}}`},
		{"the template names a group", gangOf("", ""), func(s *Snapshot) { s.Groups.Preset = true }, `pods in ""`},
		{"a controller owns the job", `{}`, func(s *Snapshot) { s.Groups.Controlled = true }, `pods in ""`},
		{"a controller owns the job that asks for a gang", gangOf("", ""), func(s *Snapshot) { s.Groups.Controlled = true },
			`pods in ""; job.spec.scheduling {"schedulingPolicy":{"gang":{}}}`},
		{"an annotation without a controller", `{}`, func(s *Snapshot) { s.Groups.Template = new(string) }, fmt.Sprintf(made, 0, 0)},

		// Only new jobs.
		{"a job that has a start time", gangOf("", ""), started, `pods in ""; snapshot.groups.workloads none of the job, which has run already`},
		{"an older job that asks for no gang", `{}`, started, `pods in ""`},
		{"a job that has a success", gangOf("", ""), func(s *Snapshot) { s.Job.Status.Succeeded = 1 }, `pods in ""; snapshot.groups.workloads none of the job, which has run already`},
		{"a job that has a failure", gangOf("", ""), func(s *Snapshot) { s.Job.Status.Failed = 1 }, `pods in ""; snapshot.groups.workloads none of the job, which has run already`},
		{"a job that was resumed", gangOf("", ""), func(s *Snapshot) {
			s.Job.Status.Conditions = []Condition{{Type: ConditionSuspended, Status: ConditionFalse}}
		}, `pods in ""; snapshot.groups.workloads none of the job, which has run already`},
		{"a job that has a pod", gangOf("", ""), func(s *Snapshot) { s.Pods = []Pod{activePod("a")} }, `pods in ""; snapshot.groups.workloads none of the job, which has run already`},
		{"a job that has a pod that ended", gangOf("", ""), func(s *Snapshot) { s.Pods = []Pod{endedPod("a", PodFailed)} },
			`pods in ""; snapshot.groups.workloads none of the job, which has run already`},
		{"a pod of another", gangOf("", ""), func(s *Snapshot) { p := activePod("a"); p.Owner = jobpod.Foreign; s.Pods = []Pod{p} }, fmt.Sprintf(made, 3, 3)},
		{"a job that is being deleted", gangOf("", ""), func(s *Snapshot) { s.Job.DeletionTimestamp = s.Now },
			strings.TrimSuffix(fmt.Sprintf(made, 3, 3), `; pods in "`+group+`"`)},

		// Existing workloads and groups.
		{"both exist", gangOf("", ""), all(started, has([]jobgroup.Workload{own(3)}, member("g", 3))), `pods in "g"`},
		{"the group is missing", gangOf("", ""), has([]jobgroup.Workload{own(3)}), `create PodGroup w-t-56b6fd67c8 t 3; pods in "w-t-56b6fd67c8"`},
		{"the group of a job that has run is missing", gangOf("", ""), all(started, has([]jobgroup.Workload{own(3)})), `pods in ""; snapshot.groups.podGroups none of the job, which has run already`},
		{"the group that is no gang is missing", `{}`, all(started, has([]jobgroup.Workload{own(0)})), `pods in ""`},
		{"a workload of another", gangOf("", ""), has([]jobgroup.Workload{foreign}), fmt.Sprintf(made, 3, 3)},
		{"a group of another", gangOf("", ""), has([]jobgroup.Workload{own(3)}, other), `create PodGroup w-t-56b6fd67c8 t 3; pods in "w-t-56b6fd67c8"`},
		{"a group of another workload", gangOf("", ""), has([]jobgroup.Workload{own(3)}, elsewhere), `create PodGroup w-t-56b6fd67c8 t 3; pods in "w-t-56b6fd67c8"`},
		{"two workloads", gangOf("", ""), has([]jobgroup.Workload{own(3), own(3)}), `pods in ""; snapshot.groups.workloads 2 of the job`},
		{"two groups", gangOf("", ""), has([]jobgroup.Workload{own(3)}, member("g", 3), member("h", 3)), `pods in ""; snapshot.groups.podGroups 2 of the job`},
		{"two templates", gangOf("", ""), has([]jobgroup.Workload{two}), "groups.workloads: \"w\": must have exactly one template, has 2"},
		{"no template", gangOf("", ""), has([]jobgroup.Workload{{Ref: jobgroup.Ref{Name: "w", UID: "u"}}}), "groups.workloads: \"w\": must have exactly one template, has 0"},

		// J45: the size.
		{"a gang of another size", gangOf("", ""), all(started, has([]jobgroup.Workload{own(2)}, member("g", 4))), `resize uid-w Workload w t 3; resize uid-g PodGroup g t 3; pods in "g"`},
		{"only the group has another size", gangOf("", ""), all(started, has([]jobgroup.Workload{own(3)}, member("g", 4))), `resize uid-g PodGroup g t 3; pods in "g"`},
		{"the workload has another size, and the group is missing", gangOf("", ""), has([]jobgroup.Workload{own(2)}), `resize uid-w Workload w t 3; create PodGroup w-t-56b6fd67c8 t 3; pods in "w-t-56b6fd67c8"`},
		{"the workload is no gang", gangOf("", ""), has([]jobgroup.Workload{own(0)}, member("g", 0)), `pods in "g"`},
		{"the workload is no gang, and the group is one", gangOf("", ""), has([]jobgroup.Workload{own(0)}, member("g", 4)), `resize uid-g PodGroup g t 3; pods in "g"`},
		{"the workload is a gang of another size, and the group is none", gangOf("", ""), has([]jobgroup.Workload{own(2)}, member("g", 0)), `resize uid-w Workload w t 3; pods in "g"`},
		{"the job asks for no gang any more, and the group has another size", `{}`, has([]jobgroup.Workload{own(3)}, member("g", 2)), `pods in "g"`},
		{"the job asks for no gang any more", `{}`, has([]jobgroup.Workload{own(3)}, member("g", 3)), `pods in "g"`},
		{"two groups of another size", gangOf("", ""), has([]jobgroup.Workload{own(2)}, member("g", 3), member("h", 3)),
			`resize uid-w Workload w t 3; pods in ""; snapshot.groups.podGroups 2 of the job`},
		{"a suspended job", gangOf("", `, "suspend": true`), all(started, has([]jobgroup.Workload{own(2)}, member("g", 2))), `resize uid-w Workload w t 3; resize uid-g PodGroup g t 3`},

		// J44: the job's controller has the workload.
		{"a template is lent", gangOf("", ""), lent("u", two), `create PodGroup w-u-56cfc9fff7 u 4; pods in "w-u-56cfc9fff7"`},
		{"the first template is lent", gangOf("", ""), lent("", two), `create PodGroup w-t-56b6fd67c8 t 3; pods in "w-t-56b6fd67c8"`},
		{"the first workload by name", gangOf("", ""), lent("t", jobgroup.Workload{Ref: jobgroup.Ref{Name: "x", UID: "u"}, Templates: two.Templates}, two), `create PodGroup w-t-56b6fd67c8 t 3; pods in "w-t-56b6fd67c8"`},
		{"a group has the size of the template", gangOf("", ""), all(started, lent("u", two), func(s *Snapshot) { s.Groups.PodGroups = []jobgroup.PodGroup{member("g", 3)} }),
			`resize uid-g PodGroup g u 4; pods in "g"`},
		{"no workload is lent", `{}`, lent("t"), `pods in ""; snapshot.groups.workloads none of the job's controller`},
		{"a template that is not there is lent", `{}`, lent("v", two), `pods in ""; snapshot.groups.template "v" is not in the workload w`},
		{"a template is lent to a job that has run", `{}`, all(started, lent("u", two)), `pods in ""; snapshot.groups.podGroups none of the job, which has run already`},
	} {
		s := snapshotOf(t, test.spec)
		s.Job.Status.StartTime, s.Options.Gangs = time.Time{}, true
		if test.change != nil {
			test.change(&s)
		}
		plan, err := Reconcile(s)
		got := groupsOf(&plan)
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// TestJ44_Names: a name is never too long, and differs between jobs.
func TestJ44_Names(t *testing.T) {
	long := strings.Repeat("a", 300)
	other := Job{Name: "j", UID: "job-2"}
	if a, b := workloadName(&Job{Name: "j", UID: "job-1"}), workloadName(&other); a == b {
		t.Errorf("two jobs have the workload %s", a)
	}

	for _, test := range []struct {
		workload, template string
		first, second      int // letters that are kept of each name
	}{
		{"w", "t", 1, 1},
		{long[:120], long[:121], 120, 121}, // 241 letters and a hash of 10 just fit
		{long[:120], long[:122], 120, 121},
		{long[:122], long[:120], 121, 120},
		{long[:200], long[:200], 122, 121}, // with a hash of 8
		{long[:200], "t", 200, 1},
		{long, "t", 240, 1},
		{"w", long, 1, 240},
	} {
		name := podGroupName(test.workload, test.template)
		parts := strings.Split(name, "-")
		if len(parts) != 3 || len(parts[0]) != test.first || len(parts[1]) != test.second || len(name) > 253 {
			t.Errorf("%d and %d letters: %s, %d letters", len(test.workload), len(test.template), name, len(name))
		}
	}

	if name := workloadName(&Job{Name: long, UID: "job-1"}); len(name) != 253 ||
		!strings.HasSuffix(name, "-746d6c8fd8") {
		t.Errorf("%s, %d letters", name, len(name))
	}
}

package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/describe"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/kubernetes/replica"
	"github.com/batchplan/batchplan/x/proof/conformance/theirs"
)

// shape is a job, with what must happen before the test looks at it.
type shape struct {
	exits  string
	change func(*batchv1.JobSpec)
	during func(p *place, name string)
	until  func(*batchv1.Job) bool
}

func isComplete(j *batchv1.Job) bool { return ended(j) != nil && ended(j).Type == complete }
func isFailed(j *batchv1.Job) bool   { return ended(j) != nil && ended(j).Type == failed }

func isSuspended(j *batchv1.Job) bool {
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobSuspended && c.Status == corev1.ConditionTrue
	})
}

var shapes = map[string]shape{
	"complete":  {exits: "0", until: isComplete},
	"several":   {exits: "0", change: func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = pointTo(int32(4)), pointTo(int32(2)) }, until: isComplete},
	"queue":     {exits: "0", change: func(s *batchv1.JobSpec) { s.Parallelism = pointTo(int32(3)) }, until: isComplete},
	"running":   {exits: "r", change: func(s *batchv1.JobSpec) { s.Parallelism = pointTo(int32(2)) }, until: running(2)},
	"pending":   {exits: "p", until: func(j *batchv1.Job) bool { return j.Status.Active == 1 }},
	"failed":    {exits: "1", change: limit(0), until: isFailed},
	"deadline":  {exits: "r", change: func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = pointTo(int64(2)) }, until: isFailed},
	"policy":    {exits: "3", change: podFailurePolicy(batchv1.PodFailurePolicyActionFailJob, 3), until: isFailed},
	"born":      {exits: "0", change: func(s *batchv1.JobSpec) { s.Suspend = pointTo(true) }, until: isSuspended},
	"indexed":   {exits: "0", change: indexed(3), until: isComplete},
	"per-index": {exits: "0,1,0", change: with(indexed(3), perIndex(0)), until: isFailed},
	"success": {exits: "0,r", change: with(indexed(2), func(s *batchv1.JobSpec) {
		s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: pointTo("0")}}}
	}), until: isComplete},
	"suspended": {exits: "r", during: func(p *place, name string) {
		p.await(name, "a running pod", running(1))
		p.change(name, `{"spec":{"suspend":true}}`)
	}, until: func(j *batchv1.Job) bool { return isSuspended(j) && j.Status.Active == 0 }},
	"resumed": {exits: "r0", during: func(p *place, name string) {
		p.await(name, "a running pod", running(1))
		p.change(name, `{"spec":{"suspend":true}}`)
		p.await(name, "no pod", func(j *batchv1.Job) bool { return isSuspended(j) && j.Status.Active == 0 })
		p.change(name, `{"spec":{"suspend":false}}`)
	}, until: isComplete},
}

// testColumns: kubectl get and kubectl describe show a job, a CronJob and their pods in the same
// way whether the built-in controllers run them, or ours.
func testColumns(t *testing.T, c *cluster) {
	theirPlace := c.newPlace(t)
	startTheirs(theirPlace)
	presets := map[string]replica.Planners{
		"recommended": {},
		"preset":      {Preset: replica.PresetKubernetes + release.Newest().String(), Job: job.Kubernetes(release.Newest()), CronJob: cronjob.Kubernetes(release.Newest())},
	}

	ourPlaces := map[string]*place{}
	for preset, planners := range presets {
		p := c.newPlace(t)
		config := p.config()
		config.ManagedBy, config.Planners = job.ControllerName, planners
		config.Controllers = []string{replica.Jobs, replica.Orphans, replica.CronJobs}
		p.start(config)
		ourPlaces[preset] = p
	}

	theirPlace.createAll()
	for _, p := range ourPlaces {
		p.createAll()
	}

	want := theirPlace.shown()
	for preset, p := range ourPlaces {
		got := p.shown()
		for what := range want {
			if got[what] != want[what] {
				t.Errorf("%s, with the options %s:\n%s\nwith the built-in controllers:\n%s", what, preset, got[what], want[what])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d things are shown, with the built-in controllers %d", len(got), len(want))
		}
	}
}

// startTheirs runs the built-in controllers of a place until the end of the test.
func startTheirs(p *place) {
	phases, stop := theirs.New(clientOf(p.T, p.Server.Config), theirs.Which{Jobs: true, CronJobs: true, Namespace: p.namespace})
	for _, begin := range phases {
		begin()
	}
	p.Cleanup(stop)
}

// createAll creates the jobs of all shapes, and CronJobs.
func (p *place) createAll() {
	p.Helper()
	for name, s := range shapes {
		j := jobOf(name, s.exits, s.change)
		j.Spec.ManagedBy = nil
		p.create(j)
	}
	p.createMissed("cron", 3, func(s *batchv1.CronJobSpec) { s.JobTemplate.Spec.ManagedBy = nil })
	p.createMissed("cron-running", 3, func(s *batchv1.CronJobSpec) {
		s.JobTemplate.Spec.ManagedBy = nil
		s.JobTemplate.Spec.Template.Annotations = map[string]string{exitsAnnotation: "r"}
	})
	p.createMissed("cron-suspended", 3, func(s *batchv1.CronJobSpec) { s.Suspend = pointTo(true) })
}

// shown returns what kubectl shows of the jobs, CronJobs and pods of a place when nothing changes
// any more.
func (p *place) shown() map[string]string {
	p.Helper()
	for name, s := range shapes {
		if s.during != nil {
			s.during(p, name)
		}
	}
	for name, s := range shapes {
		p.await(name, "its end", s.until)
	}

	p.until("the CronJob's job has ended", func() bool { return len(p.active("cron")) == 0 })
	p.until("the other one's runs", func() bool {
		list := p.pods("")
		return slices.ContainsFunc(list, func(pod corev1.Pod) bool {
			return strings.HasPrefix(pod.Name, "cron-running-") && pod.Status.Phase == corev1.PodRunning
		})
	})

	out := map[string]string{}
	for resource, kind := range map[string]schema.GroupKind{
		"jobs": {Group: "batch", Kind: "Job"}, "cronjobs": {Group: "batch", Kind: "CronJob"}, "pods": {Kind: "Pod"},
	} {
		p.show(out, resource, kind)
	}
	return out
}

// show adds the columns and the descriptions of one kind.
func (p *place) show(out map[string]string, resource string, kind schema.GroupKind) {
	p.Helper()
	describer, found := describe.DescriberFor(kind, p.Server.Config)
	if !found {
		p.Fatalf("nothing describes %v", kind)
	}
	for _, row := range p.table(resource) {
		name := fmt.Sprint(row.Cells[0])
		text, err := describer.Describe(p.namespace, name, describe.DescriberSettings{ShowEvents: true, ChunkSize: 500})
		must.OK(p, err)
		var cells []string
		for _, cell := range row.Cells {
			cells = append(cells, fmt.Sprint(cell))
		}
		p.add(out, "columns of "+resource+" "+name, strings.Join(cells, " | "))
		p.add(out, "description of "+resource+" "+name, text)
	}
}

// add adds a text without the parts that differ from run to run. Pods of one job then have the same
// name, so their texts are sorted.
func (p *place) add(out map[string]string, what, text string) {
	what, text = p.plain(what), p.plain(text)
	texts := append(strings.SplitAfter(out[what], "\n\n"), text+"\n\n")
	slices.Sort(texts)
	out[what] = strings.Join(texts, "")
}

// table returns what kubectl get -o wide prints.
func (p *place) table(resource string) []metav1.TableRow {
	p.Helper()
	var client rest.Interface = p.BatchV1().RESTClient()
	if resource == "pods" {
		client = p.CoreV1().RESTClient()
	}
	data, err := client.Get().Namespace(p.namespace).Resource(resource).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(p.Context()).Raw()
	must.OK(p, err)
	var table metav1.Table
	must.OK(p, json.Unmarshal(data, &table))
	if len(table.Rows) == 0 {
		p.Fatalf("no %s", resource)
	}
	return table.Rows
}

// different matches the parts that differ from run to run, with their replacements.
var different = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+]\d{4}`), "TIME"},
	{regexp.MustCompile(`(complete|several|queue|running|pending|failed|deadline|policy|born|indexed|per-index|success|suspended|resumed|cron-\d+|cron-running-\d+)(-\d+)?-[a-z0-9]{5}\b`), "$1$2-NAME"},
	{regexp.MustCompile(`(\d+[smhd])+( \(x\d+ over (\d+[smhd])+\))?`), "AGE"},
	{regexp.MustCompile(`batchplan-controller|job-controller|cronjob-controller`), "CONTROLLER"},
	{regexp.MustCompile(` +`), " "},
	{regexp.MustCompile(`-{4,}`), "-"},
}

// plain replaces the parts of a text that differ from run to run. It sorts the events, since the
// order of events within a second is random.
func (p *place) plain(text string) string {
	text = strings.ReplaceAll(text, p.namespace, "NAMESPACE")
	for _, d := range different {
		text = d.pattern.ReplaceAllString(text, d.by)
	}
	before, events, found := strings.Cut(text, "Events:")
	if !found {
		return text
	}
	lines := strings.Split(events, "\n")
	slices.Sort(lines)
	return before + "Events:" + strings.Join(lines, "\n")
}

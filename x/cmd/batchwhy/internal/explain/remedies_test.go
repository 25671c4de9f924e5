package explain_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/cronjobgen"
	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobadmit"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/explain"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// scene is the state of a cluster at a time. The test carries out remedies in it.
type scene struct {
	*read.Objects
	at time.Time
}

// clone copies the objects that acts change.
func (s scene) clone() scene {
	o := *s.Objects
	o.Jobs, o.CronJobs, o.Pods = copies(o.Jobs), copies(o.CronJobs), copies(o.Pods)
	return scene{&o, s.at}
}

func copies[T any](all []*T) (out []*T) {
	for _, p := range all {
		if p != nil {
			c := *p
			out = append(out, &c)
		}
	}
	return out
}

// job returns the Job of that name. It returns a manifest of that name only if there is no Job.
func (s scene) job(namespace, name string) (found *read.Job) {
	for _, j := range s.Jobs {
		if j != nil && j.Namespace == namespace && j.Name == name && (found == nil || found.IsManifest) {
			found = j
		}
	}
	return found
}

func (s scene) cronJob(namespace, name string) (found *read.CronJob) {
	for _, c := range s.CronJobs {
		if c != nil && c.Namespace == namespace && c.Name == name && (found == nil || found.IsManifest) {
			found = c
		}
	}
	return found
}

func (s scene) podsOf(j *read.Job) (all []*read.Pod) {
	for _, p := range s.Pods {
		if p != nil && p.Controller().UID == j.UID {
			all = append(all, p)
		}
	}
	return all
}

// finding returns the finding with a code about an object, or nil. If text is not empty, the
// finding must begin with the same words.
func (s scene) finding(x *explain.Explanation, code, text string) *explain.Finding {
	begin := text[:min(len(text), 20)]
	report := explain.All(s.Objects, explain.Options{At: s.at})
	for i := range report.Objects {
		o := &report.Objects[i]
		if o.Kind != x.Kind || o.Namespace != x.Namespace || o.Name != x.Name {
			continue
		}
		for k := range o.Findings {
			if o.Findings[k].Code == code && strings.HasPrefix(o.Findings[k].Text, begin) {
				return &o.Findings[k]
			}
		}
	}
	return nil
}

// price has the costs of a remedy's acts.
type price struct {
	repeated bool // work that was done or is going on is done again
	ended    bool // work is ended
	logs     bool // logs are lost
	twice    bool // two runs are active where the policy allows one
	fails    bool // a Job fails that would complete without the remedy
	starts   bool // a run starts that has not started so far
	both     bool // another remedy of the object starts a run by hand
	gone     bool // a Job that has ended is deleted at once
}

// unsaid names the costs that a remedy does not mention.
func (p price) unsaid(r *explain.Remedy) (all []string) {
	text := strings.ToLower(r.Do + " " + r.Risk)
	check := func(is bool, what string, words ...string) {
		if is && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) {
			all = append(all, what)
		}
	}
	check(p.repeated, "work is done again, unsaid", "done again", "retries", "do the same work")
	check(p.ended, "work is ended, unsaid", "ended", "deleted", "again", "end it", "same work")
	check(p.logs, "logs are lost, unsaid", "logs")
	check(p.twice, "a second run, unsaid", "beside", "overlap")
	check(p.fails, "the Job fails, unsaid", "fails")
	check(p.starts, "a run starts now, unsaid", "then starts", "starts soon", "starts immediately")
	check(p.gone, "the Job is deleted at once, unsaid", "immediately", "delete it")
	check(p.starts && p.both, "a run that another remedy starts by hand, unsaid", "as well", "that is not wanted", "latest run")
	return all
}

// hasRun reports whether a container has run, so that there are logs.
func hasRun(p *read.Pod) bool {
	return slices.ContainsFunc(p.Containers, func(c read.Container) bool { return c.Running || c.Ended || c.Last != nil })
}

// isGrouped reports whether a pod names a pod group, so that its Job is scheduled as a gang.
func isGrouped(p *read.Pod) bool { return p.Spec.Group != "" }

func isWorking(p *read.Pod) bool {
	return p.Object.Phase == job.PodRunning && p.Object.Deletion == nil &&
		slices.ContainsFunc(p.Containers, func(c read.Container) bool { return !c.Init && c.Running })
}

// do carries out an act. It returns the error of the API server.
func (s scene) do(a *explain.Act, cost *price) error {
	switch a.Verb {
	case explain.Patches:
		err := s.patch(a)
		if j := s.job(a.Namespace, a.Name); err == nil && a.Kind == "job" && j != nil {
			s.suspend(j, cost)
		}
		return err
	case explain.Edits:
		if j := s.job(a.Namespace, a.Name); a.Kind == "job" && j != nil {
			return jobadmit.ValidateTemplateUpdate(&j.Object, []byte(`{"spec":{"nodeSelector":{"a":"b"}}}`), []byte(`{}`),
				release.Newest())
		}
	case explain.Deletes:
		s.delete(a, cost)
	case explain.Ends:
		s.end(a)
	case explain.Starts:
		return s.start(a)
	}
	return nil
}

// suspend ends the pods of a Job that is suspended, as the controller does.
func (s scene) suspend(j *read.Job, cost *price) {
	if !value.Of(j.Object.Spec.Suspend) || j.Object.Status.Finished() != "" {
		return
	}
	for _, p := range s.podsOf(j) {
		if p.Object.Phase < job.PodSucceeded {
			cost.logs, cost.ended = cost.logs || hasRun(p), cost.ended || isWorking(p)
		}
	}
	j.Object.Status.Active = 0
	j.Object.Status.Conditions = append(slices.Clip(j.Object.Status.Conditions),
		job.Condition{Type: job.ConditionSuspended, Status: job.ConditionTrue, LastTransitionTime: s.at})
	s.Objects.Pods = slices.DeleteFunc(s.Objects.Pods, func(p *read.Pod) bool {
		return p.Controller().UID == j.UID && p.Object.Phase < job.PodSucceeded
	})
}

// patch applies a merge patch. It returns the error of the API server.
func (s scene) patch(a *explain.Act) error {
	var fields struct{ Metadata, Spec, Status map[string]json.RawMessage }
	if err := json.Unmarshal(a.Patch, &fields); err != nil {
		return err
	}
	switch a.Kind {
	case "job":
		j := s.job(a.Namespace, a.Name)
		if j != nil && fields.Metadata["finalizers"] != nil && !j.DeletionTimestamp.IsZero() {
			s.Objects.Jobs = slices.DeleteFunc(s.Objects.Jobs, func(other *read.Job) bool { return other == j })
		}
		if j == nil || fields.Spec == nil {
			return notThere(j == nil, a)
		}
		old, next := j.Object, overlaid(j.Object.Spec, fields.Spec)
		gangs := slices.ContainsFunc(s.podsOf(j), isGrouped)
		server, err := release.Newest().With(release.WorkloadWithJob, gangs)
		if err == nil {
			err = jobadmit.ValidateUpdate(&old, next, server)
		}
		if err != nil {
			return err
		}
		j.Object.Spec = next
	case "cronjob":
		c := s.cronJob(a.Namespace, a.Name)
		if c == nil {
			return notThere(true, a)
		}
		next := c.Object.Spec
		if fields.Spec != nil {
			next = overlaid(next, fields.Spec)
		}
		if err := cronjob.ValidateUpdate(&c.Object, next, release.Newest()); err != nil {
			return err
		}
		c.Object.Spec = next
		if active, ok := fields.Status["active"]; ok {
			c.Object.Status.Active = nil
			_ = json.Unmarshal(active, &c.Object.Status.Active)
		}
		if last, ok := fields.Status["lastScheduleTime"]; ok {
			_ = json.Unmarshal(last, &c.Object.Status.LastScheduleTime)
		}
		return s.patchTemplate(c, fields.Spec["jobTemplate"])
	case "pod":
		for _, p := range s.Pods {
			if p.Namespace != a.Namespace || p.Name != a.Name {
				continue
			}
			if fields.Metadata["finalizers"] != nil {
				p.Finalizers, p.Object.Untracked = nil, true
			}
			var annotations map[string]string
			_ = json.Unmarshal(fields.Metadata["annotations"], &annotations)
			if index, err := strconv.Atoi(annotations[job.IndexLabel]); err == nil {
				p.Object.Index = job.IndexAt(int32(index))
			}
		}
	}
	return nil
}

func notThere(is bool, a *explain.Act) error {
	if is {
		return fmt.Errorf("there is no %s %s", a.Kind, a.Name)
	}
	return nil
}

// overlaid returns an object with the fields of a merge patch. No such field may be an object.
func overlaid[T any](object T, fields map[string]json.RawMessage) (out T) {
	all := map[string]json.RawMessage{}
	for _, data := range []any{object, fields} {
		text, err := json.Marshal(data)
		if err == nil {
			err = json.Unmarshal(text, &all)
		}
		if err != nil {
			panic(err)
		}
	}
	text, _ := json.Marshal(all)
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	return out
}

// patchTemplate changes the spec of future Jobs.
func (s scene) patchTemplate(c *read.CronJob, template json.RawMessage) error {
	var fields struct{ Spec map[string]json.RawMessage }
	if template == nil || c.Jobs == nil {
		return nil
	}
	if err := json.Unmarshal(template, &fields); err != nil {
		return err
	}
	next := overlaid(*c.Jobs, fields.Spec)
	whole := next
	if job.Default(&whole); job.Validate(whole) != nil {
		return job.Validate(whole)
	}
	c.Jobs, c.JobsEnd, c.JobsSuspended = &next, next.ActiveDeadlineSeconds != nil, next.Suspend != nil && *next.Suspend
	return nil
}

// delete removes an object and what it owns.
func (s scene) delete(a *explain.Act, cost *price) {
	lose := func(p *read.Pod) {
		cost.logs = cost.logs || hasRun(p)
		cost.ended = cost.ended || isWorking(p)
	}
	switch a.Kind {
	case "pods", "jobs": // those that have ended
		for _, p := range s.Pods {
			cost.logs = cost.logs || p.Object.Phase >= job.PodSucceeded
		}
	case "job":
		j := s.job(a.Namespace, a.Name)
		if j == nil {
			return
		}
		for _, p := range s.podsOf(j) {
			lose(p)
		}
		s.Pods = slices.DeleteFunc(s.Pods, func(p *read.Pod) bool { return p.Controller().UID == j.UID })
		s.Jobs = slices.DeleteFunc(s.Jobs, func(o *read.Job) bool { return o == j })
	case "pod":
		for _, p := range s.Pods {
			if p.Namespace == a.Namespace && p.Name == a.Name {
				lose(p)
				cost.repeated = cost.repeated || isWorking(p)
			}
		}
		s.Pods = slices.DeleteFunc(s.Pods, func(p *read.Pod) bool { return p.Namespace == a.Namespace && p.Name == a.Name })
	}
}

// end lets a container end. If no other container runs, the pod ends as well.
func (s scene) end(a *explain.Act) {
	for _, p := range s.Pods {
		if p.Namespace != a.Namespace || p.Name != a.Name {
			continue
		}
		p.Containers = slices.Clone(p.Containers)
		running, code := false, int32(0)
		for i := range p.Containers {
			c := &p.Containers[i]
			if c.Name == a.Container {
				if j := s.job(p.Namespace, p.Controller().Name); a.Code != 0 && j != nil &&
					j.Object.Spec.Template.RestartPolicy == job.RestartOnFailure {
					c.Restarts++
				} else {
					c.Running, c.Ended, c.ExitCode, c.Since = false, true, a.Code, s.at
				}
			}
			running = running || c.Running && !c.Sidecar
			if !c.Init {
				code = max(code, c.ExitCode)
			}
		}
		if !running {
			world.FinishPod(&p.Object, s.at, code)
		}
	}
}

// start creates a Job by hand, as kubectl create job --from does.
func (s scene) start(a *explain.Act) error {
	if s.job(a.Namespace, a.Name) != nil {
		return fmt.Errorf("job %s exists already", a.Name)
	}
	return nil
}

// liveJob returns how a Job ends if all pods succeed from now on. lost and fails describe the first
// round: how many working pods it deletes, and whether the Job fails in it.
func (s scene) liveJob(t *testing.T, j *read.Job) (end job.ConditionType, lost int, fails bool) {
	t.Helper()
	w := world.NewJob(j.Object.Spec)
	w.Job, w.Now, w.Options, w.Consistent = j.Object, s.at, job.Kubernetes(release.Newest()), true
	for _, p := range s.podsOf(j) {
		pod := p.Object
		pod.Owner = job.OwnerOf(&w.Job, p.Controller().UID, p.Labels)
		w.AddPod(pod)
	}
	size := 0
	if p := j.Object.Spec.Scheduling; p != nil && slices.ContainsFunc(s.podsOf(j), isGrouped) {
		size = int(value.Of(cmp.Or(p.SchedulingPolicy.Gang.MinCount, j.Object.Spec.Parallelism)))
	}
	working := func() (n int) {
		for _, p := range w.Pods {
			if p.Phase == job.PodRunning && p.Deletion == nil {
				n++
			}
		}
		return n
	}

	for round := range 400 {
		before := working()
		if _, err := w.Round(); err != nil {
			return "", lost, false
		}
		if round == 0 {
			lost, fails = before-working(), w.Job.Status.Condition(job.ConditionFailureTarget).Status == job.ConditionTrue
		}
		if w.Job.Status.Finished() != "" {
			break
		}
		for _, p := range slices.Clone(w.Pods) {
			switch {
			case p.Deletion != nil || p.Phase == job.PodRunning && w.Now.Sub(s.at) > 0:
				w.Finish(p, 0)
			case len(w.Pods) >= size: // a smaller gang is not scheduled
				w.Run(p)
			}
		}
		w.Now = w.Now.Add(time.Minute)
	}
	j.Object.Status = w.Job.Status
	s.Objects.Pods = slices.DeleteFunc(s.Objects.Pods, func(p *read.Pod) bool { return p.Controller().UID == j.UID })
	for _, p := range w.Pods {
		s.Objects.Pods = append(s.Objects.Pods, seen(j, p))
	}
	return w.Job.Status.Finished(), lost, fails
}

// seen returns a pod of a world as an object of the input.
func seen(j *read.Job, p *job.Pod) *read.Pod {
	out := &read.Pod{Object: *p, Node: "node-a"}
	out.Namespace, out.Name, out.UID = j.Namespace, p.Name, p.UID
	out.Owners = []read.Owner{{Kind: "Job", Name: j.Name, UID: j.UID, Controller: true}}
	if p.Detail == nil {
		return out
	}
	out.CreationTimestamp = p.Detail.CreationTimestamp
	for _, c := range p.Detail.Containers {
		out.Containers = append(out.Containers, read.Container{
			Name: c.Name, Started: true, Restarts: c.Restarts,
			Running: c.State == jobpod.Running, Ended: c.State == jobpod.Terminated, ExitCode: c.ExitCode, Since: c.FinishedAt,
		})
	}
	return out
}

// startsBeside reports whether the next run of a CronJob starts beside a running Job that was started
// by hand.
func (s scene) startsBeside(t *testing.T, c *read.CronJob) bool {
	t.Helper()
	w := world.NewCronJob(c.Object, cronjob.Kubernetes(release.Newest()))
	w.Now = s.at
	w.Add(cronjob.Child{Name: "by-hand", UID: "by-hand", CreationTimestamp: s.at, StartTime: s.at})
	for range 50 {
		if _, err := w.Round(); err != nil || w.Requeue.At.IsZero() {
			return false
		}
		if len(w.Running()) > 1 {
			return true
		}
		for _, name := range w.Running() {
			if name != "by-hand" {
				w.Finish(name, cronjob.Complete)
			}
		}
		w.Now = w.Requeue.At
	}
	return false
}

// startsRun reports whether a change of a CronJob starts a run that would not start without it, now
// or when an active Job has ended. replaces is true if that run replaces a Job. If the remedy
// leaves the schedule or the zone to the user, startsRun tries several of them.
func (s scene) startsRun(c *read.CronJob, r *explain.Remedy) (starts, replaces bool) {
	runs := func(spec cronjob.Spec) (run time.Time, replaced bool) {
		changed := c.Object
		changed.Spec = spec
		w := world.NewCronJob(changed, cronjob.Kubernetes(release.Newest()))
		w.Now = s.at
		for _, j := range s.Jobs {
			if j.Controller().UID == c.UID {
				w.Add(cronjob.ChildOf(&c.Object, &j.Object, c.UID, j.Annotations))
			}
		}
		plan, err := cronjob.Reconcile(w.Snapshot())
		if err != nil {
			return run, false
		}
		for _, wait := range plan.Waits { // a run that is held back starts when the active Job ends
			if wait.Reason == cronjobreason.WaitActive && r.Acts()[0].Verb == explain.Patches {
				run = wait.Run
			}
		}
		if len(plan.Create) > 0 {
			run = plan.Create[0].ScheduledTime
		}
		return run, slices.ContainsFunc(plan.Delete, func(d cronjob.Deletion) bool {
			return d.Reason == cronjobreason.DeleteReplaced
		})
	}

	a := r.Acts()[0]
	var specs []cronjob.Spec
	switch {
	case a.Verb == explain.Patches:
		after := s.clone()
		if after.patch(a) != nil {
			return false, false
		}
		specs = append(specs, after.cronJob(c.Namespace, c.Name).Object.Spec)
		for _, zone := range []string{"America/Los_Angeles", "America/Sao_Paulo", "Europe/London", "Asia/Tokyo"} {
			if strings.Contains(r.Risk, "replace Europe/Berlin by yours") {
				next := specs[0]
				next.TimeZone = &zone
				specs = append(specs, next)
			}
		}
	case strings.Contains(r.Do, "schedule") || strings.Contains(r.Do, "hour"):
		for hour := range 24 {
			next := c.Object.Spec
			next.Schedule = fmt.Sprintf("30 %d * * *", hour)
			specs = append(specs, next)
		}
	}
	was, did := runs(c.Object.Spec)
	for _, spec := range specs {
		run, does := runs(spec)
		starts = starts || !run.IsZero() && !run.Equal(was)
		replaces = replaces || does && !did
	}
	return starts, replaces
}

// aboutThePast are findings about past events. A patch does not remove them.
var aboutThePast = strings.Fields("PodsFail OutOfMemory CannotStart Evicted DisruptionsCount NodeRefused PodDeadline ContainerLost " +
	"PodDeleted RunsMissed StartedLate IgnoredForever RunsFail CrashLoop")

// changing matches commands that change Jobs, CronJobs and pods. If a remedy names such a command,
// it needs an act.
var changing = regexp.MustCompile(`kubectl( -n \S+)? (patch|delete|edit) (job|cronjob|pod)s? |create job |delete finished|delete the (pod|Job)`)

// played counts the remedies that were played, and those of them that have faults. The keys are the
// kinds of their acts.
type played struct{ done, wrong map[string]int }

// remedy plays one remedy, and returns its faults.
func (p *played) remedy(t *testing.T, before scene, x *explain.Explanation, f *explain.Finding, r *explain.Remedy) (faults []string) {
	t.Helper()
	if len(r.Acts()) == 0 {
		return before.lostIndexes(x, r)
	}
	var verbs []string
	for _, a := range r.Acts() {
		verbs = append(verbs, string(a.Verb)+" "+a.Kind)
	}
	kind := strings.Join(verbs, ", ")
	p.done[kind]++
	defer func() { p.wrong[kind] += boolToInt(len(faults) > 0) }()

	var cost price
	s := before.clone()
	for _, a := range r.Acts() {
		if err := s.do(a, &cost); err != nil {
			return append(faults, "refused: "+err.Error())
		}
	}

	first := r.Acts()[0]
	if j := s.job(x.Namespace, x.Name); x.Kind == "Job" && j != nil && j.Object.Status.Finished() != "" {
		was, _, _ := job.Expire(&before.job(x.Namespace, x.Name).Object, job.Kubernetes(release.Newest()), s.at)
		is, _, _ := job.Expire(&j.Object, job.Kubernetes(release.Newest()), s.at)
		cost.gone = is && !was
	}
	isStart := func(a *explain.Act) bool { return a.Verb == explain.Starts }
	changes := first.Kind == "cronjob" && !slices.ContainsFunc(r.Acts(), isStart)
	if c := before.cronJob(x.Namespace, x.Name); x.Kind == "CronJob" && x.UID != "" && c != nil && changes {
		cost.starts, cost.ended = before.startsRun(c, r)
		cost.logs = cost.ended
		cost.both = slices.ContainsFunc(x.Findings, func(f explain.Finding) bool {
			return slices.ContainsFunc(f.Remedies, func(r *explain.Remedy) bool {
				return len(r.Acts()) > 0 && r.Acts()[0].Verb == explain.Starts
			})
		})
	}
	switch {
	case first.Kind == "pods" && !strings.Contains(f.Text, "count/pods"):
		faults = append(faults, "the finding stays: pods that have ended take no room")
	case x.UID == "": // nothing exists that could be changed
	case first.Verb == explain.Starts:
		if c := s.cronJob(x.Namespace, x.Name); c != nil && x.Kind == "CronJob" {
			cost.twice = s.startsBeside(t, c) && c.Object.Spec.ConcurrencyPolicy != cronjob.Allow
			if says := strings.Contains(r.Risk, "holds back scheduled runs"); says && cost.twice {
				faults = append(faults, "it does not hold back the next run")
			}
		}
	case kind == "delete job, apply job":
		if j := before.job(first.Namespace, first.Name); j != nil {
			pods := before.podsOf(j)
			cost.repeated = j.Object.Status.Succeeded > 0 || slices.ContainsFunc(pods, func(p *read.Pod) bool {
				return isWorking(p) && slices.ContainsFunc(p.Containers, func(c read.Container) bool {
					return !c.Init && (c.Running && c.Restarts == 0 || c.Ended && c.ExitCode == 0)
				}) || didInVain(j, p)
			})
			if better := before.cheaper(t, x, f, j); better != "" {
				faults = append(faults, "a patch would have done: "+better)
			}
		}
	case x.Kind == "Job" && (first.Verb == explain.Patches || first.Verb == explain.Ends) && first.Kind != "cronjob":
		faults = append(faults, s.after(t, before, x, f, r, &cost)...)
	case first.Verb == explain.Patches && first.Kind == "cronjob" && !strings.Contains(r.Do, "next time"):
		if !slices.Contains(aboutThePast, f.Code) && s.finding(x, f.Code, f.Text) != nil && len(f.Remedies) == 1 {
			faults = append(faults, "the finding stays")
		}
	}
	return append(faults, cost.unsaid(r)...)
}

// didInVain reports whether the first container of a failed pod has done its work. Of a pod that was ended
// from outside, nobody knows that.
func didInVain(j *read.Job, p *read.Pod) bool {
	isOwn := p.Object.Phase == job.PodFailed && p.Object.Deletion == nil && p.Reason == "" &&
		p.Condition("DisruptionTarget").Status != "True"
	main := append(j.Object.Spec.Template.Containers, "")[0]
	return isOwn && slices.ContainsFunc(p.Containers, func(c read.Container) bool {
		return c.Name == main && c.Ended && c.ExitCode == 0
	})
}

var onlyIndexes = regexp.MustCompile(`set -- ([0-9 ]*);`)

// lostIndexes finds indexes that have not succeeded and that a remedy, which names the indexes to run again,
// leaves out.
func (s scene) lostIndexes(x *explain.Explanation, r *explain.Remedy) (faults []string) {
	named := onlyIndexes.FindStringSubmatch(r.Do)
	j := s.job(x.Namespace, x.Name)
	if named == nil || j == nil {
		return nil
	}
	var runs []string
	done, err := job.ParseIndexes(j.Object.Status.CompletedIndexes)
	for index := range done.Missing(*j.Object.Spec.Completions) {
		runs = append(runs, fmt.Sprint(index))
	}
	if want := strings.Join(runs, " "); err != nil || named[1] != want {
		faults = append(faults, fmt.Sprintf("indexes are lost or done again: %q, want %q", named[1], want))
	}
	return faults
}

// after compares how a Job continues with and without a remedy.
func (s scene) after(t *testing.T, before scene, x *explain.Explanation, f *explain.Finding, r *explain.Remedy, cost *price) (faults []string) {
	t.Helper()
	gone := s.finding(x, f.Code, f.Text) == nil
	with, without := s.job(x.Namespace, x.Name), before.clone()
	if with == nil || with.Object.Status.Finished() != "" {
		return nil
	}
	if first := r.Acts()[0]; first.Verb == explain.Ends { // a pod whose work has ended must not be played again
		for _, p := range s.podsOf(with) {
			cost.repeated = cost.repeated || p.Name == first.Name && p.Object.Phase == job.PodFailed
		}
		if !gone && !strings.Contains(r.Risk, "starts it again") {
			faults = append(faults, "the finding stays")
		}
		return faults
	}

	was, lostBefore, failsAnyway := without.liveJob(t, without.job(x.Namespace, x.Name))
	is, lost, fails := s.liveJob(t, with)
	if f.Code == "GangIncomplete" && (was != "" || is != job.ConditionComplete) {
		faults = append(faults, fmt.Sprintf("the Job ends as %q without the remedy and as %q with it", was, is))
	}
	// A Job that is resumed may fail. That is no cost: without the remedy it would do nothing.
	later := is == job.ConditionFailed && was != is && f.Code != "Suspended"
	cost.fails = fails && !failsAnyway || later
	cost.ended = cost.ended || lost > lostBefore
	// If the pods are gone, parallelism enters into the estimate of their mean time. So it is no
	// fault if the finding stays after a patch of parallelism.
	isEdit := slices.ContainsFunc(r.Acts(), func(a *explain.Act) bool { return a.Verb == explain.Edits })
	fromWidth := f.Code == "DeadlineNotMet" && strings.Contains(r.Command, "parallelism") &&
		len(before.podsOf(with)) < 3
	if !gone && !fromWidth && !isEdit && !slices.Contains(aboutThePast, f.Code) {
		faults = append(faults, "the finding stays")
	}
	return faults
}

// cheaper looks for a patch of a limit that removes the finding without failing the Job. It looks
// only if no remedy is a patch.
func (s scene) cheaper(t *testing.T, x *explain.Explanation, f *explain.Finding, j *read.Job) string {
	t.Helper()
	isPatch := func(r *explain.Remedy) bool { return len(r.Acts()) > 0 && r.Acts()[0].Verb == explain.Patches }
	// A Job that is about to fail will have failed before a user can patch it.
	if j.Object.Status.Finished() != "" || f.Code == "JobFails" || x.Kind != "Job" ||
		slices.ContainsFunc(f.Remedies, isPatch) {
		return ""
	}
	spec := &j.Object.Spec
	values := map[string][]int64{"backoffLimit": {0, 1, 5, 20}, "activeDeadlineSeconds": {7200, 864000}, "maxFailedIndexes": {0, 1}}
	if spec.CompletionMode != job.Indexed || spec.BackoffLimitPerIndex == nil {
		delete(values, "maxFailedIndexes")
	}
	for _, field := range slices.Sorted(maps.Keys(values)) {
		for _, v := range values[field] {
			after := s.clone()
			data := fmt.Appendf(nil, `{"spec":{%q:%d}}`, field, v)
			err := after.patch(&explain.Act{Kind: "job", Namespace: x.Namespace, Name: x.Name, Patch: data})
			if err != nil || after.finding(x, f.Code, "") != nil {
				continue
			}
			if after.finding(x, "JobFails", "") == nil {
				return string(data)
			}
		}
	}
	return ""
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (p *played) all(t *testing.T, s scene) {
	t.Helper()
	report := explain.All(s.Objects, explain.Options{At: s.at})
	for i := range report.Objects {
		x := &report.Objects[i]
		for k := range x.Findings {
			f := &x.Findings[k]
			for n := range f.Remedies {
				r := f.Remedies[n]
				if len(r.Acts()) == 0 {
					if changes := changing.FindString(r.Command + " " + r.Do); changes != "" {
						t.Errorf("%s %s/%s, %s: %q has no act", x.Kind, x.Namespace, x.Name, f.Code, changes)
					}
				}
				for _, fault := range p.remedy(t, s, x, f, r) {
					t.Errorf("%s %s/%s, %s: %s\n%s\n%s\n%s", x.Kind, x.Namespace, x.Name, f.Code, fault, r.Do, r.Risk,
						r.Command)
				}
			}
		}
	}
}

func (p *played) log(t *testing.T) {
	t.Helper()
	sum := 0
	for _, kind := range slices.Sorted(maps.Keys(p.done)) {
		t.Logf("%5d %s, %d wrong", p.done[kind], kind, p.wrong[kind])
		sum += p.done[kind]
	}
	t.Logf("%d remedies played", sum)
}

// TestRemedies carries out the remedies of all questions and situations. An API server accepts each,
// the finding disappears, and the remedy mentions its costs.
func TestRemedies(t *testing.T) {
	p := &played{map[string]int{}, map[string]int{}}
	for _, q := range questions(t) {
		t.Run(q.name, func(t *testing.T) { p.all(t, scene{q.objects, q.options.At}) })
	}
	folders, err := filepath.Glob("testdata/situations/*")
	must.OK(t, err)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			objects, o := situation(t, folder)
			p.all(t, scene{objects, o.At})
		})
	}
	p.log(t)
}

// TestRemedies_Lives carries out the remedies of random lives.
func TestRemedies_Lives(t *testing.T) {
	p := &played{map[string]int{}, map[string]int{}}
	lives := 300
	if testing.Short() {
		lives = 50
	}
	jobs, crons := jobgen.Lives(false), cronjobgen.Lives(false)
	for seed := range lives {
		w := jobs.Example(seed)
		if errors.Join(w.Failed...) != nil || job.Validate(w.Job.Spec) != nil { // no server accepts the edit
			continue
		}
		j := &read.Job{Object: w.Job}
		j.Namespace, j.Name, j.UID = w.Job.Namespace, w.Job.Name, w.Job.UID
		j.CreationTimestamp = w.Job.CreationTimestamp
		s := scene{&read.Objects{Jobs: []*read.Job{j}, Complete: map[string]bool{"pods": true, "jobs": true}}, w.Now}
		for _, pod := range w.Pods {
			s.Pods = append(s.Pods, seen(j, pod))
		}
		p.all(t, s)
	}
	for seed := range lives {
		w := crons.Example(seed)
		c := &read.CronJob{Object: w.CronJob, Jobs: &job.Spec{Template: job.Template{RestartPolicy: job.RestartNever}}}
		c.Namespace, c.Name, c.UID = w.CronJob.Namespace, w.CronJob.Name, w.CronJob.UID
		p.all(t, scene{&read.Objects{CronJobs: []*read.CronJob{c}, Complete: map[string]bool{"pods": true, "jobs": true}}, w.Now})
	}
	p.log(t)
}

// TestRemedies_Faults replaces remedies by wrong ones. The check finds what is wrong with each.
func TestRemedies_Faults(t *testing.T) {
	const namespace, name = "default", "x"
	remove := []*explain.Act{
		{Verb: explain.Deletes, Kind: "job", Namespace: namespace, Name: name},
		{Verb: explain.Applies, Kind: "job", Namespace: namespace, Name: name},
	}
	set := func(kind, fields string) []*explain.Act {
		return []*explain.Act{{Verb: explain.Patches, Kind: kind, Namespace: namespace, Name: name, Patch: []byte(fields)}}
	}
	const loses = "Deleting the Job deletes its pods and their logs."
	for _, c := range []struct {
		name, input, code, risk, want string
		acts                          []*explain.Act
	}{
		{"a deadline that can be patched", jobWith(`"activeDeadlineSeconds": 100, "backoffLimit": 6`, nil), "LimitUnreachable", loses, "a patch would have done", remove},
		{"a limit that can be patched", jobWith(`"completions": 2, "completionMode": "Indexed", "backoffLimitPerIndex": 1, "backoffLimit": 9`, nil), "LimitUnreachable", loses, "a patch would have done", remove},
		{"maxFailedIndexes can be patched", jobWith(`"completions": 2, "completionMode": "Indexed", "backoffLimitPerIndex": 1, "maxFailedIndexes": 2`, nil), "LimitUnreachable", loses, "a patch would have done", remove},
		{"a zone beside one in the schedule", cronWith(`"schedule": "CRON_TZ=Asia/Tokyo 0 9 * * *"`), "ZoneInSchedule", "Safe.", "refused", set("cronjob", `{"spec":{"timeZone":"Europe/Berlin"}}`)},
		{"a limit that is immutable", jobWith(`"completions": 2, "completionMode": "Indexed", "backoffLimitPerIndex": 1, "maxFailedIndexes": 2`, nil), "LimitUnreachable", "Safe.", "refused", set("job", `{"spec":{"backoffLimitPerIndex":3}}`)},
		{"a patch that changes nothing", jobWith(`"activeDeadlineSeconds": 100, "backoffLimit": 6`, nil), "LimitUnreachable", "Safe.", "the finding stays", set("job", `{"spec":{"backoffLimit":5}}`)},
		{"a sidecar that fails the pod", jobWith(`"backoffLimit": 6`, sidecar), "SidecarRuns", "Safe: the work has ended.", "work is done again, unsaid",
			[]*explain.Act{{Verb: explain.Ends, Kind: "pod", Namespace: namespace, Name: "x-a", Container: "log-shipper", Code: 143}}},
		{"a sidecar that is started again", jobWith(`"restartPolicy": "OnFailure"`, sidecar), "SidecarRuns", "Safe: the work has ended.", "the finding stays",
			[]*explain.Act{{Verb: explain.Ends, Kind: "pod", Namespace: namespace, Name: "x-a", Container: "log-shipper", Code: 143}}},
		{"work that is done again", jobWith(`"backoffLimit": 6`, sidecar), "SidecarRuns", loses, "work is done again, unsaid", remove},
		{"logs that are lost", jobWith(`"backoffLimit": 6`, sidecar), "SidecarRuns", "Its work is done again.", "logs are lost, unsaid", remove},
		{"a Job by hand that holds back nothing", cronWith(`"schedule": "0 9 * * *", "concurrencyPolicy": "Forbid"`), "NoTimeZone", "Starts beside others, but it holds back scheduled runs while it is active.", "it does not hold back the next run",
			[]*explain.Act{{Verb: explain.Starts, Kind: "job", Namespace: namespace, Name: "x-by-hand"}}},
		{"a Job by hand beside the next run", cronWith(`"schedule": "0 9 * * *", "concurrencyPolicy": "Forbid"`), "NoTimeZone", "Starts immediately.", "a second run, unsaid",
			[]*explain.Act{{Verb: explain.Starts, Kind: "job", Namespace: namespace, Name: "x-by-hand"}}},
		{"a schedule whose time has just passed", cronWith(`"schedule": "0 9 31 2 *"`), "NeverRuns", "Safe.", "a run starts now, unsaid", set("cronjob", `{"spec":{"schedule":"30 9 * * *"}}`)},
		{"a schedule whose time is still to come", cronWith(`"schedule": "0 9 31 2 *"`), "NeverRuns", "Safe.", "", set("cronjob", `{"spec":{"schedule":"30 10 * * *"}}`)},
		{"a schedule that the user chooses", cronWith(`"schedule": "0 9 31 2 *"`), "NeverRuns", "Safe.", "a run starts now, unsaid",
			[]*explain.Act{{Verb: explain.Edits, Kind: "cronjob", Namespace: namespace, Name: name}}},
		{"a lost run that a longer deadline starts", cronWith(`"schedule": "30 9 * * *", "startingDeadlineSeconds": 5`), "RunsMissed", "Safe.", "a run starts now, unsaid", set("cronjob", `{"spec":{"startingDeadlineSeconds":86400}}`)},
		{"a lost run that is started twice", cronWith(`"schedule": "30 9 * * *", "startingDeadlineSeconds": 5`), "DeadlineTooShort", "The run then starts.", "another remedy starts by hand, unsaid", set("cronjob", `{"spec":{"startingDeadlineSeconds":86400}}`)},
		{"a run that starts when the active Job ends", activeUnder("Forbid"), "Suspended", "Safe.", "a run starts now, unsaid", set("cronjob", `{"spec":{"suspend":false}}`)},
		{"a run that replaces the active Job", activeUnder("Replace"), "Suspended", "The run then starts.", "work is ended, unsaid; logs are lost, unsaid", set("cronjob", `{"spec":{"suspend":false}}`)},
		{"pods that take no room", jobWith(`"backoffLimit": 6`, tooMany), "Unschedulable", "Their logs are lost.", "the finding stays",
			[]*explain.Act{{Verb: explain.Deletes, Kind: "pods", Namespace: namespace}}},
		{"a TTL that has passed", finished(`"completions": 1`, ""), "KeptForever", "Its pods are deleted with their logs.", "deleted at once, unsaid", set("job", `{"spec":{"ttlSecondsAfterFinished":3600}}`)},
		{"a TTL that is still to pass", finished(`"completions": 1`, ""), "KeptForever", "Its pods are deleted with their logs.", "", set("job", `{"spec":{"ttlSecondsAfterFinished":36000}}`)},
		{"work that a container has done", jobWith(`"backoffLimit": 6`, inVain), "PodsFail", loses, "work is done again, unsaid", remove},
		{"a limit that fails the Job", jobWith(`"completions": 3, "completionMode": "Indexed", "backoffLimitPerIndex": 0`, failedIndex), "IndexesFailed", "Safe.", "the Job fails, unsaid", set("job", `{"spec":{"maxFailedIndexes":0}}`)},
	} {
		objects := &read.Objects{}
		stream := objects.Stream("input.json")
		_, _ = stream.Write([]byte(c.input))
		_ = stream.Close()
		s := scene{objects, time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)}
		report := explain.All(objects, explain.Options{At: s.at})
		if len(report.Objects) == 0 || len(report.Problems) > 0 {
			t.Fatalf("%s: %v", c.name, report.Problems)
		}
		x := &report.Objects[0]
		f := s.finding(x, c.code, "")
		if f == nil {
			t.Errorf("%s: no %s among %+v", c.name, c.code, x.Findings)
			continue
		}
		r := explain.NewRemedy("Change the schedule.", c.risk, c.acts)
		f.Remedies = []*explain.Remedy{r}
		p := &played{map[string]int{}, map[string]int{}}
		got := strings.Join(p.remedy(t, s, x, f, r), "; ")
		if !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// inVain is the status of a pod whose work has ended, and whose other container has failed.
var inVain = []string{`"phase": "Failed", "containerStatuses": [
	{"name": "main", "state": {"terminated": {"exitCode": 0, "finishedAt": "2026-03-04T09:10:00Z"}}},
	{"name": "log-shipper", "state": {"terminated": {"exitCode": 1, "finishedAt": "2026-03-04T09:11:00Z"}}}]`}

// The statuses of pods: a pod whose work has ended, a pod that no node accepts, and the pods of a
// Job with one failed index and two that run.
var (
	sidecar = []string{`"phase": "Running", "containerStatuses": [
		{"name": "main", "state": {"terminated": {"exitCode": 0, "finishedAt": "2026-03-04T09:10:00Z"}}},
		{"name": "log-shipper", "state": {"running": {"startedAt": "2026-03-04T09:00:00Z"}}}]`}
	tooMany = []string{`"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
		"message": "0/3 nodes are available: 3 Too many pods."}]`}
	failedIndex = []string{
		`"phase": "Failed", "containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 1, "finishedAt": "2026-03-04T09:10:00Z"}}}]`,
		`"phase": "Running", "containerStatuses": [{"name": "main", "state": {"running": {"startedAt": "2026-03-04T09:00:00Z"}}}]`,
		`"phase": "Running", "containerStatuses": [{"name": "main", "state": {"running": {"startedAt": "2026-03-04T09:00:00Z"}}}]`,
	}
)

// TestRemedies_LostIndexes: a Job that fails leaves indexes undone besides the failed ones.
func TestRemedies_LostIndexes(t *testing.T) {
	objects := &read.Objects{}
	stream := objects.Stream("input.json")
	_, _ = stream.Write([]byte(finished(`"completions": 6, "completionMode": "Indexed", "backoffLimitPerIndex": 0, "maxFailedIndexes": 0`,
		`"completedIndexes": "0,2", "succeeded": 2, "failedIndexes": "1", "failed": 1, `)))
	_ = stream.Close()
	s := scene{objects, time.Date(2026, 3, 4, 14, 0, 0, 0, time.UTC)}
	x := &explain.Explanation{Kind: "Job", Namespace: "default", Name: "x"}
	for run, want := range map[string]int{"1": 1, "1 3 4": 1, "0 1 3 4 5": 1, "1 3 4 5": 0} {
		r := explain.NewRemedy("Run only these: set -- "+run+"; shift $JOB_COMPLETION_INDEX.", "Changes nothing.", nil)
		p := &played{map[string]int{}, map[string]int{}}
		if got := p.remedy(t, s, x, nil, r); len(got) != want {
			t.Errorf("%s: %q", run, got)
		}
	}
}

// finished returns a Job x that ended at 06:30, with fields of its spec and its status. If its spec has
// backoffLimitPerIndex, it has failed.
func finished(spec, status string) string {
	end := "Complete"
	if strings.Contains(spec, "PerIndex") {
		end = "Failed"
	}
	status += fmt.Sprintf(`"conditions": [{"type": %q, "status": "True", "lastTransitionTime": "2026-03-04T06:30:00Z"}], `, end)
	return strings.Replace(jobWith(spec, nil), `"status": {`, `"status": {`+status, 1)
}

// jobWith returns a Job x with fields of its spec, and a pod for each status.
func jobWith(spec string, statuses []string) string {
	policy := "Never"
	if rest, ok := strings.CutPrefix(spec, `"restartPolicy": "OnFailure"`); ok {
		policy, spec = "OnFailure", `"backoffLimit": 6`+rest
	}
	out := fmt.Sprintf(`{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"namespace": "default", "name": "x", "uid": "u", "creationTimestamp": "2026-03-04T09:00:00Z"},
		"spec": {%s, "parallelism": %d, "selector": {"matchLabels": {"job-name": "x"}}, "template": {"spec": {"restartPolicy": %q, "containers": [{"name": "main", "image": "a"}]}}},
		"status": {"startTime": "2026-03-04T09:00:00Z", "active": %d}}`, spec, max(1, len(statuses)), policy, len(statuses))
	for i, status := range statuses {
		out += fmt.Sprintf(`{"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "default", "name": "x-%c", "uid": "u-%d", "creationTimestamp": "2026-03-04T09:00:00Z",
			"labels": {"job-name": "x"}, "annotations": {"batch.kubernetes.io/job-completion-index": "%d"}, "finalizers": ["batch.kubernetes.io/job-tracking"],
			"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "x", "uid": "u", "controller": true}]},
			"spec": {"nodeName": "n", "containers": [{"name": "main", "image": "a"}]}, "status": {%s}}`, 'a'+i, i, i, status)
	}
	return out
}

// cronWith returns a CronJob x with fields of its spec.
func cronWith(spec string) string {
	return fmt.Sprintf(`{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"namespace": "default", "name": "x", "uid": "c", "creationTimestamp": "2026-03-04T09:00:00Z"},
		"spec": {%s, "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "a"}]}}}}}}`, spec)
}

// activeUnder returns a suspended CronJob x with a concurrencyPolicy, a Job that is active for 20 minutes,
// and a run that has come due since.
func activeUnder(policy string) string {
	cronJob := cronWith(fmt.Sprintf(`"schedule": "*/15 * * * *", "suspend": true, "concurrencyPolicy": %q`, policy))
	status := `, "status": {"lastScheduleTime": "2026-03-04T09:30:00Z", "active": [{"kind": "Job", "namespace": "default", "name": "x-1", "uid": "x-1"}]}}`
	return strings.TrimSuffix(cronJob, "}") + status + `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"namespace": "default", "name": "x-1", "uid": "x-1", "creationTimestamp": "2026-03-04T09:30:00Z",
		"annotations": {"batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-03-04T09:30:00Z"}, "ownerReferences": [{"apiVersion": "batch/v1", "kind": "CronJob", "name": "x", "uid": "c", "controller": true}]},
		"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "a"}]}}}, "status": {"startTime": "2026-03-04T09:30:00Z", "active": 1}}`
}

// TestControllerBehind: work that becomes due now does not make a controller late. Work that was due
// half a minute ago does.
func TestControllerBehind(t *testing.T) {
	failed := []string{`"phase": "Failed", "containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 1, "finishedAt": "2026-03-04T09:59:00Z"}}}]`}
	objects := &read.Objects{}
	stream := objects.Stream("input.json")
	_, _ = stream.Write([]byte(strings.ReplaceAll(jobWith(`"backoffLimit": 6`, failed), `["batch.kubernetes.io/job-tracking"]`, "[]")))
	_ = stream.Close()
	objects.Jobs[0].Object.Status.Active, objects.Jobs[0].Object.Status.Failed = 0, 4
	x := &explain.Explanation{Kind: "Job", Namespace: "default", Name: "x"}
	end := time.Date(2026, 3, 4, 9, 59, 10, 0, time.UTC)
	for late, want := range map[time.Duration]bool{-time.Second: false, 0: false, time.Second: false, 29 * time.Second: false, 30 * time.Second: true} {
		if got := (scene{objects, end.Add(late)}).finding(x, "ControllerBehind", "") != nil; got != want {
			t.Errorf("%s after the end of the backoff: %t", late, got)
		}
	}
}

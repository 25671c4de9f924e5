package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// This file compares a Job with others that do the same work: the last one that was good, and one that ran at
// the same time.

// workOf returns a key that Jobs of the same work share: those of one CronJob, and those with images of one name
// whose own names differ only in numbers or in a generated end. It returns "" for Jobs that other controllers make.
func workOf(j *read.Job) string {
	owner, containers := j.Controller(), j.Template.Containers
	switch isOther := owner.Kind != "" || j.IsManifest || len(containers) == 0; {
	case owner.Kind == "CronJob":
		return string(owner.UID)
	case isOther:
		return ""
	}

	work := strings.TrimRight(j.GenerateName, "-")
	if work == "" {
		work = strings.Join(slices.DeleteFunc(strings.Split(j.Name, "-"), func(part string) bool {
			return strings.Trim(part, "0123456789.v") == ""
		}), "-")
	}
	return j.Namespace + "/" + work + " " + repository(containers[0].Image)
}

// isNeedless reports whether a Job is complete, and no other object or tool keeps it or is going to delete it.
func isNeedless(j *read.Job) bool {
	isKept := j.Controller().Kind != "" || keeperOf(&j.Meta).name != ""
	isGoing := !j.DeletionTimestamp.IsZero() || j.Object.Spec.TTLSecondsAfterFinished != nil
	return j.Object.Status.Finished() == job.ConditionComplete && !isKept && !isGoing
}

// sortWorks notes the Jobs of each work and the needless ones of each namespace, oldest first, and the namespaces
// with Jobs that have failed.
func (e *Explainer) sortWorks() {
	e.works, e.failed = make(map[string][]*read.Job), make(map[string]bool)
	e.needless = make(map[string][]*read.Job)
	for _, j := range e.objects.Jobs {
		if j == nil {
			continue
		}
		if work := workOf(j); work != "" {
			e.works[work] = append(e.works[work], j)
		}
		if j.Object.Status.Finished() == job.ConditionFailed {
			e.failed[j.Namespace] = true
		}
		if isNeedless(j) {
			e.needless[j.Namespace] = append(e.needless[j.Namespace], j)
		}
	}

	byAge := func(a, b *read.Job) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp), strings.Compare(a.Name, b.Name))
	}
	for _, lists := range []map[string][]*read.Job{e.works, e.needless} {
		for _, all := range lists {
			slices.SortFunc(all, byAge)
		}
	}
}

// nearby returns the Jobs of the same work that were created just before and just after this one.
func (l *look) nearby() (before, after []*read.Job) {
	const most = 50
	all := l.e.works[workOf(l.job)]
	at, _ := slices.BinarySearchFunc(all, l.job.CreationTimestamp, func(j *read.Job, created time.Time) int {
		return j.CreationTimestamp.Compare(created)
	})
	return all[max(0, at-most):at], all[at:min(len(all), at+most)]
}

// lastGood returns the last Job of the same work that was complete before this one was created, or nil.
func (l *look) lastGood() *read.Job {
	before, _ := l.nearby()
	for _, j := range slices.Backward(before) {
		s := &j.Object.Status
		end := s.Condition(job.ConditionComplete).LastTransitionTime
		if !s.StartTime.IsZero() && !end.IsZero() && end.Before(l.created()) {
			return j
		}
	}
	return nil
}

// goodImage returns the last good Job and the image that its container of the name had, if it was another one.
// The image of a pod may differ from that of its Job's template in each run: a webhook may write a mirror's name.
func (l *look) goodImage(c *read.Container, image string) (good *read.Job, was string) {
	if good = l.lastGood(); good == nil {
		return nil, ""
	}
	was = good.Template.Container(c.Name).Image
	if was == image || was == l.job.Template.Container(c.Name).Image {
		was = ""
	}
	return good, was
}

// imageText names the image of the last good Job, if it was another one.
func (l *look) imageText(c *read.Container, image string) string {
	good, was := l.goodImage(c, image)
	if was == "" {
		return ""
	}
	return fmt.Sprintf("; the last good run, Job %s of %s, had image %s", good.Name, l.clock(good.CreationTimestamp),
		was)
}

// repository returns an image without its tag and its digest.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if at := strings.LastIndexByte(image, ':'); at > strings.LastIndexByte(image, '/') {
		image = image[:at]
	}
	return image
}

// newNode reports software of a pod's node that no older node has, if the node is newer than the last good run and
// the error may come from it.
func (l *look) newNode(p *read.Pod, c *read.Container) (string, *Remedy) {
	good, n := l.lastGood(), l.e.objects.Nodes[p.Node]
	ofNode := slices.Contains([]int32{132, 139, 159}, c.ExitCode) || contains(c.Message, "too many open files",
		"emfile", "operation not permitted", "function not implemented", "illegal instruction", "cgroup", "seccomp",
		"no such device")
	if good == nil || !ofNode || !n.Created.After(good.CreationTimestamp) {
		return "", nil
	}

	var parts []string
	for _, key := range []string{"architecture", "containerRuntimeVersion", "kernelVersion", "kubeletVersion",
		"osImage"} {
		var was []string
		for _, name := range sortedKeys(l.e.objects.Nodes) {
			other := l.e.objects.Nodes[name]
			isOld := !other.Created.IsZero() && other.Created.Before(good.CreationTimestamp)
			if value := other.Info[key]; isOld && value != "" && !slices.Contains(was, value) {
				was = append(was, value)
			}
		}
		if is := n.Info[key]; is != "" && len(was) > 0 && !slices.Contains(was, is) {
			parts = append(parts, fmt.Sprintf("%s %s (there: %s)", key, is, list(was)))
		}
	}

	if len(parts) == 0 {
		return "", nil
	}
	return fmt.Sprintf("; its node %s was created %s, after the last good run (Job %s), and differs from the older "+
		"nodes: %s", p.Node, l.clock(n.Created), good.Name, list(parts)), nil
}

// twin returns another Job without an owner that has the same generateName and pod template and ran at the same
// time, or nil. Jobs whose names a user has numbered may each do a part of the work.
func (l *look) twin() *read.Job {
	if l.job.Controller().Kind != "" || l.job.GenerateName == "" || l.status.StartTime.IsZero() {
		return nil
	}
	spec := func(j *read.Job) any {
		var s struct{ Template struct{ Spec any } }
		_ = json.Unmarshal(j.Spec, &s)
		return s.Template.Spec
	}

	_, end := l.timesOf(l.job)
	before, after := l.nearby()
	for _, j := range slices.Concat(before, after) {
		from, to := l.timesOf(j)
		isBeside := !from.IsZero() && from.Before(end) && l.start().Before(to)
		if j.UID != l.job.UID && isBeside && reflect.DeepEqual(spec(j), spec(l.job)) {
			return j
		}
	}
	return nil
}

// timesOf returns when a Job started, and when it ended or now.
func (l *look) timesOf(j *read.Job) (from, to time.Time) {
	s := &j.Object.Status
	if to = s.Condition(s.Finished()).LastTransitionTime; to.IsZero() {
		to = l.now
	}
	return s.StartTime, to
}

// twinHints are about a Job that did the same work at the same time.
func (l *look) twinHints() []hint {
	j := l.twin()
	if j == nil {
		return nil
	}
	from, to := l.timesOf(j)
	h := hint{
		text: fmt.Sprintf("Job %s, with the same pod template, ran at the same time, from %s to %s", j.Name,
			l.clock(from), l.clock(to)),
		points: slices.Concat(locked, existing),
	}

	name := "for the next time, give Jobs of the same work the same name, and not generateName: the API server then " +
		"refuses a second one"
	if j.Object.Status.Finished() != job.ConditionComplete {
		h.remedies = []*Remedy{inspect("let only one of them run; "+name, kubectl(j.Namespace, "get", "jobs"))}
		return []hint{h}
	}

	h.text += ", and is complete"
	h.settles = true
	h.remedies = []*Remedy{
		inspect(fmt.Sprintf("look what Job %s has done: if that is all of the work, nothing has to run again, and "+
			"this Job can be deleted when its log is saved", j.Name), kubectl(j.Namespace, "logs", "job/"+j.Name)),
		when("something is left to do", l.again("let only one Job run at a time")),
		inspect(name, kubectl(j.Namespace, "get", "jobs")),
	}
	return []hint{h}
}

package rounds

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cronServer answers the reads and writes of one round of a CronJob.
type cronServer struct {
	snapshot *CronSnapshot
	jobs     []*batchv1.Job // that exist
	log      []string
	// status is the last status that was written.
	status string
	// version is the CronJob's version, which each write of the status raises.
	version int
}

func newCronServer(s *CronSnapshot) *cronServer {
	server := &cronServer{snapshot: s, version: 10}
	for _, j := range slices.Concat(s.Jobs, s.Hidden) {
		if !slices.Contains(s.Gone, j.Name) {
			server.jobs = append(server.jobs, j)
		}
	}
	return server
}

func (s *cronServer) wrote(what, fault string) {
	if fault == "" {
		fault = "ok"
	}
	if line := what + ": " + fault; !slices.Contains(s.log, line) {
		s.log = append(s.log, line)
	}
}

// writes returns the recorded writes, and the last status unless it changes
// nothing.
func (s *cronServer) writes() []string {
	slices.Sort(s.log)
	if s.status != "" && s.status != "status "+describeCronStatus(&s.snapshot.CronJob.Status)+": ok" {
		return append(s.log, s.status)
	}
	return s.log
}

func (s *cronServer) writeStatus(c *batchv1.CronJob) (*batchv1.CronJob, error) {
	if fault := s.snapshot.Status; fault != "" {
		s.status = "status " + describeCronStatus(&c.Status) + ": " + fault
		return nil, answer(fault, "cronjobs", name)
	}
	s.version++
	s.status = "status " + describeCronStatus(&c.Status) + ": ok"
	out := c.DeepCopy()
	out.ResourceVersion = fmt.Sprint(s.version)
	return out, nil
}

func (s *cronServer) readJob(job string) (*batchv1.Job, error) {
	if err := answer(s.snapshot.Look[job], "jobs", job); err != nil {
		return nil, err
	}
	for _, j := range s.jobs {
		if j.Name == job {
			return j, nil
		}
	}
	return nil, answer("gone", "jobs", job)
}

func (s *cronServer) delete(job, policy string) error {
	fault := s.snapshot.Delete[job]
	if _, err := s.readJob(job); err != nil && s.snapshot.Look[job] == "" && fault == "" {
		fault = "gone"
	}
	s.wrote("delete "+policy+" "+job, fault)
	if fault == "" {
		s.jobs = slices.DeleteFunc(slices.Clone(s.jobs), func(j *batchv1.Job) bool { return j.Name == job })
	}
	return answer(fault, "jobs", job)
}

func (s *cronServer) create(j *batchv1.Job) (*batchv1.Job, error) {
	fault := s.snapshot.Create
	if slices.ContainsFunc(s.jobs, func(o *batchv1.Job) bool { return o.Name == j.Name }) {
		fault = "exists"
	}

	labels, _ := json.Marshal(joined(j.Labels, nil))
	annotations, _ := json.Marshal(joined(j.Annotations, nil))
	var owners []string
	for _, o := range j.OwnerReferences {
		owners = append(owners,
			fmt.Sprintf("%s %s %s %s %v %v", o.APIVersion, o.Kind, o.Name, o.UID, *o.Controller, *o.BlockOwnerDeletion))
	}
	s.wrote(fmt.Sprintf("create %s %s %s of %s", j.Name, labels, annotations, strings.Join(owners, ", ")), fault)

	if err := answer(fault, "jobs", j.Name); err != nil {
		return nil, err
	}

	out := j.DeepCopy()
	out.Namespace = namespace
	out.UID, out.ResourceVersion = "created", "100"
	out.CreationTimestamp = metav1.NewTime(s.snapshot.Now.Truncate(time.Second))
	s.jobs = append(s.jobs, out)
	return out, nil
}

// describeCronStatus returns the status as text. It sorts the list of active jobs, whose order has
// no meaning.
func describeCronStatus(s *batchv1.CronJobStatus) string {
	var active []string
	for _, r := range s.Active {
		active = append(active,
			fmt.Sprintf("{%s %s %s/%s %s %s}", r.Kind, r.APIVersion, r.Namespace, r.Name, r.UID, r.ResourceVersion))
	}
	slices.Sort(active)
	out := fmt.Sprintf("active=%v", active)
	for _, t := range [...]struct {
		label string
		at    *metav1.Time
	}{{"lastSchedule", s.LastScheduleTime}, {"lastSuccessful", s.LastSuccessfulTime}} {
		if t.at != nil && !t.at.IsZero() {
			out += fmt.Sprintf(" %s=%s", t.label, t.at.UTC().Format(time.RFC3339Nano))
		}
	}
	return out
}

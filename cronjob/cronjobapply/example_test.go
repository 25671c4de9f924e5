package cronjobapply_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/job"
)

// memory is a backend that keeps its jobs in a slice.
type memory struct {
	cronJob cronjob.CronJob
	jobs    []cronjob.Child
	now     time.Time
}

func (m *memory) find(name string) int {
	return slices.IndexFunc(m.jobs, func(j cronjob.Child) bool { return j.Name == name })
}

func (m *memory) Get(_ context.Context, name string) (cronjobapply.Job, error) {
	i := m.find(name)
	if i < 0 {
		return cronjobapply.Job{}, cronjobapply.ErrGone
	}
	return cronjobapply.Job{Reference: cronjob.Reference{UID: m.jobs[i].UID}, Controller: m.cronJob.UID}, nil
}

func (m *memory) Create(_ context.Context, c cronjob.Creation) (cronjobapply.Job, error) {
	if m.find(c.Name) >= 0 {
		return cronjobapply.Job{}, cronjobapply.ErrExists
	}
	m.jobs = append(m.jobs, cronjob.Child{
		Name: c.Name, UID: job.UID("uid-" + c.Name), CreationTimestamp: m.now, StartTime: m.now, ScheduledTime: c.ScheduledTime,
	})
	return cronjobapply.Job{Reference: cronjob.Reference{UID: job.UID("uid-" + c.Name)}, CreationTimestamp: m.now}, nil
}

func (m *memory) Delete(_ context.Context, d cronjob.Deletion) error {
	i := m.find(d.Name)
	if i < 0 || m.jobs[i].UID != d.UID {
		return cronjobapply.ErrGone
	}
	m.jobs = slices.Delete(m.jobs, i, i+1)
	return nil
}

func (m *memory) WriteStatus(_ context.Context, s cronjob.Status) error {
	m.cronJob.Status = s
	return nil
}

// A CronJob runs for an hour on a backend of four short methods. Each of its jobs ends before the
// next round.
func Example() {
	m := &memory{now: time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC), cronJob: cronjob.CronJob{
		Name: "report", UID: "cron-1", Spec: cronjob.Spec{Schedule: "*/20 * * * *"},
	}}
	m.cronJob.CreationTimestamp = m.now
	cronjob.Default(&m.cronJob.Spec)
	compiled := cronjob.Compile(&m.cronJob)

	var remembered cronjob.Memory
	var executor cronjobapply.Executor
	for end := m.now.Add(time.Hour); !m.now.After(end); {
		plan, err := cronjob.Reconcile(cronjob.Snapshot{
			CronJob: m.cronJob, Children: m.jobs, Now: m.now, Schedule: compiled, Memory: remembered,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		conclusion, err := executor.Apply(context.Background(), m, &plan)
		if err != nil {
			fmt.Println(err)
		}
		remembered = conclusion.Memory
		for _, e := range conclusion.Events {
			fmt.Println(m.now.Format("15:04"), e.Reason, e.Message)
		}
		m.now = conclusion.Requeue.At
		for i := range m.jobs {
			m.jobs[i].Finished, m.jobs[i].CompletionTime = job.ConditionComplete, m.now
		}
	}
	// Output:
	// 09:20 SuccessfulCreate Created job report-29454320
	// 09:40 SawCompletedJob Saw completed job: report-29454320, condition: Complete
	// 09:40 SuccessfulCreate Created job report-29454340
}

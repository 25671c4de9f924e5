//go:build rounds

package rounds

import (
	"context"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/x/proof/conformance/series"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	typedbatch "k8s.io/client-go/kubernetes/typed/batch/v1"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	"k8s.io/kubernetes/pkg/controller/cronjob"
)

func init() { playTheirsCron = cronReference }

// cronReference plays one round of the real controller, in a bubble of its own.
func cronReference(s *CronSnapshot) (r Result) {
	server, events := newCronServer(s), &recorder{}
	round := cronjob.NewRound(&cronClient{server: server}, events, s.Jobs, oneCronJob{cronJob: s.CronJob})
	time.Sleep(time.Until(s.Now))
	defer func() {
		if p := recover(); p != nil {
			r = Result{Panic: fmt.Sprint(p)}
		}
	}()
	before := series.Reference()
	after, err := round.Sync(context.Background(), key)
	r = Result{
		Writes:  server.writes(),
		Retry:   err != nil,
		Events:  withoutTexts(events.events),
		Metrics: series.Reference().Since(before),
	}
	if after != nil {
		r.Requeue = max(*after, 0).String()
	}
	return r
}

// cronClient implements the part of a client that the CronJob controller uses.
type cronClient struct {
	kubernetes.Interface
	server *cronServer
}

func (c *cronClient) BatchV1() typedbatch.BatchV1Interface { return cronBatch{server: c.server} }

type cronBatch struct {
	typedbatch.BatchV1Interface
	server *cronServer
}

func (c cronBatch) Jobs(namespace string) typedbatch.JobInterface {
	return cronJobClient{server: c.server, namespace: namespace}
}
func (c cronBatch) CronJobs(string) typedbatch.CronJobInterface {
	return cronCronClient{server: c.server}
}

type cronJobClient struct {
	typedbatch.JobInterface
	server    *cronServer
	namespace string
}

func (c cronJobClient) Get(_ context.Context, job string, _ metav1.GetOptions) (*batchv1.Job, error) {
	if c.namespace == "" { // which a real client refuses
		return nil, errInjected
	}
	return c.server.readJob(job)
}

func (c cronJobClient) Create(_ context.Context, j *batchv1.Job, _ metav1.CreateOptions) (*batchv1.Job, error) {
	return c.server.create(j)
}

func (c cronJobClient) Delete(_ context.Context, job string, o metav1.DeleteOptions) error {
	return c.server.delete(job, string(*o.PropagationPolicy))
}

type cronCronClient struct {
	typedbatch.CronJobInterface
	server *cronServer
}

func (c cronCronClient) Get(context.Context, string, metav1.GetOptions) (*batchv1.CronJob, error) {
	return c.server.readCronJob()
}

func (c cronCronClient) UpdateStatus(
	_ context.Context, o *batchv1.CronJob, _ metav1.UpdateOptions,
) (*batchv1.CronJob, error) {
	return c.server.writeStatus(o)
}

func (s *cronServer) readCronJob() (*batchv1.CronJob, error) {
	out := s.snapshot.CronJob.DeepCopy()
	out.ResourceVersion = fmt.Sprint(s.version)
	return out, nil
}

// oneCronJob is a cache of one CronJob.
type oneCronJob struct {
	batchlisters.CronJobLister
	batchlisters.CronJobNamespaceLister
	cronJob *batchv1.CronJob
}

func (l oneCronJob) CronJobs(string) batchlisters.CronJobNamespaceLister { return l }

func (l oneCronJob) Get(string) (*batchv1.CronJob, error) { return l.cronJob, nil }

func (l oneCronJob) List(labels.Selector) ([]*batchv1.CronJob, error) { return nil, nil }

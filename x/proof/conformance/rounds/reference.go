//go:build rounds

package rounds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/x/proof/conformance/series"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/job"
)

func init() {
	playTheirs = reference
	setGate = utilfeature.DefaultMutableFeatureGate.Set
	time.Local = time.UTC // the zone of schedules that name none
	// The errors are intended, so they are not logged.
	utilruntime.ErrorHandlers = nil
	klog.SetLogger(logr.Discard())
}

const key = namespace + "/" + name

// reference plays one round of the real controller. It runs in its own bubble, where time passes
// only on request.
func reference(s *Snapshot) (r Result) {
	server := newServer(s)
	events, queue := &recorder{}, &queue{}
	round := job.NewRound(&client{server: server}, events, queue, jobLister{job: s.Job}, podIndexer(s.Pods))
	showGroups(round, s)

	if s.Failures > 0 {
		last := s.LastFailure
		must(round.SetBackoff(key, s.Failures, &last))
	}
	if len(s.Untracking) > 0 {
		uids := make([]types.UID, len(s.Untracking))
		for i, uid := range s.Untracking {
			uids[i] = types.UID(uid)
		}
		must(round.Untracking(key, uids))
	}
	if s.Finished {
		round.SetFinished(jobUID)
	}

	time.Sleep(time.Until(s.Now.Add(-s.Age)))
	if s.Creations+s.Deletions > 0 {
		must(round.Expect(key, s.Creations, s.Deletions))
	}
	time.Sleep(s.Age)

	before := series.Reference()
	defer func() {
		if p := recover(); p != nil {
			r = Result{Panic: fmt.Sprint(p)}
		}
	}()

	err := round.Sync(context.Background(), key)
	if isFinished(s.Job) {
		for _, p := range s.Pods { // the controller has another queue for this
			if metav1.IsControlledBy(p, s.Job) && !slices.Contains(s.Untracking, expectations.UID(p.UID)) {
				err = errors.Join(err, round.CleanUp(context.Background(), p))
			}
		}
	}

	slices.Sort(events.events)
	r = Result{
		Writes:  server.writes(),
		Retry:   err != nil,
		Events:  events.events,
		Metrics: series.Reference().Since(before),
	}

	if queue.requeue != nil {
		r.Requeue = max(*queue.requeue, 0).String()
	}
	r.Memory = recall(round).describe(s, server)
	return r
}

// recall reads the memory of the real controller.
func recall(round *job.Round) (r remembered) {
	creations, deletions, satisfied := round.Expected(key)
	r = remembered{
		creations: int(creations),
		deletions: int(deletions),
		satisfied: satisfied,
		finished:  round.Finished(jobUID),
	}
	failures, last, _ := round.Backoff(key)
	if r.failures = failures; last != nil {
		r.lastFailure = *last
	}
	for _, uid := range round.Untracked(key) {
		r.untracking = append(r.untracking, expectations.UID(uid))
	}
	return r
}

// pods is a cache of pods with the methods that the controllers use. From 1.34 on, they use the
// index by owner; before 1.34, they list all pods of the namespace, and pods by name. The cache
// lists pods in the order of the snapshot; the order of a real cache is random.
type pods struct {
	cache.Indexer
	all     []*corev1.Pod
	byOwner map[string][]any
}

func podIndexer(list []*corev1.Pod) cache.Indexer {
	p := &pods{all: list, byOwner: map[string][]any{}}
	for _, pod := range list {
		owner := job.OwnerKey(pod)
		p.byOwner[owner] = append(p.byOwner[owner], pod)
	}
	return p
}

func (p *pods) ByIndex(_, owner string) ([]any, error) { return p.byOwner[owner], nil }

func (p *pods) Index(string, any) (out []any, err error) {
	for _, pod := range p.all {
		out = append(out, pod)
	}
	return out, nil
}

func (p *pods) GetByKey(key string) (any, bool, error) {
	for _, pod := range p.all {
		if pod.Namespace+"/"+pod.Name == key {
			return pod, true, nil
		}
	}
	return nil, false, nil
}

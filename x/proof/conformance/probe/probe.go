// Package probe records the behaviour of an API server. A probe is a short script of requests, such
// as those of the job, CronJob and TTL controllers, a kubelet or a user. Its answer is a text of
// everything that these clients could see: results, errors, and what a watch delivers.
//
// The answers of a real kube-apiserver are in testdata/answers.txt, and one test checks that they
// are up to date. Another test compares the answers of this module's fake API server with them,
// line by line. So the fake behaves like a real server.
//
// An answer is the same on every run: UIDs, generated names, resource versions and times are
// replaced by the parts that matter. See [recorder] and fields.go.
package probe

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Probe is one script.
type Probe struct {
	Name  string
	steps []step
}

// Result is the answer to a probe.
type Result struct {
	Name  string
	Lines []string
}

// Target is the API server to ask.
type Target struct {
	Client kubernetes.Interface
	// Open makes a namespace. Close starts to delete the namespace, so that nothing new can be
	// created in it. If Open or Close is nil, a request to Client takes its place.
	Open, Close func(ctx context.Context, namespace string) error
}

// All returns every probe, in the order of the file of answers. The usual objects come first: other
// answers only show what differs from them.
func All() ([]Probe, error) { return parseProbes(requests) }

// Run runs all probes one after the other, each in a namespace of its own. An error means that a
// namespace of the target could not be opened or watched. Unexpected answers to a probe are lines
// of its result.
func Run(ctx context.Context, target Target) ([]Result, error) {
	if target.Open == nil {
		target.Open = openBy(target.Client)
	}
	if target.Close == nil {
		target.Close = closeBy(target.Client)
	}
	var results []Result
	usual := map[string][]field{}
	all, err := All()
	if err != nil {
		return nil, err
	}
	for i, p := range all {
		lines, err := p.run(ctx, target, fmt.Sprintf("namespace-of-%d", i), usual)
		if err != nil {
			return results, fmt.Errorf("%s: %w", p.Name, err)
		}
		results = append(results, Result{p.Name, lines})
	}
	return results, nil
}

func (p Probe) run(ctx context.Context, target Target, namespace string, usual map[string][]field) ([]string, error) {
	if err := target.Open(ctx, namespace); err != nil {
		return nil, err
	}
	s := newScript(ctx, target, namespace, usual)
	defer s.stop()
	if err := s.watch(); err != nil {
		return nil, err
	}
	if !s.play(p) {
		return nil, fmt.Errorf("no end after %v", patience)
	}
	return s.lines, s.watched()
}

// patience is the longest time for a script, in case a server retries forever: no script takes a
// second.
const patience = 30 * time.Second

// play runs the script and reports whether it came to its end. After a wrong answer, the script may
// lack an object that it needs to continue; then the rest of the answer is missing, and the
// comparison shows it.
func (s *script) play(p Probe) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				s.say("the script broke: %v", r)
			}
		}()
		s.playSteps(p)
	}()
	select {
	case <-done:
		return true
	case <-time.After(patience):
		return false
	}
}

func openBy(client kubernetes.Interface) func(context.Context, string) error {
	return func(ctx context.Context, name string) error {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		_, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		return err
	}
}

// closeBy deletes a namespace. The deletion does not end, since no controller removes its
// finalizer.
func closeBy(client kubernetes.Interface) func(context.Context, string) error {
	return func(ctx context.Context, name string) error {
		return client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
	}
}

package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// watched is a watch on one kind, open while the script runs.
type watched struct {
	kind   string
	events watch.Interface
	tell   func(*recorder, watch.Event) string
	// last creates an object with a given name. Its event shows that all earlier ones have come.
	last func(name string) error
}

// sentinel is the name of the object that ends a watch.
const sentinel = "the-end"

// watch opens a watch on every kind, beginning at the version of an empty list, as informers do.
func (s *script) watch() error {
	c := s.client()
	pods := c.CoreV1().Pods(s.namespace)
	jobs, cronJobs := c.BatchV1().Jobs(s.namespace), c.BatchV1().CronJobs(s.namespace)
	return errors.Join(
		follow(s, s.pods, pods.Watch),
		follow(s, s.jobs, jobs.Watch),
		follow(s, s.cronJobs, cronJobs.Watch))
}

type watchFunc func(context.Context, metav1.ListOptions) (watch.Interface, error)

func follow[O metav1.Object](s *script, k *kind[O], f watchFunc) error {
	_, from, err := k.list(s.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	events, err := f(s.ctx, metav1.ListOptions{ResourceVersion: from})
	if err != nil {
		return err
	}
	s.watches = append(s.watches, &watched{
		kind:   k.name,
		events: events,
		tell:   k.event,
		last: func(name string) error {
			_, err := k.api.Create(s.ctx, k.fresh(name), metav1.CreateOptions{})
			return err
		},
	})
	return nil
}

// event describes one event, or returns "" for the sentinel.
func (k *kind[O]) event(r *recorder, e watch.Event) string {
	o, ok := e.Object.(O)
	if !ok {
		return fmt.Sprintf("%s %T", e.Type, e.Object)
	}
	if o.GetName() == sentinel {
		return ""
	}
	return fmt.Sprintf("%s %s %s", e.Type, r.text(o.GetName()), r.change(k.name, o, k.fields(o)))
}

// watched writes down what the watches have delivered.
func (s *script) watched() error {
	for _, w := range s.watches {
		if err := w.drain(s); err != nil {
			return fmt.Errorf("watch of %ss: %w", w.kind, err)
		}
	}
	return nil
}

func (w *watched) drain(s *script) error {
	defer w.events.Stop()
	if s.deaf {
		return nil
	}
	if err := w.last(sentinel); err != nil {
		return err
	}
	r := s.rec.stream()
	timeout := time.After(30 * time.Second)
	for {
		select {
		case e, open := <-w.events.ResultChan():
			if !open {
				return errors.New("closed")
			}
			line := w.tell(r, e)
			if line == "" {
				return nil
			}
			s.say("watch %s: %s", w.kind, line)
		case <-timeout:
			return errors.New("the last object did not come")
		}
	}
}

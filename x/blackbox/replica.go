package blackbox

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// replica is one run of the program.
type replica struct {
	*incarnation
	cancel  context.CancelFunc
	started time.Time
	ended   chan struct{} // closed when the program has returned
}

// start starts a replica of the program, and waits until it is idle. Without the wait, the next
// action, such as the end of the replica, could come at any point of its start.
func (p *player) start() {
	ctx := logr.NewContext(context.WithValue(context.Background(), clockKey{}, p.now), logr.New(&logSink{p: p}))
	ctx, cancel := context.WithCancel(ctx)
	r := &replica{cancel: cancel, started: time.Now(), ended: make(chan struct{})}
	r.incarnation = &incarnation{api: p.api, fault: p.nextFault, died: func() { p.events <- event{of: r} }}

	p.note(func() {
		if len(p.replicas) == 0 && !p.ended.IsZero() {
			p.down = append(p.down, span{p.ended, r.started})
		}
		p.began = r.started
	})

	p.replicas = append(p.replicas, r)
	go func() {
		err := p.Start(ctx, r.config())
		close(r.ended)
		p.events <- event{r, true, err}
	}()
	synctest.Wait()
}

// isUp reports whether the program runs. The kit ends a program that makes too many requests.
func (p *player) isUp() bool { return len(p.replicas) > 0 }

// startup is the time that a program gets before its context may end. If the context of a manager
// of controller-runtime ends while the manager starts, the manager waits in a busy loop, which
// stops the clock of a bubble.
const startup = 2 * time.Second

// stop ends a replica: nothing that it does takes effect any more, and it has a minute to return.
func (p *player) stop(r *replica) error {
	p.replicas = slices.DeleteFunc(p.replicas, func(other *replica) bool { return other == r })

	p.note(func() {
		r.dead, p.ended = true, time.Now()
		p.loses(0)
	})

	time.Sleep(time.Until(r.started.Add(startup)))
	r.cancel()
	select {
	case <-r.ended: // with or without an error: it was killed
		return nil
	case <-time.After(time.Minute):
		return errors.New("the program does not return when its context ends")
	}
}

func (p *player) stopAll() error {
	for len(p.replicas) > 0 {
		if err := p.stop(p.replicas[0]); err != nil {
			return err
		}
	}
	return nil
}

// logSink is the program's log: its errors go into the story.
type logSink struct {
	p    *player
	name string
}

func (s *logSink) Init(logr.RuntimeInfo)          {}
func (s *logSink) Enabled(int) bool               { return false }
func (s *logSink) Info(int, string, ...any)       {}
func (s *logSink) WithValues(...any) logr.LogSink { return s }

func (s *logSink) WithName(name string) logr.LogSink { return &logSink{s.p, s.name + name + ": "} }

func (s *logSink) Error(err error, message string, _ ...any) {
	s.p.hears(err, fmt.Sprint(s.name, message))
}

func (p *player) tooBusy() bool {
	p.api.mu.Lock()
	defer p.api.mu.Unlock()
	return !p.api.busy.IsZero()
}

// hearHandled makes the errors that the program passes to HandleError of apimachinery lines of the
// story. The handlers that were there before do not see them: one computes the time since the last
// error, and if that was outside of the bubble, it would sleep for years.
func (p *player) hearHandled() {
	handler := func(args []reflect.Value) []reflect.Value {
		var err error
		message := "error"
		for _, arg := range args {
			switch v := arg.Interface().(type) {
			case error:
				err = v
			case string:
				message = v
			}
		}
		if err != nil {
			p.hears(err, message)
		}
		return nil
	}

	// The type of the handlers depends on the version of apimachinery.
	handlers := reflect.ValueOf(&utilruntime.ErrorHandlers).Elem()
	kind := handlers.Type()
	handlers.Set(reflect.Append(reflect.Zero(kind), reflect.MakeFunc(kind.Elem(), handler)))
}

package blackbox

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
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
		err, panicked := p.run(ctx, r)
		close(r.ended)
		if panicked {
			p.note(r.die)
			return
		}
		p.events <- event{r, true, err}
	}()
	synctest.Wait()
}

// run runs the program until it returns or panics.
func (p *player) run(ctx context.Context, r *replica) (err error, panicked bool) {
	defer func() {
		if value := recover(); value != nil {
			p.hearsPanic(value)
			panicked = true
		}
	}()
	return p.Start(ctx, r.config()), false
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

// logSink is the program's log: its errors and messages go into the story.
type logSink struct {
	p    *player
	name string
}

func (s *logSink) Init(logr.RuntimeInfo)          {}
func (s *logSink) Enabled(level int) bool         { return level == 0 }
func (s *logSink) WithValues(...any) logr.LogSink { return s }

func (s *logSink) WithName(name string) logr.LogSink { return &logSink{s.p, s.name + name + ": "} }

func (s *logSink) Info(_ int, message string, values ...any) {
	s.p.hearsMessage(s.name+message, values...)
}

func (s *logSink) Error(err error, message string, _ ...any) {
	s.p.hears(err, fmt.Sprint(s.name, message))
}

func (p *player) tooBusy() bool {
	p.api.mu.Lock()
	defer p.api.mu.Unlock()
	return !p.api.busy.IsZero()
}

// hearHandled makes the errors that the program passes to HandleError of apimachinery lines of the story, and the
// panics that HandleCrash recovers. It returns a function that restores the handlers. The handlers that were there
// before do not see them: one computes the time since the last error, and if that was outside of the bubble, it would
// sleep for years.
func (p *player) hearHandled() (restore func()) {
	errors, panics, crash := utilruntime.ErrorHandlers, utilruntime.PanicHandlers, utilruntime.ReallyCrash
	replaceHandlers(&utilruntime.ErrorHandlers, func(args []any) {
		var err error
		message := "error"
		for _, arg := range args {
			switch v := arg.(type) {
			case error:
				err = v
			case string:
				message = v
			}
		}
		if err != nil {
			p.hears(err, message)
		}
	})
	replaceHandlers(&utilruntime.PanicHandlers, func(args []any) { p.hearsPanic(args[len(args)-1]) })
	utilruntime.ReallyCrash = false
	return func() {
		utilruntime.ErrorHandlers, utilruntime.PanicHandlers, utilruntime.ReallyCrash = errors, panics, crash
	}
}

// replaceHandlers makes one handler the only one of a list of functions, whose type depends on the version of
// apimachinery.
func replaceHandlers(list any, handle func(args []any)) {
	handlers := reflect.ValueOf(list).Elem()
	kind := handlers.Type()
	call := func(args []reflect.Value) []reflect.Value {
		var values []any
		for _, arg := range args {
			values = append(values, arg.Interface())
		}
		handle(values)
		return nil
	}
	handlers.Set(reflect.Append(reflect.Zero(kind), reflect.MakeFunc(kind.Elem(), call)))
}

// panicsAt returns the function that has panicked, and its line.
func panicsAt() string {
	callers := make([]uintptr, 100)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for panicked := false; ; {
		frame, more := frames.Next()
		isRuntime := strings.HasPrefix(frame.Function, "runtime.")
		if panicked = panicked || frame.Function == "runtime.gopanic"; panicked && !isRuntime {
			return fmt.Sprintf("%s (%s:%d)", frame.Function, filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return "an unknown function"
		}
	}
}
